import { expect, test } from '@jest/globals';
import { SameLimits } from '../../local/same-limits.ts';
import { DEFAULT_LIMITS, type Limits } from '../../shared/model/limits.ts';

/** As a message makes them. */
const sent = (change: Partial<Limits> = {}): Limits => structuredClone({ ...DEFAULT_LIMITS, ...change });

test('a tenant’s limits are one object as long as they stay the same', () => {
  const limits = new SameLimits();
  const first = limits.of('a', sent());
  expect(limits.of('a', sent())).toBe(first);
  // Another may have others any time.
  expect(limits.of('b', sent())).not.toBe(first);
  const changed = sent({ policyEnforcedLabels: new Map([['p', ['team']]]) });
  expect(limits.of('a', changed)).toBe(changed);
  expect(limits.of('a', sent({ policyEnforcedLabels: new Map([['p', ['team']]]) }))).toBe(changed);
  const back = sent();
  expect(limits.of('a', back)).toBe(back);
});
