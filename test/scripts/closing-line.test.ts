/** Counts that the nightly suite adds up: from the closing line of each command, or from its exit code. */
import { expect, test } from '@jest/globals';
import { countsOf } from '../../scripts/closing-line.mjs';

test.each<[string, string, number | null, [number, number, number]]>([
  ['the closing line', 'text\n\n12 passed, 1 failed, 2 skipped\n', 1, [12, 1, 2]],
  ['a closing line without skipped tests', '1 passed, 0 failed\n', 0, [1, 0, 0]],
  ['the last of several', '3 passed, 0 failed\nmore\n4 passed, 0 failed\n', 0, [4, 0, 0]],
  ['no closing line, exit code 0', 'no difference\n', 0, [1, 0, 0]],
  ['no closing line, exit code 1', 'a difference\n', 1, [0, 1, 0]],
  ['no failure, but an exit code', '5 passed, 0 failed\ncrash\n', 1, [5, 1, 0]],
  ['no failure, but a signal', '5 passed, 0 failed\n', null, [5, 1, 0]],
  ['numbers within a line', 'of these 3 passed, 1 failed here\n', 0, [1, 0, 0]],
])('%s', (_name, output, code, [passed, failed, skipped]) => {
  expect(countsOf(output, code)).toEqual({ passed, failed, skipped });
});
