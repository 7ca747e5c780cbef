/** Delete API (docs/dev/wire-format.md#delete-requests): parameters, messages, life cycle. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { MS_PER_DAY, MS_PER_HOUR, NS_PER_HOUR, NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import {
  linesOf,
  pushLine,
  START_MS,
  type TestProcess,
  type TestStores,
  testStores,
} from '../maintenance/store.ts';
import { type AskedFor, acme, fetchDeletes, type Given, shownAnswer } from './delete-calls.ts';

/** Unix seconds: an hour before the store's time. */
const START = START_MS / 1000 - 3600;
const FILTERED = '{app="x"} |= "y"';
const NOW = START_MS / 1000;
const NOT_FOUND = 'could not find delete request with given id\n';
const TOO_LATE =
  'Cancellation of partially completed delete request or delete request past the deadline of 24h0m0s since its ' +
  'creation is not allowed. To force, use the ?force query parameter\n';

let stores: TestStores;
let process: TestProcess;
function start(config: Partial<Config> = {}): void {
  stores = testStores({}, config);
  process = stores.process(1);
}
beforeEach(() => start());

const ask = (...request: AskedFor) => fetchDeletes(process, ...request);
const shown = (...request: AskedFor) => shownAnswer(process, ...request);

async function create(given: Given = {}, headers: Record<string, string> = acme): Promise<string> {
  const answer = await ask('POST', { query: '{app="x"} |= "y"', start: START, ...given }, { headers });
  expect([answer.status, answer.text]).toEqual([204, '']);
  return answer.headers['x-delete-request-id'];
}

async function list(
  given: Given = {},
  headers: Record<string, string> = acme,
): Promise<Record<string, unknown>[]> {
  const { status, text, headers: answered } = await ask('GET', given, { headers });
  expect([status, answered['content-type']]).toEqual([200, expect.stringMatching(/^application\/json/)]);
  return JSON.parse(text);
}

/** Simulates progress of the request elsewhere. */
async function change(id: string, changes: Record<string, number | bigint>): Promise<void> {
  const request = (await process.catalog.deletes.find('acme', id))!;
  expect(await process.catalog.deletes.replace(request, { ...request, ...changes })).toBe(true);
}

