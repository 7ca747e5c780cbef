/**
 * `npm run test:differential`: compares random queries with a second evaluator, with the pinned Node.js. For
 * options, see test/differential/run.ts.
 */
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { runAndExit } from '../bin/runtime.mjs';

ensureInstalled();
runAndExit(join(ROOT, 'test/differential/run.ts'), process.argv.slice(2));
