/** Model as text: one table per question. */
import type { Load, Model } from './model.ts';
import { WRITES, type WriteOperation, writeCost } from './write-service.ts';

const NAMES: Readonly<Record<WriteOperation, string>> = {
  functions: 'functions',
  service: 'the write service, behind the API',
  address: 'the write service as the address of the store',
};

export function reportOf(load: Load, model: Model, currency: string): string {
  const { gbPerDay, pushKb, queriesPerDay, queryHours, retentionDays, tenants, peak } = load;
  const about =
    `${count(gbPerDay)} GB a day in pushes of ${count(pushKb)} KB, ${count(queriesPerDay)} queries a day about ` +
    `${count(queryHours)} h of 1 of ${count(tenants)} tenants, kept ${count(retentionDays)} days, peak ${count(peak)} x the mean`;
  const cost = [
    ...model.cost.map(({ name, perMonth }) => [name, money(perMonth)]),
    ['together', money(model.costPerMonth)],
    ['for a GB taken in', money(gbPerDay > 0 ? model.costPerMonth / (gbPerDay * 30) : 0)],
  ];
  const [first] = model.limits;
  return [
    about,
    table(
      ['requests', 'a day', 'a second at the peak'],
      model.requests.map(({ name, perDay, atPeakPerSecond }) => [
        name,
        count(perDay),
        count(atPeakPerSecond),
      ]),
    ),
    table([`cost, ${currency}`, 'a month'], cost),
    table(
      ['pushes to', 'for a GB, merged'],
      WRITES.map(write => [NAMES[write], money(gbPerDay > 0 ? writeCost(load, write) / gbPerDay : 0)]),
    ),
    table(
      ['latency', 'parts', 'GETs, cold', 'ms, cold'],
      [
        ['push', '', '', count(model.pushSeconds * 1000)],
        ...model.queries.map(({ name, tasks, gets, seconds }) => [
          name,
          count(Math.max(1, tasks)),
          count(gets),
          count(seconds * 1000),
        ]),
      ],
    ),
    table(
      ['limit', 'used', 'of', 'met at GB a day', ''],
      model.limits.map(({ name, used, limit, unit, metAtGbPerDay, isSoft }) => [
        name,
        `${count(used)}${unit}`,
        count(limit),
        Number.isFinite(metAtGbPerDay) ? count(metAtGbPerDay) : 'never',
        [used > limit ? 'EXCEEDED' : '', isSoft ? 'a quota, raised on request' : '']
          .filter(Boolean)
          .join(', '),
      ]),
    ),
    `met first: ${first.name}, at ${count(first.metAtGbPerDay)} GB a day. Computed, not measured: docs/dev/cost-model.md`,
  ].join('\n\n');
}

/** Three significant digits, or a whole number. */
function count(value: number): string {
  const rounded = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 6 });
}

function money(value: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** Table whose first column is text, also the last one if it has no name; all others are numbers. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map(row => row[column].length)));
  const isText = (column: number) => column === 0 || (column === head.length - 1 && head[column] === '');
  return all
    .map(row =>
      row
        .map((cell, column) => (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