describe('create', () => {
  test.each(['POST', 'PUT'])('%s returns 204, empty, with the ID in a header', async method => {
    const answer = await ask(method, { query: '{app="x"}', start: START });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers['x-delete-request-id']).toMatch(/^[0-9a-f]{8}$/);
  });

  test.each([
    [{}, 'query not set'],
    [{ query: '' }, 'query not set'],
    [{ query: '{app=' }, 'invalid query expression'],
    [{ query: 'rate({app="x"}[1m])' }, 'invalid query expression'],
    [{ query: '1' }, 'invalid query expression'],
    [{ query: '{app=~"("}' }, 'invalid query expression'],
    [{ query: '{app="x"} |~ "("' }, 'invalid query expression'],
    [{ query: '{app="x"} | line_format "{{"' }, 'invalid query expression'],
    [{ query: '{app="x"} |= ip("") | line_format "{{"' }, 'invalid query expression'],
    [{ query: '{app="x"} |= ip("") |~ "("' }, 'invalid query expression'],
    [{ query: '{app="x"}' }, 'start time not set'],
    [{ query: '{app="x"}', start: 'now' }, 'invalid start time: require unix seconds or RFC3339 format'],
    [
      { query: '{app="x"}', start: 999_999_999 },
      'invalid start time: require unix seconds or RFC3339 format',
    ],
    [
      { query: '{app="x"}', start: `${START}.5` },
      'invalid start time: require unix seconds or RFC3339 format',
    ],
    [
      { query: '{app="x"}', start: `${START}000` },
      'invalid start time: require unix seconds or RFC3339 format',
    ],
    [
      { query: '{app="x"}', start: '2026-06-01' },
      'invalid start time: require unix seconds or RFC3339 format',
    ],
    [
      { query: '{app="x"}', start: START, end: 'x' },
      'invalid end time: require unix seconds or RFC3339 format',
    ],
    [{ query: '{app="x"}', start: START, end: NOW + 1 }, 'deletes in the future are not allowed'],
    [{ query: '{app="x"}', start: NOW + 5, end: NOW + 1 }, 'deletes in the future are not allowed'],
    [{ query: '{app="x"}', start: NOW }, "start time can't be greater than or equal to end time"],
    [
      { query: '{app="x"}', start: START, end: START },
      "start time can't be greater than or equal to end time",
    ],
    [
      { query: FILTERED, start: START, max_interval: 'x' },
      "invalid max_interval: valid time units are 's', 'm', 'h'",
    ],
    [
      { query: FILTERED, start: START, max_interval: '1d' },
      "invalid max_interval: valid time units are 's', 'm', 'h'",
    ],
    [
      { query: FILTERED, start: START, max_interval: '999ms' },
      "invalid max_interval: valid time units are 's', 'm', 'h'",
    ],
    [
      { query: FILTERED, start: START, max_interval: '-1h' },
      "invalid max_interval: valid time units are 's', 'm', 'h'",
    ],
    [{ query: FILTERED, start: START, max_interval: '25h' }, "max_interval can't be greater than 24h0m0s"],
    [
      { query: FILTERED, start: START, max_interval: '1h1s' },
      "max_interval can't be greater than the interval to be deleted (1h0m0s)",
    ],
  ] as [Given, string][])('a request with %j returns 400 %s', async (given, text) => {
    expect(await shown('POST', given)).toEqual([400, `${text}\n`]);
    expect(await list()).toEqual([]);
  });

  // Invalid addresses are detected only when the filter runs.
  test.each(['|= ip("")', '!= ip("x")', '|~ ip("1.2.3.4")', '| json | a=ip("")', '| a=ip("") or b="c"'])(
    'accepts %s, which removes no query from the list',
    async stages => {
      const query = `{app="a"} ${stages}`;
      const id = await create({ query });
      expect(await list()).toEqual([expect.objectContaining({ request_id: id, query, status: 'received' })]);
      await pushLine(process, 'acme', START_MS - 1000, 'l');
      expect(await linesOf(process, 'acme', START_MS - MS_PER_HOUR, START_MS)).toEqual(['l']);
      expect((await ask('DELETE', { request_id: id })).status).toBe(204);
      expect(await list()).toEqual([]);
    },
  );

  test('ignores parameters of a body', async () => {
    const body = `query=%7Bapp%3D%22x%22%7D&start=${START}`;
    const headers = { ...acme, 'content-type': 'application/x-www-form-urlencoded' };
    for (const method of ['POST', 'PUT']) {
      expect(await shown(method, {}, { headers, body })).toEqual([400, 'query not set\n']);
    }
  });

  test.each([
    ['seconds', START, START_MS - MS_PER_HOUR],
    ['a signed number of ten characters', '-999999999', -999_999_999_000],
    ['RFC 3339', '2026-05-31T23:30:00Z', START_MS - MS_PER_HOUR / 2],
    ['a zone and a fraction, cut to ms', '2026-06-01T01:30:00.1239+02:00', START_MS - MS_PER_HOUR / 2 + 123],
  ])('parses start as %s', async (_, start, wantMs) => {
    const id = await create({ start });
    const request = await process.catalog.deletes.find('acme', id);
    expect(request).toMatchObject({
      startNs: BigInt(wantMs) * NS_PER_MS,
      endNs: BigInt(START_MS) * NS_PER_MS,
    });
  });

  test.each([
    ['{app="x"}', undefined, 0],
    // Without a filter, there is one part for any requested interval.
    ['{app="x"}', '10m', 0],
    ['{app!="x"}', undefined, 0],
    ['{}', undefined, 0],
    ['{app="x"} |= "y"', undefined, 24 * 3600],
    ['{app="x"} |= "y"', '10m', 600],
    ['{app="x"} | json | y="1"', '1s', 1],
  ])('splits %s with max_interval %s every %d s', async (query, max_interval, wantSeconds) => {
    const id = await create({ query, ...(max_interval === undefined ? {} : { max_interval }) });
    const request = await process.catalog.deletes.find('acme', id);
    expect(request).toMatchObject({ query, intervalNs: BigInt(wantSeconds) * 1_000_000_000n });
  });

  // A request without parts needs no check.
  test.each([
    '{app="x"}',
    '{app="x"} |= ""',
    '{app="x"} |~ "" or ""',
    '{app="x"} | json',
    '{app="x"} | line_format "a"',
  ])('ignores max_interval for %s, which filters nothing', async query => {
    for (const max_interval of ['x', '25h', '1ms', '1h1s', '10m']) {
      const id = await create({ query, start: START, max_interval });
      expect(await process.catalog.deletes.find('acme', id)).toMatchObject({ query, intervalNs: 0n });
    }
  });

  test.each([
    '{app="x"} != ""',
    '{app="x"} |= "" or "a"',
    '{app="x"} | json | a="b"',
    '{app="x"} |> "<_>"',
    '{app="x"} |= "a" |= ""',
  ])('uses max_interval for %s, which filters', async query => {
    const [status] = await shown('POST', { query, start: START, max_interval: '25h' });
    expect(status).toBe(400);
  });

  test('uses the bounds of the configuration, in which 0 means none', async () => {
    start({ compactor: { ...DEFAULT_CONFIG.compactor, deleteMaxIntervalMs: 60_000 } });
    expect(await shown('POST', { query: FILTERED, start: START, max_interval: '2m' })).toEqual([
      400,
      "max_interval can't be greater than 1m0s\n",
    ]);
    start({ compactor: { ...DEFAULT_CONFIG.compactor, deleteMaxIntervalMs: 0 } });
    const ids = [await create(), await create({ start: START - 90 * 86_400, max_interval: '48h' })];
    const intervals = await Promise.all(
      ids.map(async id => (await process.catalog.deletes.find('acme', id))!.intervalNs),
    );
    expect(intervals).toEqual([0n, 172_800_000_000_000n]);
  });

  test('accepts a stored body again', async () => {
    const body = JSON.stringify({
      streams: [{ stream: { app: 'a' }, values: [[`${START_MS}000000`, 'x']] }],
    });
    const push = async (tenant: string) => {
      const headers = { 'content-type': 'application/json', 'x-scope-orgid': tenant };
      expect((await ask('POST', {}, { path: '/loki/api/v1/push', headers, body })).status).toBe(204);
      return (await process.catalog.day(tenant, START_MS / MS_PER_DAY))!.records.length;
    };
    expect([await push('acme'), await push('acme'), await push('other')]).toEqual([1, 1, 1]);
    await create();
    expect([await push('acme'), await push('acme'), await push('other')]).toEqual([2, 2, 1]);
  });
});

