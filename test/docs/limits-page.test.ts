/** docs/reference/limits.md shows the limits that the source enforces. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { LIMITS_PAGE, LIMITS_SOURCE, limitsPage, namedLimits } from '../../scripts/limits/render.ts';
import { LIMITS } from '../../scripts/limits/values.ts';
import { ROOT } from './pages.ts';

const source = readFileSync(join(ROOT, LIMITS_SOURCE), 'utf8');

test(`${LIMITS_PAGE} is up to date: after a change of limits, npm run docs:reference`, () => {
  expect(readFileSync(join(ROOT, LIMITS_PAGE), 'utf8')).toBe(limitsPage(source));
});

test('the page uses each value that it imports', () => {
  expect([...namedLimits(source)].sort()).toEqual(Object.keys(LIMITS).sort());
});

test.each([
  ['{{ENTRIES}}', '1,000,000'],
  ['{{PUSH_MEMORY size}} or {{QUERY_TEXT plain}}', '192 MiB or 131072'],
  ['{{COMMIT_TIME time}}, {{PUSH_WAIT time}}', '10 min, 5 s'],
  ['{{limits_config.max_line_size}}', '256 KiB'],
  ['{{limits_config.max_query_range}}', 'off'],
])('%s is %s', (text, shown) => {
  expect(limitsPage(text)).toBe(shown);
});

test.each(['{{NO_LIMIT}}', '{{limits_config.no_key}}', '{{ENTRIES furlongs}}'])('%s is refused', text => {
  expect(() => limitsPage(text)).toThrow(LIMITS_SOURCE);
});
