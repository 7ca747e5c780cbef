/**
 * Rows and sums of docs/cost.md that can be computed, as they stand there: a test looks for each in the page. Whoever changes a price
 * or a figure runs `npm run model -- --page` and puts them in.
 */
import { DEFAULT_PRICES, LIST_PRICES, type ListPrice } from '../../shared/usage/prices.ts';
import { PUSH } from './figures.ts';
import { BUSY_JOBS, busyMonth, DEFAULT_STACK, edgePerGb, idleMonth, sumOf } from './idle.ts';
import { type Load, modelOf } from './model.ts';

const MILLION = 1_000_000;
const DAYS = 30;
const price = (name: keyof typeof LIST_PRICES) => LIST_PRICES[name].price;

export function computedLines(): readonly string[] {
  return [
    ...priceRows(),
    ...idleRows(),
    ...inlineSums(),
    ...batchRows(),
    ...querySums(),
    ...aroundRows(),
    ...volumeRows(),
    ...monthRows(),
    ...edgeSums(),
    ...fleetSums(),
  ];
}

function priceRows(): string[] {
  return Object.values(LIST_PRICES as Record<string, ListPrice>).map(
    ({ what, price: dollars, per, asOf }) => `| ${what} | ${plain(dollars)} | ${per} | ${asOf} |`,
  );
}

function idleRows(): string[] {
  const rows = idleMonth(DEFAULT_STACK);
  const busy = busyMonth(DEFAULT_STACK, BUSY_JOBS);
  return [
    ...rows.map(({ what, perMonth, dollars }) => `| ${what} | ${whole(perMonth)} | ${dollars.toFixed(3)} |`),
    `| **a store that nobody uses** | | **${sumOf(rows).toFixed(2)}** |`,
    `another ${busy.toFixed(2)} a month`,
  ];
}

/** Kilobytes at which a chunk costs as much inline as an object. */
function inlineSums(): string[] {
  const perKb = 2 * price('tableWrite');
  const object = price('objectPut') + price('objectGet');
  return [
    `\`2 n x ${price('tableWrite')} = ${perKb} n\``,
    `\`${price('objectPut').toFixed(2)} + ${price('objectGet').toFixed(2)} = ${object.toFixed(2)}\``,
    `They are equal at n = ${(object / perKb).toFixed(1)}.`,
    `with it they are equal at\n${(object / perKb + 1).toFixed(1)}.)`,
  ];
}

/** Measured: write units of a push, deletion included, and whether it makes an object. */
const BATCHES: readonly [kb: number, name: string, writeUnits: number, objects: 0 | 1][] = [
  [1, '1 KB', 2, 0],
  [4, '4 KB', 4, 0],
  [10, '10 KB', 8, 0],
  [20, '20 KB', 2, 1],
  [40, '40 KB', 2, 1],
  [100, '100 KB', 2, 1],
  [1000, '1 MB', 4, 1],
];
const PUSH_SECONDS_PER_GB = 15;

function batchRows(): string[] {
  return BATCHES.map(([kb, name, writeUnits, objects]) => {
    const pushes = MILLION / kb;
    const gateway = (pushes * price('gatewayRequest')) / MILLION;
    const seconds = pushes * PUSH.waitSeconds + PUSH_SECONDS_PER_GB;
    const lambda =
      (pushes * price('functionRequest')) / MILLION + seconds * PUSH.memoryGb * price('functionGbSecond');
    const stores =
      (pushes * (writeUnits * price('tableWrite') + objects * (price('objectPut') + price('objectGet')))) /
      MILLION;
    const parts = [gateway, lambda, stores];
    const sum = parts.reduce((all, one) => all + one, 0);
    return `| ${name} | ${whole(pushes)} | ${parts.map(one => one.toFixed(3)).join(' | ')} | **${sum.toFixed(2)}** |`;
  });
}

function querySums(): string[] {
  const perThousand = (1000 * (price('gatewayRequest') + price('functionRequest'))) / MILLION;
  const second = 1000 * (3008 / 1024) * price('functionGbSecond');
  const gets = (second / 1000 / price('objectGet')) * MILLION;
  const refreshes = 10 * 2 * 60 * 8 * 22;
  const beats = (30 * 86_400) / 15;
  const looks = (30 * 86_400) / 5;
  return [
    `ask ${perThousand.toFixed(4)} for 1,000 queries`,
    `in each is ${second.toFixed(3)}, as much as\n  **${whole(gets)} GETs**`,
    `${whole(refreshes)} queries`,
    `beside $${((refreshes * perThousand) / 1000).toFixed(2)} for gateway and function requests`,
    `(${whole(beats)} write units a month, $${((beats * price('tableWrite')) / MILLION).toFixed(2)})`,
    `(${((looks * 4) / MILLION).toFixed(1)} million read units, $${((looks * 4 * price('tableRead')) / MILLION).toFixed(2)})`,
  ];
}