describe('list', () => {
  test('returns an empty array if there are no requests', async () => {
    expect((await ask('GET')).text).toBe('[]');
  });

  test('returns all fields, oldest first, from any process', async () => {
    const first = await create({ end: '2026-05-31T23:59:59.5004Z' });
    stores.clock.advance(123);
    process = stores.process(2);
    const second = await create({ query: '{app="z"}' });
    expect(await list()).toEqual([
      {
        request_id: first,
        start_time: START,
        end_time: NOW - 0.5,
        query: '{app="x"} |= "y"',
        status: 'received',
        created_at: NOW,
        user_id: '',
      },
      {
        request_id: second,
        start_time: START,
        end_time: NOW + 0.123,
        query: '{app="z"}',
        status: 'received',
        created_at: NOW + 0.123,
        user_id: '',
      },
    ]);
    expect(await list({ for_querytime_filtering: 'true' })).toHaveLength(2);
    expect(await list({}, { 'x-scope-orgid': 'beta' })).toEqual([]);
  });

  test.each([
    [{}, 'abc'],
    [{ start: 1_700_000_100, end: 1_700_000_150 }, 'a'],
    // Both ends count.
    [{ start: 1_700_000_200, end: 1_700_000_300 }, 'ab'],
    [{ start: 1_700_000_201, end: 1_700_000_299 }, ''],
    [{ start: '2023-11-14T22:00:00Z', end: NOW }, 'abc'],
    [{ start: 1_700_000_401, end: 1_700_000_499 }, ''],
    // A single bound is ignored, whatever it is.
    [{ start: 1_700_000_500 }, 'abc'],
    [{ end: 1_700_000_000 }, 'abc'],
    [{ end: 'x' }, 'abc'],
  ] as [Given, string][])('filters by the range %j', async (range, want) => {
    for (const [name, first, last] of [
      ['a', 100, 200],
      ['b', 300, 400],
      ['c', 500, 600],
    ] as const) {
      await create({ query: `{app="${name}"}`, start: 1_700_000_000 + first, end: 1_700_000_000 + last });
      stores.clock.advance(1);
    }
    const found = await list(range);
    expect(found.map(({ query }) => `${query}`[6]).join('')).toBe(want);
  });

  test('returns 400 for an invalid range', async () => {
    expect(await shown('GET', { start: 'x', end: NOW })).toEqual([
      400,
      'invalid start time: require unix seconds or RFC3339 format\n',
    ]);
    expect(await shown('GET', { start: START, end: '5' })).toEqual([
      400,
      'invalid end time: require unix seconds or RFC3339 format\n',
    ]);
  });

  test('shows a status that follows the work', async () => {
    const id = await create({ max_interval: '1h', start: START - 2 * 3600 });
    const status = async () => (await list())[0].status;
    const startNs = BigInt(START - 2 * 3600) * 1_000_000_000n;
    await change(id, { pickedUpMs: START_MS, bytesTotal: 9 });
    expect(await status()).toBe('received');
    await change(id, { doneToNs: startNs + NS_PER_HOUR });
    expect(await status()).toBe('33% Complete');
    await change(id, { doneToNs: startNs + 3n * NS_PER_HOUR - 1n });
    expect(await status()).toBe('66% Complete');
    await change(id, { processedMs: START_MS });
    expect(await status()).toBe('processed');
  });
});

