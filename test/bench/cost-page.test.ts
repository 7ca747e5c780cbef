/** Pages about cost say what the model computes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PUSH } from '../../bench/model/figures.ts';
import { BUSY_JOBS, busyMonth, DEFAULT_STACK, edgePerGb, idleMonth, sumOf } from '../../bench/model/idle.ts';
import { computedLines, type Page } from '../../bench/model/page.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { LIST_PRICES } from '../../shared/server/admin/prices.ts';
import { maintenanceOptions } from '../../shared/server/http/maintenance-options.ts';
import { schedulesOf } from '../../shared/upkeep/maintenance/maintenance.ts';

/** Text of a page without its commands and their output, which test/docs compares. */
const page = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', '..', 'docs', name), 'utf8').replaceAll(
    /^```[\s\S]*?^```$/gm,
    '',
  );

/** Joins the lines of a wrapped text. */
const unwrapped = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Figures of a page that stand in none of its computed lines, each once, in order. */
function figuresBeside(name: Page, pattern: RegExp): string[] {
  let rest = unwrapped(page(name));
  for (const line of computedLines(name)) rest = rest.replaceAll(unwrapped(line), '');
  return [...new Set(rest.match(pattern) ?? [])].sort();
}

describe.each<[Page, number]>([
  ['cost.md', 18],
  ['dev/cost-model.md', 100],
  ['reference/aws.md', 8],
])('docs/%s', (name, least) => {
  test('has every line that is computed (npm run model -- --page)', () => {
    const text = unwrapped(page(name));
    const lines = computedLines(name);
    expect(lines.length).toBeGreaterThan(least);
    expect(lines.filter(line => !text.includes(unwrapped(line)))).toEqual([]);
  });

  test('has no dollars that are not computed', () => {
    expect(figuresBeside(name, /\$ ?\d[\d,.]*|\b\d[\d,.]* dollars?\b/g)).toEqual([]);
  });
});

test('other numbers of docs/dev/cost-model.md are given: loads, and sizes of items and functions', () => {
  // KB of an item, of a heartbeat; memory of functions; queries that a price is for, and queries a day.
  const given = ['0.6', '1,000', '1,769', '10,000', '100,000', '3,008'];
  expect(figuresBeside('dev/cost-model.md', /\d+(?:[.,]\d+)+/g)).toEqual(given);
});

test('other numbers of docs/cost.md are given, or in output that a test compares', () => {
  expect(figuresBeside('cost.md', /\d+(?:[.,]\d+)+/g)).toEqual([]);
});

test('every price has the month in which it was noted', () => {
  for (const { asOf, price } of Object.values(LIST_PRICES)) {
    expect(asOf).toMatch(/^20\d\d-\d\d$/);
    expect(price).toBeGreaterThan(0);
  }
});

test('an idle stack is below $0.50, by hand', () => {
  const minutes = 30 * 24 * 60;
  const hours = 30 * 24;
  const runs = 6 * hours;
  const byHand =
    (minutes * (1 + 0.2) + runs * 0.2) / 1e6 +
    minutes * 0.05 * 0.25 * 0.0000133334 +
    ((runs - hours) * 0.1 + hours * 0.29) * (3008 / 1024) * 0.0000133334 +
    ((minutes * 17 + runs * 8.5) * 0.125 + runs * 3 * 0.625) / 1e6 +
    ((minutes + runs) * 300 * 0.5) / 1e9;
  expect(sumOf(idleMonth(DEFAULT_STACK))).toBeCloseTo(byHand, 9);
  expect(byHand).toBeLessThan(0.5);
  expect(busyMonth(DEFAULT_STACK, BUSY_JOBS)).toBeGreaterThan(0);
});

test('the jobs of the model are those of the default configuration', () => {
  const schedules = schedulesOf(maintenanceOptions(DEFAULT_CONFIG));
  expect(DEFAULT_STACK.jobs).toEqual(
    schedules.map(({ everyMs }) => ({ everyMinutes: Math.max(1, Math.round(everyMs / 60_000)) })),
  );
});

test('the costs of CloudFront and the canary equal those computed by hand', () => {
  expect(edgePerGb(1000, PUSH.sentShare)).toBeCloseTo(0.32 * 0.02 + 0.001, 9);
  expect(computedLines('reference/aws.md')).toContain(
    'The canary costs about 8,640 pushes and 17,280 queries a month',
  );
});
