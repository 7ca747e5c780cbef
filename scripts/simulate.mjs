/**
 * `npm run simulate`: simulated runs of the whole store, or of a fleet (`npm run simulate -- fleet`), with
 * the pinned Node.js. For options, see test/simulation/run.ts and test/simulation/fleet/run-fleet.ts.
 */
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { runAndExit } from '../bin/runtime.mjs';

ensureInstalled();
const [first, ...others] = process.argv.slice(2);
if (first === 'fleet') runAndExit(join(ROOT, 'test/simulation/fleet/run-fleet.ts'), others);
else runAndExit(join(ROOT, 'test/simulation/run.ts'), process.argv.slice(2));
