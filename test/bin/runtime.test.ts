import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { runtimeFlags } from '../../bin/runtime.mjs';

test.each([
  [1, true],
  [2, true],
  [3, false],
  [16, false],
])('with %d cores garbage is collected in the thread that made it: %s', (cores, isSo) => {
  expect(runtimeFlags(cores).includes('--no-parallel-scavenge')).toBe(isSo);
});

test('Node knows all flags', () => {
  const { status, stderr } = spawnSync(process.execPath, [...runtimeFlags(2), '--eval', '0'], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
