/** `npm run simulate`: simulated runs of the whole store under the pinned Node; test/simulation/run.ts has the options. */
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { runAndExit } from '../bin/runtime.mjs';

ensureInstalled();
runAndExit(join(ROOT, 'test/simulation/run.ts'), process.argv.slice(2));
