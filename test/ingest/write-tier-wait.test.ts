import { expect, test } from '@jest/globals';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import type { ProcessTarget } from '../../shared/server/admin/targets.ts';
import { groupWaitMs } from '../../shared/server/http/assemble-push.ts';

const { groupCommitWaitMs, writeTierWaitMs } = DEFAULT_CONFIG.logboom;

// [target, over S3, wait]
test.each<[ProcessTarget, boolean, number]>([
  ['write', true, writeTierWaitMs],
  ['distributor', true, writeTierWaitMs],
  ['all', true, groupCommitWaitMs],
  ['write', false, groupCommitWaitMs],
])('a push waits for others with target %s, over S3 %s: %i ms', (target, isDistant, wait) => {
  const config = { ...DEFAULT_CONFIG, auth: { ...DEFAULT_CONFIG.auth, target } };
  expect(groupWaitMs(config, isDistant)).toBe(wait);
});
