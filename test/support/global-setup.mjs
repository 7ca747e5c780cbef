/**
 * Bundles the program once before the tests, as `npm start` does. Processes and threads that tests start run the bundle: from the
 * sources, each thread would compile 800 modules, which takes seconds of CPU time.
 */

import { programOfCheckout } from '../../bin/checkout.mjs';
import { cacheFolder } from '../../bin/installed.mjs';

export default async function bundleProgram() {
  const program = await programOfCheckout({ stays: true });
  if (!program.endsWith('.cjs')) throw new Error('the program was not bundled; the message above says why');
  process.env.TEST_PROGRAM = program;
  process.env.NODE_COMPILE_CACHE ??= cacheFolder();
}
