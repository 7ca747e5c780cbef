/** Entry of a single executable, like bin/logboom.cjs elsewhere. build-binary.mjs bundles it. */
import { getAsset } from 'node:sea';
import { becomeTunedExecutable } from '../../bin/tuning.mjs';

if (process.argv[2] === 'start') becomeTunedExecutable();
// biome-ignore lint/security/noGlobalEval: as each thread does it (local/threads/thread-entry.ts)
globalThis.eval(getAsset('load.cjs', 'utf8'))(require)('./logboom.cjs');
