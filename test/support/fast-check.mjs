/**
 * fast-check with one seed for every property (jest.config.mjs puts it in the place of the package): the same in each run of the
 * tests, so that a failure belongs to the change and not to the day. `LOGBOOM_SEED=random npm test` takes new ones; a failure names
 * the seed that repeats it.
 *
 * In the fast suite a property takes the first quarter of its runs.
 */
import * as fc from '../../node_modules/fast-check/lib/fast-check.js';

const DEFAULT_RUNS = 100;
const FAST_PART = 4;

const seed = process.env.LOGBOOM_SEED ?? '20261123';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

export * from '../../node_modules/fast-check/lib/fast-check.js';

export function assert(property, parameters = {}) {
  if (process.env.TEST_SUITE !== 'fast') return fc.assert(property, parameters);
  const numRuns = Math.ceil((parameters.numRuns ?? DEFAULT_RUNS) / FAST_PART);
  return fc.assert(property, { ...parameters, numRuns });
}

export default { ...fc, assert };
