/**
 * Queries that are cut into parts for several threads are answered as one thread answers them: exactly so, but for the last digits of
 * fractions, whose sums depend on how a query is cut. However many threads there are, it is cut the same way.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';

const TENANT = 'acme';
const T0_NS = 1_704_067_200n * 1_000_000_000n;
const CONFIG =
  'auth_enabled: true\nlimits_config: { reject_old_samples: false, ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB }';
/** One query thread, which scans everything, and several. */
const CORES = [1, 2, 4, 6];
const isCut = (cores: number) => cores > 2;
const EXACT_DIGITS = 12;
/** Lines are long, so that few entries are more than one thread scans by itself. */
const ENTRIES = 11_000;
const PER_PUSH = 1000;
const WIDE = 'x'.repeat(4000);
const APPS = ['a', 'b', 'c'];
/** Two entries of each second, and some of them twice. */
const SECONDS = ENTRIES / 2;

let stores: TestStore[];
beforeAll(async () => {
  stores = await Promise.all(CORES.map(cores => startStore(CONFIG, { cores })));
  const seed = fc.sample(fc.nat(), 1)[0];
  for (let at = 0; at < ENTRIES; at += PER_PUSH) {
    const streams = APPS.map(app => ({ labels: { app }, entries: [] as { ns: bigint; line: string }[] }));
    for (let i = at; i < at + PER_PUSH; i++) {
      const mixed = Math.imul(i ^ seed, 2_654_435_761) >>> 0;
      const line = `{"n":${mixed % 97},"path":"/p/${mixed % 7}","took":${(mixed % 1000) / 8},"wide":"${WIDE}"}`;
      const ns = T0_NS + BigInt((i * 7919) % SECONDS) * NS_PER_SECOND;
      streams[mixed % APPS.length].entries.push({ ns, line });
      if (mixed % 50 === 0) streams[mixed % APPS.length].entries.push({ ns, line });
    }
    const body = jsonPush(streams.filter(({ entries }) => entries.length > 0));
    for (const { client } of stores) {
      const headers = { 'content-type': JSON_TYPE, 'x-scope-orgid': TENANT };
      const answer = await client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
  }
});
afterAll(async () => {
  for (const store of stores) await store.stop();
});

const selector = fc.constantFrom('{app="a"}', '{app=~"a|b"}', '{app=~".+"}');
const stages = fc.constantFrom(
  '',
  '|= `"n":4`',
  '!= `/p/3`',
  '|~ `"path":"/p/[12]"`',
  '| json n, path | n > 40',
  '| json took | took < 30',
);
const logQuery = fc
  .tuple(selector, stages, fc.constantFrom('| keep app, n', '| line_format `{{.app}}`'))
  .map(parts => parts.join(' '));
const window = fc.constantFrom('1m', '7m', '1h');
const metricQuery = fc.oneof(
  fc
    .tuple(fc.constantFrom('count_over_time', 'rate', 'bytes_over_time'), selector, stages, window)
    .map(([name, one, two, range]) => `${name}(${one} ${two} [${range}])`),
  fc
    .tuple(
      fc.constantFrom('sum', 'max', 'avg', 'topk'),
      fc.constantFrom('sum_over_time', 'avg_over_time', 'stddev_over_time', 'max_over_time'),
      selector,
      window,
    )
    .map(
      ([by, name, one, range]) =>
        `${by === 'topk' ? 'topk(2, ' : `${by} by (path) (`}${name}(${one} | json took, path | unwrap took [${range}]))`,
    ),
  fc
    .tuple(selector, window)
    .map(
      ([one, range]) =>
        `quantile_over_time(0.9, ${one} | json took | unwrap took | keep app [${range}]) by (app)`,
    ),
);
const asked = fc.record({
  query: fc.oneof(logQuery, metricQuery),
  from: fc.nat(1_000),
  length: fc.integer({ min: 2_000, max: SECONDS }),
  step: fc.integer({ min: 30, max: 900 }),
  limit: fc.constantFrom(1, 100, 5000),
  direction: fc.constantFrom('forward', 'backward'),
});

interface Answer {
  readonly data: {
    readonly result: unknown;
    readonly explain: { readonly ranIn: string; readonly tasks?: Record<string, number> };
  };
}

/** Numbers of samples with the given number of digits; everything else unchanged. */
function rounded(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result), (key, value: unknown) =>
    key === '1' && typeof value === 'string' && /^-?[\d.e+-]+$/.test(value)
      ? Number(value).toPrecision(EXACT_DIGITS)
      : value,
  );
}

test('random queries with one query thread, three and five', async () => {
  const places = new Set<string>();
  await fc.assert(
    fc.asyncProperty(asked, async ({ query, from, length, step, limit, direction }) => {
      const start = T0_NS + BigInt(from) * NS_PER_SECOND;
      const params = {
        query,
        start: `${start}`,
        end: `${start + BigInt(length) * NS_PER_SECOND}`,
        step: `${step}`,
        limit: `${limit}`,
        direction,
        explain: 'true',
      };
      const answers: unknown[] = [];
      for (const [i, { client }] of stores.entries()) {
        const headers = { 'x-scope-orgid': TENANT };
        const { status, text, json } = await client.send({
          path: '/loki/api/v1/query_range',
          query: params,
          headers,
        });
        if (status !== 200) {
          answers.push([status, text]);
          continue;
        }
        const { result, explain } = (json() as Answer).data;
        answers.push(result);
        const tasks = Object.keys(explain.tasks ?? {});
        if (!isCut(CORES[i])) expect([explain.ranIn, tasks]).toEqual(['query-0', []]);
        for (const place of tasks) places.add(place);
      }
      const [first] = answers;
      const [cut] = answers.slice(CORES.findIndex(isCut));
      // Merges in the background change how a query is divided, and with it the last digits of sums of fractions.
      for (const [i, answer] of answers.entries())
        expect(rounded(answer)).toEqual(rounded(isCut(CORES[i]) ? cut : first));
      expect(rounded(cut)).toEqual(rounded(first));
    }),
    { numRuns: 40 },
  );
  // Parts ran in other threads too. How many of them took part depends on what else the machine does.
  expect(['query-0', 'query-1', 'query-2', 'query-3', 'query-4']).toEqual(
    expect.arrayContaining([...places]),
  );
  expect(places.size).toBeGreaterThan(1);
});
