/** Pages about cost say what the model computes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PUSH } from '../../bench/model/figures.ts';
import { BUSY_JOBS, busyMonth, DEFAULT_STACK, edgePerGb, idleMonth, sumOf } from '../../bench/model/idle.ts';
import { computedLines } from '../../bench/model/page.ts';
import { DEFAULT_CONFIG } from '../../shared/admin/config-fields.ts';
import { maintenanceOptions } from '../../shared/http/assemble-maintenance.ts';
import { schedulesOf } from '../../shared/maintenance/maintenance.ts';
import { LIST_PRICES } from '../../shared/usage/prices.ts';

const page = (name: string) => readFileSync(join(import.meta.dirname, '..', '..', 'docs', name), 'utf8');

test('docs/cost.md has every row and sum that is computed (npm run model -- --page)', () => {
  const text = page('cost.md');
  const lines = computedLines();
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.filter(line => !text.includes(line))).toEqual([]);
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
    ((runs - hours) * 0.1 + hours * 1.07) * (3008 / 1024) * 0.0000133334 +
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

test('docs/aws.md says what CloudFront adds', () => {
  const perGb = edgePerGb(1000, PUSH.sentShare);
  expect(perGb).toBeCloseTo(0.32 * 0.02 + 0.001, 9);
  expect(page('aws.md')).toContain(
    `$${perGb.toFixed(4)} for each GB of lines that passes it in pushes of 1 MB`,
  );
});
