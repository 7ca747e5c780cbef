import { expect, test } from '@jest/globals';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import type { ProcessTarget } from '../../shared/server/admin/targets.ts';
import { groupWaitOf } from '../../shared/server/http/assemble-push.ts';

const { groupCommitWaitMs, writeTierWaitMs } = DEFAULT_CONFIG.logboom;

// [target, over S3, wait, waits even if no other push is being read]
test.each<[ProcessTarget, boolean, number, boolean]>([
  ['write', true, writeTierWaitMs, true],
  ['distributor', true, writeTierWaitMs, true],
  ['all', true, groupCommitWaitMs, false],
  ['write', false, groupCommitWaitMs, false],
])('a push waits for others with target %s, over S3 %s: %i ms', (target, isDistant, waitMs, gathers) => {
  const config = { ...DEFAULT_CONFIG, auth: { ...DEFAULT_CONFIG.auth, target } };
  expect(groupWaitOf(config, isDistant)).toEqual({ waitMs, gathers });
});
