import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { runtimeFlags } from '../../bin/runtime.mjs';

test('Node knows all flags', () => {
  const { status, stderr } = spawnSync(process.execPath, [...runtimeFlags(), '--eval', '0'], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