/** Counted in the template with everything switched on (test/lib/cost-tests.ts). */
export const WATCHED = { alarms: 16, metricsOfStack: 8, metricsOfRequests: 20 } as const;

function aroundRows(): string[] {
  const { alarms, metricsOfStack, metricsOfRequests } = WATCHED;
  return [
    `| alarms | ${alarms} | ${(alarms * price('alarm')).toFixed(2)} |`,
    `| figures of canary and backlog | ${metricsOfStack} metrics | ${(metricsOfStack * price('metric')).toFixed(2)} |`,
    `| figures of requests, by function, group of routes and class of status | 2 for each that occurs, ${metricsOfRequests} at first | ${(metricsOfRequests * price('metric')).toFixed(2)} |`,
    `| the dashboard | 1 | ${price('dashboard').toFixed(2)} |`,
  ];
}

const LOAD: Load = {
  gbPerDay: 1,
  pushKb: 1000,
  queriesPerDay: 0,
  queryHours: 1,
  retentionDays: 30,
  tenants: 1,
  peak: 3,
};
const SIZES: readonly Pick<Load, 'gbPerDay' | 'tenants'>[] = [
  { gbPerDay: 1, tenants: 1 },
  { gbPerDay: 100, tenants: 10 },
  { gbPerDay: 10_000, tenants: 100 },
];

function volumeRows(): string[] {
  return [1, 10, 100, 1000].map(pushKb => {
    const costs = SIZES.map(size => modelOf({ ...LOAD, ...size, pushKb }, DEFAULT_PRICES).costPerMonth);
    return `| ${pushKb === 1000 ? '1 MB' : `${pushKb} KB`} | ${costs.map(money).join(' | ')} | `;
  });
}

function monthRows(): string[] {
  const models = SIZES.map((size, i) =>
    modelOf({ ...LOAD, ...size, queriesPerDay: [1000, 10_000, 100_000][i] }, DEFAULT_PRICES),
  );
  const rows = models[0].cost.map(({ name }, i) => {
    return `| ${name} | ${models.map(({ cost }) => exact(cost[i].perMonth)).join(' | ')} |`;
  });
  const sums = models.map(({ costPerMonth }) => `**${exact(costPerMonth)}**`);
  const perGb = models.map(({ costPerMonth }, i) => (costPerMonth / SIZES[i].gbPerDay / DAYS).toFixed(2));
  return [
    ...rows,
    `| **together, a month** | ${sums.join(' | ')} |`,
    `| for a GB taken in | ${perGb.join(' | ')} |`,
  ];
}

function edgeSums(): string[] {
  return [
    `$${edgePerGb(1000, PUSH.sentShare).toFixed(4)} for a GB of lines in pushes of 1 MB`,
    `$${edgePerGb(10, PUSH.sentShare).toFixed(4)} in pushes of 10 KB`,
  ];
}

/** Beside a fleet of three machines: where a GB taken in costs as much as they do. */
function fleetSums(): string[] {
  const fleet = 3 * price('instanceHour') * 730;
  const dayAt = (pushKb: number) => {
    const [taken, merged] = modelOf({ ...LOAD, pushKb }, DEFAULT_PRICES).cost;
    return fleet / DAYS / ((taken.perMonth + merged.perMonth) / DAYS);
  };
  return [
    `${whole(fleet)}: three m7g.large`,
    `**${whole(Math.round(dayAt(1000) / 10) * 10)} GB a day**`,
    `In pushes of 100 KB it is **${whole(dayAt(100))} GB**`,
    `in pushes of 10 KB **${whole(dayAt(10))} GB**`,
  ];
}

function plain(value: number): string {
  return value < 0.001 ? value.toFixed(10) : `${value}`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Whole dollars from ten on. */
function money(value: number): string {
  return value >= 10 ? whole(value) : value.toFixed(2);
}

/** Whole dollars from a hundred on. */
function exact(value: number): string {
  return value >= 100 ? whole(value) : value.toFixed(2);
}