describe('cancel', () => {
  const cancel = (given: Given) => shown('DELETE', given);

  test('returns 204 and deletes the request; a second time returns 404', async () => {
    const [id, other] = [await create(), await create()];
    expect(await cancel({ request_id: id })).toEqual([204, '']);
    expect((await list()).map(({ request_id }) => request_id)).toEqual([other]);
    expect(await cancel({ request_id: id })).toEqual([404, NOT_FOUND]);
  });

  test("returns 404 for another tenant's request", async () => {
    const id = await create({}, { 'x-scope-orgid': 'beta' });
    const givens: Given[] = [{}, { request_id: '' }, { request_id: id }, { request_id: 'a/b c' }];
    for (const given of givens) {
      expect(await cancel(given)).toEqual([404, NOT_FOUND]);
    }
    expect(await list({}, { 'x-scope-orgid': 'beta' })).toHaveLength(1);
  });

  test('needs force past the deadline, and only the word true means force', async () => {
    const id = await create();
    stores.clock.advance(MS_PER_DAY + 1);
    for (const force of ['', '1', 'TRUE', 'True', 'false']) {
      expect(await cancel({ request_id: id, force })).toEqual([400, TOO_LATE]);
    }
    expect(await cancel({ request_id: id, force: 'true' })).toEqual([204, '']);
    expect(await list()).toEqual([]);
  });

  test('needs no force at the deadline', async () => {
    const id = await create();
    stores.clock.advance(MS_PER_DAY);
    expect(await cancel({ request_id: id })).toEqual([204, '']);
  });

  test('needs force for a request in progress', async () => {
    const id = await create();
    await change(id, { pickedUpMs: START_MS });
    expect(await cancel({ request_id: id })).toEqual([400, TOO_LATE]);
    expect(await cancel({ request_id: id, force: 'true' })).toEqual([204, '']);
    expect(await list()).toEqual([]);
  });

  test('rejects canceling a processed request, even with force', async () => {
    const id = await create();
    await change(id, { processedMs: START_MS });
    for (const force of ['', 'true']) {
      expect(await cancel({ request_id: id, force })).toEqual([
        400,
        'deletion of request which is in process or already processed is not allowed\n',
      ]);
    }
    expect(await list()).toHaveLength(1);
  });
});

describe('progress', () => {
  const progress = async () => {
    const { status, text } = await ask('GET', {}, { path: '/loki/api/v1/status/deletes' });
    expect(status).toBe(200);
    return JSON.parse(text);
  };

  test('lists each request of the tenant', async () => {
    expect(await progress()).toEqual([]);
    const id = await create({ max_interval: '15m' });
    const received = {
      request_id: id,
      status: 'received',
      parts: 4,
      parts_done: 0,
      bytes_done: 0,
      bytes_total: 0,
      created_at: NOW,
      picked_up_at: null,
      sealed_at: null,
      processed_at: null,
    };
    expect(await progress()).toEqual([received]);
    const doneToNs = BigInt(START_MS - MS_PER_HOUR / 2) * NS_PER_MS;
    await change(id, { pickedUpMs: START_MS + 500, doneToNs, bytesDone: 70, bytesTotal: 100 });
    const working = {
      ...received,
      status: '50% Complete',
      parts_done: 2,
      bytes_done: 70,
      bytes_total: 100,
      picked_up_at: NOW + 0.5,
    };
    expect(await progress()).toEqual([working]);
    await change(id, { sealedMs: START_MS + 600, processedMs: START_MS + 700, bytesDone: 100 });
    expect(await progress()).toEqual([
      {
        ...working,
        status: 'processed',
        parts_done: 4,
        bytes_done: 100,
        sealed_at: NOW + 0.6,
        processed_at: NOW + 0.7,
      },
    ]);
  });
});
