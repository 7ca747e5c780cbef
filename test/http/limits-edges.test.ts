/** Each limit of a request (docs/reference/limits.md) through the dispatcher: below it, at it, and above it. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Limits } from '../../shared/base/model/limits.ts';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { tailRequestOf } from '../../shared/server/http/tail-request.ts';
import { START_MS, type TestProcess, testStores } from '../maintenance/store.ts';
import { request, tenants } from './request.ts';

const ROOT = '/svc/api/v1';
type Pairs = readonly (readonly [name: string, value: string | number])[];

function start(limits: Partial<Limits> = {}): TestProcess {
  const open = { maxQuerySeries: 0, maxGlobalStreamsPerUser: 0, discoverLogLevels: false };
  return testStores({}, { limits: { ...DEFAULT_CONFIG.limits, ...open, ...limits } }).process(1);
}

async function ask(process: TestProcess, path: string, pairs: Pairs = [], tenant = 'acme', method = 'GET') {
  const rawQuery = new URLSearchParams(
    pairs.map(([name, value]): [string, string] => [name, `${value}`]),
  ).toString();
  const headers = { 'x-scope-orgid': tenant, accept: 'application/json' };
  const { status, body } = await process.ask(method, path, { rawQuery, headers });
  return { status, text: Buffer.from(body).toString() };
}

async function answer(process: TestProcess, path: string, pairs: Pairs, tenant?: string) {
  const { status, text } = await ask(process, path, pairs, tenant);
  expect([status, text]).toEqual([200, text]);
  return JSON.parse(text);
}

type Stream = readonly [
  labels: Record<string, string>,
  entries: readonly (readonly [ms: number, line: string])[],
];

async function push(process: TestProcess, streams: readonly Stream[], tenant = 'acme') {
  const written = streams.map(([stream, entries]) => ({
    stream,
    values: entries.map(([ms, line]) => [`${ms}000000`, line]),
  }));
  const { status, body } = await process.ask('POST', '/loki/api/v1/push', {
    headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
    body: Buffer.from(JSON.stringify({ streams: written })),
  });
  return { status, text: Buffer.from(body).toString() };
}

describe('tenant names', () => {
  const process = start();
  const ALLOWED = `09azAZ!-_.*'()`;

  test.each<[string, number, string]>([
    ['a', 200, ''],
    ['x'.repeat(20), 200, ''],
    ['x'.repeat(149), 200, ''],
    ['x'.repeat(150), 200, ''],
    ['x'.repeat(151), 400, 'tenant ID is too long: max 150 characters'],
    ['', 401, 'no org id'],
    ['.', 400, "tenant ID is '.' or '..'"],
    ['..', 400, "tenant ID is '.' or '..'"],
    ['...', 200, ''],
    ['.a', 200, ''],
    [ALLOWED, 200, ''],
  ])('%s', async (tenant, status, message) => {
    for (const path of [`${ROOT}/labels`, `${ROOT}/query_range`]) {
      const got = await ask(process, path, [['query', '{a="b"}']], tenant);
      expect([got.status, status === 200 ? '' : got.text.trim()]).toEqual([status, message]);
    }
    expect((await push(process, [[{ a: 'b' }, [[START_MS, 'x']]]], tenant)).status).toBe(
      status === 200 ? 204 : status,
    );
  });

  test('refuse every other ASCII character, including a colon', async () => {
    const allowed = /[0-9a-zA-Z!\-_.*'()]/;
    for (let code = 0x21; code < 0x7f; code++) {
      const character = String.fromCharCode(code);
      // Separates several tenants, each with its own limits.
      if (character === '|') continue;
      const { status, text } = await ask(process, `${ROOT}/labels`, [], `a${character}b`);
      const isAllowed = allowed.test(character);
      expect([character, status]).toEqual([character, isAllowed ? 200 : 400]);
      if (!isAllowed) expect(text).toContain(`contains unsupported character '${character}'`);
    }
  });
});

describe('default limit and line_limit', () => {
  const process = start();
  const MS = START_MS - 60_000;
  const streamOf = (app: string, count: number, line: (i: number) => string): Stream => [
    { app },
    Array.from({ length: count }, (_, i) => [MS + i, line(i)]),
  ];
  const manyStreams = (app: string, count: number) =>
    Array.from({ length: count }, (_, i): Stream => [{ app, n: `${i}` }, [[MS, 'x']]]);

  beforeAll(async () => {
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `f${i}=1`).join(' ');
    const pushed = await push(process, [
      ...[99, 100, 101].map(count => streamOf(`lines${count}`, count, i => `line ${i}`)),
      ...[99, 100, 101].flatMap(count => manyStreams(`streams${count}`, count)),
      ...[999, 1000, 1001].map(count => streamOf(`fields${count}`, 1, () => fields(count))),
      ...[999, 1000, 1001].map(count => streamOf(`values${count}`, count, i => `v=${i}`)),
      // The different one is the oldest, which is read last.
      ...[99, 100, 101].map(count => streamOf(`old${count}`, count, i => (i === 0 ? 'rare=1' : 'usual=1'))),
    ]);
    expect(pushed).toEqual({ status: 204, text: '' });
  });

  const entries = async (path: string, pairs: Pairs) => {
    const { data } = await answer(process, path, pairs);
    return data.result.flatMap(({ values }: { values: unknown[] }) => values).length;
  };
  const series = async (path: string, app: string, more: Pairs = []) => {
    const { data } = await answer(process, path, [
      ['query', `{app="${app}"}`],
      ['targetLabels', 'n'],
      ...more,
    ]);
    return data.result.length;
  };
  const names = async (pairs: Pairs) =>
    ((await answer(process, `${ROOT}/detected_fields`, pairs)).fields ?? []).map(
      ({ label }: { label: string }) => label,
    );

  test.each([
    [99, 99],
    [100, 100],
    [101, 100],
  ])('%d of 100 entries are returned', async (there, shown) => {
    const query: Pairs = [['query', `{app="lines${there}"}`]];
    expect(await entries(`${ROOT}/query_range`, query)).toBe(shown);
    for (const [limit, want] of [
      [1, 1],
      [there - 1, there - 1],
      [there, there],
      [there + 1, there],
    ]) {
      expect(await entries(`${ROOT}/query_range`, [...query, ['limit', limit]])).toBe(want);
    }
    const app = `streams${there}`;
    for (const path of [`${ROOT}/index/volume`, `${ROOT}/index/volume_range`]) {
      expect(await series(path, app)).toBe(shown);
      expect(await series(path, app, [['limit', 101]])).toBe(there);
    }
    const old = await names([['query', `{app="old${there}"}`]]);
    expect(old.includes('rare')).toBe(there <= 100);
    expect(
      await names([
        ['query', `{app="old${there}"}`],
        ['line_limit', 101],
      ]),
    ).toContain('rare');
  });

  test.each([
    [999, 999],
    [1000, 1000],
    [1001, 1000],
  ])('%d of 1000 lines are read', async (there, shown) => {
    const ofFields: Pairs = [['query', `{app="fields${there}"}`]];
    expect((await names(ofFields)).length).toBe(shown);
    expect((await names([...ofFields, ['limit', 1001]])).length).toBe(there);
    const path = `${ROOT}/detected_field/v/values`;
    const ofValues: Pairs = [
      ['query', `{app="values${there}"}`],
      ['line_limit', 2000],
    ];
    expect((await answer(process, path, ofValues)).values.length).toBe(shown);
    expect((await answer(process, path, [...ofValues, ['limit', 1001]])).values.length).toBe(there);
  });

  test('an instant query and a tail also return 100', async () => {
    const limitOfTail = (rawQuery: string) =>
      tailRequestOf(
        request({ path: `${ROOT}/tail`, rawQuery, tenants: tenants('acme') }),
        BigInt(START_MS) * 1_000_000n,
      ).limit;
    expect([limitOfTail('query={a="b"}'), limitOfTail('query={a="b"}&limit=101')]).toEqual([100, 101]);
  });

  test.each<[string, string | number, number, string]>([
    ['limit', 0, 400, 'limit must be a positive value'],
    ['limit', -1, 400, 'limit must be a positive value'],
    ['limit', 5000, 200, ''],
    [
      'limit',
      5001,
      400,
      'max entries limit per query exceeded, limit > max_entries_limit_per_query (5001 > 5000)',
    ],
  ])('a query with %s %s', async (name, value, status, message) => {
    const got = await ask(process, `${ROOT}/query_range`, [
      ['query', '{app="lines99"}'],
      [name, value],
    ]);
    expect([got.status, status === 200 ? '' : got.text.trim()]).toEqual([status, message]);
  });
});

describe('delay_for', () => {
  const process = start();
  // Valid parameters are refused only because this is not a WebSocket.
  test.each<[string, string]>([
    ['', 'Bad Request'],
    ['0', 'Bad Request'],
    ['4', 'Bad Request'],
    ['5', 'Bad Request'],
    ['6', "delay_for can't be greater than 5"],
    ['99999999999', "delay_for can't be greater than 5"],
    ['-1', 'Bad Request'],
    ['x', 'strconv.Atoi: parsing "x": invalid syntax'],
    ['5.5', 'strconv.Atoi: parsing "5.5": invalid syntax'],
  ])('%j', async (delay, message) => {
    const { status, text } = await ask(process, `${ROOT}/tail`, [
      ['query', '{a="b"}'],
      ['delay_for', delay],
    ]);
    expect([status, text.trim()]).toEqual([400, message]);
  });

  test('is zero if absent', () => {
    const of = (rawQuery: string) =>
      tailRequestOf(request({ path: `${ROOT}/tail`, rawQuery, tenants: tenants('acme') }), 0n).delayMs;
    expect([of('query={a="b"}'), of('query={a="b"}&delay_for=5')]).toEqual([0, 5000]);
  });
});

describe('q of /config', () => {
  const process = start();
  const NAME = 'server.log_level';

  test.each([
    [1, 200, ''],
    [19, 200, ''],
    [20, 200, ''],
    [21, 400, 'too many q parameters: 21, limit: 20'],
  ])('accepts or refuses %d values', async (count, status, message) => {
    const got = await ask(
      process,
      '/config',
      Array.from({ length: count }, () => ['q', NAME] as const),
    );
    expect([got.status, status === 200 ? '' : got.text.trim()]).toEqual([status, message]);
  });

  test.each([
    [511, 'unknown configuration keys'],
    [512, 'unknown configuration keys'],
    [513, 'q parameter longer than 512 characters'],
  ])('accepts or refuses %d characters', async (length, message) => {
    const { status, text } = await ask(process, '/config', [['q', 'x'.repeat(length)]]);
    expect([status, text.startsWith(message)]).toEqual([400, true]);
  });
});

describe('default time ranges', () => {
  const process = start();
  // One chunk each, so that labels also show its contents.
  const AGES: readonly (readonly [string, number])[] = [
    ['now', 0],
    ['young', 1],
    ['hour-', MS_PER_HOUR - 1],
    ['hour', MS_PER_HOUR],
    ['hour+', MS_PER_HOUR + 1],
    ['six-', 6 * MS_PER_HOUR - 1],
    ['six', 6 * MS_PER_HOUR],
    ['six+', 6 * MS_PER_HOUR + 1],
  ];
  beforeAll(async () => {
    for (const [age, ms] of AGES) {
      const pushed = await push(process, [
        [{ all: 'x', age }, [[START_MS - ms, `${age.replace(/\W/, '_')}=1`]]],
      ]);
      expect(pushed.status).toBe(204);
    }
  });
  const upTo = (last: string, from = 'now') => {
    const all = AGES.map(([age]) => age);
    return all.slice(all.indexOf(from), all.indexOf(last) + 1).sort();
  };
  const query: Pairs = [['query', '{all="x"}']];

  test('query_range starts an hour ago and ends now', async () => {
    const { data } = await answer(process, `${ROOT}/query_range`, query);
    const ages = data.result.map(({ stream }: { stream: { age: string } }) => stream.age);
    // The end of a log query is not part of it.
    expect(ages.sort()).toEqual(upTo('hour', 'young'));
  });

  test('label values and labels start six hours ago', async () => {
    const { data } = await answer(process, `${ROOT}/label/age/values`, []);
    expect(data.sort()).toEqual(upTo('six'));
    const only = start();
    for (const [name, ms] of [
      ['inside', 6 * MS_PER_HOUR],
      ['outside', 6 * MS_PER_HOUR + 1],
    ] as const) {
      expect((await push(only, [[{ [name]: 'x' }, [[START_MS - ms, 'x']]]])).status).toBe(204);
    }
    const labels = (await answer(only, `${ROOT}/labels`, [])).data;
    expect([labels.includes('inside'), labels.includes('outside')]).toEqual([true, false]);
  });

  test('detected fields start an hour ago', async () => {
    const { fields } = await answer(process, `${ROOT}/detected_fields`, query);
    const names: string[] = fields.map(({ label }: { label: string }) => label);
    expect(['hour_', 'hour', 'six_', 'six'].map(name => names.includes(name))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('the status of blocked ingestion', () => {
  const until = (ms: number) => ({ ns: BigInt(ms) * 1_000_000n, text: new Date(ms).toISOString() });
  const blocked = async (limits: Partial<Limits>) =>
    (await push(start(limits), [[{ a: 'b' }, [[START_MS, 'x']]]])).status;

  test.each<[string, Partial<Limits>, number]>([
    ['not blocked', {}, 204],
    ['until a millisecond ago', { blockIngestionUntil: until(START_MS - 1) }, 204],
    ['until now', { blockIngestionUntil: until(START_MS) }, 204],
    ['for a millisecond', { blockIngestionUntil: until(START_MS + 1) }, 260],
    ['a status of its own', { blockIngestionUntil: until(START_MS + 1), blockIngestionStatusCode: 429 }, 429],
    [
      '200 drops without a word',
      { blockIngestionUntil: until(START_MS + 1), blockIngestionStatusCode: 200 },
      204,
    ],
  ])('%s', async (_, limits, status) => {
    expect(await blocked(limits)).toBe(status);
  });
});

describe('units of max_interval', () => {
  const process = start();
  const UNITS = "invalid max_interval: valid time units are 's', 'm', 'h'";

  test.each<[string, number, string]>([
    ['1s', 204, ''],
    ['59m', 204, ''],
    ['1h', 204, ''],
    ['24h', 204, ''],
    ['1440m', 204, ''],
    ['24h0m1s', 400, "max_interval can't be greater than 24h0m0s"],
    ['86401s', 400, "max_interval can't be greater than 24h0m0s"],
    // Fractions of a second are dropped; a whole number of seconds is accepted in any notation.
    ['1000ms', 204, ''],
    ['999ms', 400, UNITS],
    ['1us', 400, UNITS],
    ['1d', 400, UNITS],
    ['1w', 400, UNITS],
    ['60', 400, UNITS],
  ])('%s', async (interval, status, message) => {
    const pairs: Pairs = [
      ['query', '{a="b"} |= "x"'],
      ['start', START_MS / 1000 - 48 * 3600],
      ['max_interval', interval],
    ];
    const got = await ask(process, `${ROOT}/delete`, pairs, 'acme', 'POST');
    expect([got.status, got.text.trim()]).toEqual([status, message]);
  });
});
