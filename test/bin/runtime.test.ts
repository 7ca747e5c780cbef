import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { COMMAND_NAMES } from '../../bin/cli/overview.ts';
import { CLIENT_COMMANDS, isLaterRelease, isNewEnough, runsClient } from '../../bin/needed-node.cjs';
import { runtimeFlags } from '../../bin/tuning.mjs';

test('Node.js accepts all flags', () => {
  const { status, stderr } = spawnSync(process.execPath, [...runtimeFlags(), '--eval', '0'], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test.each([
  ['v24.21.1', '24.21.0', true],
  ['v24.22.0', '24.21.5', true],
  ['24.9.0', 'v24.21.0', false],
  ['24.21.0', '24.21.0', false],
  ['26.1.0', '24.21.0', false],
  ['24.21.0', '26.1.0', false],
])('%s is a later release of the major than %s: %s', (version, than, expected) => {
  expect(isLaterRelease(version, than)).toBe(expected);
});

test.each([
  ['v24.0.0', true],
  ['26.10.0', true],
  ['v22.23.3', true],
  ['v22.16.0', true],
  ['v22.15.1', false],
  ['v23.11.0', false],
  ['v22.14.0', false],
  ['v20.20.2', false],
  ['v8.17.0', false],
])('%s is new enough: %s', (version, expected) => {
  expect(isNewEnough(version)).toBe(expected);
});

test.each([
  ['v20.20.2', ['query', '{}'], true],
  ['v22.15.1', ['volume_range'], true],
  ['v20.20.2', [], false],
  ['v20.20.2', ['--version'], false],
  ['v20.20.2', ['start', '--help'], false],
  ['v20.20.2', ['--addr', 'http://localhost:3100', 'query', '{}'], false],
  ['v18.20.8', ['query', '{}'], false],
])('%s runs %j without a newer Node.js: %s', (version, args, expected) => {
  expect(runsClient(version, args)).toBe(expected);
});

test('the commands that an older Node.js runs exist', () => {
  expect(CLIENT_COMMANDS.filter(name => !COMMAND_NAMES.has(name))).toEqual(['complete-words']);
});
