import { expect, test } from '@jest/globals';
import { groupedText } from '../../bin/cli/count-text.ts';

test.each([
  0, 7, 999, 1000, -1000, -123, 1_234_567, 9_007_199_254_740_991, 0.5, -0.25, 1234.5678, 999.9996, 0.0004,
])('%d is printed as the language tables of English do', value => {
  expect(groupedText(value)).toBe(value.toLocaleString('en-US'));
});
