/** Month by volume and push size: tables of docs/dev/cost-model.md that the model fills, and their text. */
import { DEFAULT_PRICES } from '../../../shared/server/admin/prices.ts';
import { LIMITS, PUSH, QUERY_KINDS } from '../figures.ts';
import { ingestOf, type Load, type Model, modelOf } from '../model.ts';
import { DAYS_OF_MONTH, exact, money, rate, whole } from './figures-text.ts';

export const LOAD: Load = {
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
const QUERIES_PER_DAY = [1000, 10_000, 100_000];

const model = (given: Partial<Load>) => modelOf({ ...LOAD, ...given }, DEFAULT_PRICES);

/** Limits as the page names them. */
const SHORT: Readonly<Record<string, string>> = {
  'API Gateway, requests': `API Gateway's ${whole(LIMITS.gatewayPerSecond)}/s`,
  'DynamoDB, writes of the table': `the table's ${whole(LIMITS.tableWritesPerSecond)} units/s`,
  'DynamoDB, partitions of a tenant': 'partitions of a tenant',
  'merging of a day of a tenant': "merging of a tenant's day",
};

export function volumeRows(): string[] {
  return [1, 10, 100, 1000].map(pushKb => {
    const costs = SIZES.map(size => money(model({ ...size, pushKb }).costPerMonth));
    const met = SIZES.map(({ tenants }) => {
      const [first] = model({ pushKb, tenants }).limits;
      return `${SHORT[first.name] ?? first.name}, ${whole(first.metAtGbPerDay)}`;
    });
    return `| ${pushKb === 1000 ? '1 MB' : `${pushKb} KB`} | ${costs.join(' | ')} | ${met.join('; ')} |`;
  });
}

export function monthRows(): string[] {
  const models = SIZES.map((size, i) => model({ ...size, queriesPerDay: QUERIES_PER_DAY[i] }));
  const row = (name: string, cellOf: (one: Model, i: number) => string) =>
    `| ${name} | ${models.map(cellOf).join(' | ')} |`;
  const atPeak = ({ requests }: Model, name: string) =>
    rate(requests.find(one => one.name === name)!.atPeakPerSecond);
  const cost = models[0].cost.map(({ name }, i) => row(name, ({ cost: lines }) => exact(lines[i].perMonth)));
  const [counts, rare, much] = QUERY_KINDS.map(({ share }) => whole(100 * share));
  const ms = (seconds: number) => `${whole(1000 * seconds)} ms`;
  const merging = model({}).limits.find(({ name }) => name.startsWith('merging'))!;
  return [
    row('pushes a second at the peak', one => atPeak(one, 'pushes')),
    row('PUTs, GETs, write units a second at the peak', one =>
      ['PUTs', 'GETs', 'write units'].map(name => atPeak(one, name)).join(', '),
    ),
    ...cost,
    row('**together, a month**', ({ costPerMonth }) => `**${exact(costPerMonth)}**`),
    row('for a GB taken in', ({ costPerMonth }, i) => {
      return (costPerMonth / SIZES[i].gbPerDay / DAYS_OF_MONTH).toFixed(2);
    }),
    row('a push, ms', ({ pushSeconds }) => whole(pushSeconds * 1000)),
    row('a count, rare text, much to look at; cold, ms', ({ queries }) =>
      queries.map(({ seconds }) => whole(seconds * 1000)).join(', '),
    ),
    row('calls of Lambda at once', ({ limits }) =>
      rate(limits.find(({ name }) => name.startsWith('Lambda'))!.used),
    ),
    `One tenant of more than about ${whole(merging.metAtGbPerDay)} GB a day is more than its merging keeps up with by default`,
    `merging a GB takes ${whole(ingestOf({ gbPerDay: 1 }, LOAD.pushKb * 1000).mergeSeconds)} s of a function`,
    `${ms(PUSH.waitSeconds)} of waiting for a push`,
    `${counts}% counts, ${rare}% rare text, ${much}% of queries that look at much`,
  ];
}
