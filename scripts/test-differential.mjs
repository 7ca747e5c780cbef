/** `npm run test:differential`: random queries against a second evaluator, under the pinned Node; test/differential/run.ts has the options. */
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { runAndExit } from '../bin/runtime.mjs';

ensureInstalled();
runAndExit(join(ROOT, 'test/differential/run.ts'), process.argv.slice(2));
