/** The store with several threads of each role: what clients see when a thread is lost, is busy, or is to be stopped. */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pushSlotsOf } from '../../local/threads/start-role-thread.ts';
import { begun, FAULT_HEADER, type Fault, faultText, release } from '../local/threads/support/faults.ts';
import { until } from '../support/until.ts';
import { findEntries, getJson } from './support/ask.ts';
import { type ClientAnswer, createClient, encodeParams, type HttpClient } from './support/client.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { startStore, type TestStore } from './support/store.ts';

const TENANT = 'acme';
const T0_NS = 1_704_067_200n * 1_000_000_000n;
const RANGE = {
  start: `${T0_NS}`,
  end: `${T0_NS + 3_600_000_000_000n}`,
  limit: '5000',
  direction: 'forward',
};
const ALL = '{app="a"}';
const LIMITS =
  'reject_old_samples: false, ingestion_rate_mb: 1000, ingestion_burst_size_mb: 1000, per_stream_rate_limit: 1GB, per_stream_rate_limit_burst: 1GB';
const REPLACED = {
  tableEntry: new URL('../local/threads/support/faulty-table-thread.ts', import.meta.url),
  roleThreads: {
    entry: new URL('../local/threads/support/faulty-role-thread.ts', import.meta.url),
    // The heap of a new thread of this program takes a third.
    maxHeapMb: 128,
    // A thread that is busy with something else than a fault needs less on any machine.
    times: { hangMs: 5_000 },
  },
} as const;

let folder: string;
let nextFile: number;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-faults-'));
  nextFile = 0;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let store: TestStore;
let isStopped: boolean;
afterEach(async () => {
  if (!isStopped) await store.stop();
});

const start = async ({ yaml = '', limits = '', cores = 2 } = {}) => {
  const config = `auth_enabled: true\nlimits_config: { ${LIMITS}${limits} }\n${yaml}`;
  store = await startStore(config, { cores, replaced: REPLACED });
  isStopped = false;
};
const newFile = () => join(folder, `${nextFile++}`);
const headersOf = (fault = '', tenant = TENANT) => ({
  'x-scope-orgid': tenant,
  'content-type': JSON_TYPE,
  ...(fault !== '' && { [FAULT_HEADER]: fault }),
});

interface Options {
  readonly fault?: string;
  readonly tenant?: string;
  /** Default: that of the store. */
  readonly client?: HttpClient;
}

/** Pushes the entry of this number. */
function push(number: number, { fault, tenant, client = store.client }: Options = {}): Promise<ClientAnswer> {
  const entries = [{ ns: T0_NS + BigInt(number) * 1_000_000n, line: `line ${number}` }];
  const body = jsonPush([{ labels: { app: 'a' }, entries }]);
  return client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: headersOf(fault, tenant),
    body,
  });
}

function ask(query: string, { fault, tenant, client = store.client }: Options = {}): Promise<ClientAnswer> {
  const path = '/loki/api/v1/query_range';
  return client.send({ path, query: { ...RANGE, query }, headers: headersOf(fault, tenant) });
}

const lines = async (tenant = TENANT) =>
  (await findEntries(store.client, { ...RANGE, query: ALL }, { tenant })).map(({ line }) => line);
const linesTo = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}`);

/** Sums of a metric over all label sets that contain `part`. */
async function metric(name: string, part = ''): Promise<number> {
  const { text } = await store.client.send({ path: '/metrics' });
  const samples = text.split('\n').filter(one => one.startsWith(name) && one.includes(part));
  return samples.reduce((sum, one) => sum + Number(one.slice(one.lastIndexOf(' ') + 1)), 0);
}
const starts = (thread: string) => metric('logboom_thread_starts_total', `"${thread}"`);

/** A client that leaves when the fault has begun. */
async function askAndLeave(query: string, fault: string, file: string): Promise<void> {
  const path = `/loki/api/v1/query_range?${encodeParams({ ...RANGE, query })}`;
  const client = request(store.url + path, { headers: headersOf(fault) });
  const ended = new Promise(resolve => client.on('error', resolve));
  client.end();
  await begun(file);
  client.destroy();
  await ended;
}

describe('a thread is lost', () => {
  test('pushes and queries continue: queries are retried, pushes get 503 and may be sent again', async () => {
    await start();
    const faults: Fault[] = ['exits', 'fills'];
    let refused = 0;
    const send = async (number: number, fault?: string): Promise<void> => {
      const { status, text } = await push(number, { fault: fault ?? '' });
      if (status === 204) return;
      expect([status, text]).toEqual([
        503,
        expect.stringContaining('was restarted while it processed the request'),
      ]);
      refused++;
      await send(number);
    };
    for (const [round, fault] of faults.entries()) {
      const faultOf = (i: number) => (i === 2 ? faultText(fault, newFile()) : undefined);
      await Promise.all(Array.from({ length: 5 }, (_, i) => send(round * 5 + i, faultOf(i))));
      const answers = await Promise.all(
        Array.from({ length: 5 }, (_, i) => ask(ALL, { fault: faultOf(i) ?? '' })),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    }
    expect(refused).toBeGreaterThanOrEqual(faults.length);
    expect([await starts('ingest-0'), await starts('query-0')]).toEqual([3, 3]);
    // Each entry once, however often it was sent.
    expect(await lines()).toEqual(linesTo(10));
  });

  test('a query that takes all memory twice is refused, and the thread starts again', async () => {
    await start();
    expect((await push(0)).status).toBe(204);
    const { status, text } = await ask(ALL, { fault: faultText('overfills', newFile()) });
    expect([status, text]).toEqual([400, expect.stringContaining('needs more memory than its thread has')]);
    expect(await lines()).toEqual(['line 0']);
    expect(await starts('query-0')).toBe(3);
  });

  test('a query thread that hangs is ended once a client has left it', async () => {
    await start();
    expect((await push(0)).status).toBe(204);
    const file = newFile();
    await askAndLeave(ALL, faultText('hangs', file), file);
    // It waits for the thread, and is tried again when that is ended.
    expect(await lines()).toEqual(['line 0']);
    expect(await starts('query-0')).toBe(2);
  });

  test('upkeep: the request is 503, and the next one is served', async () => {
    await start();
    expect((await push(0)).status).toBe(204);
    const flush = (fault: string) =>
      store.client.send({ method: 'POST', path: '/flush/tenant', headers: headersOf(fault) });
    expect((await flush(faultText('exits', newFile()))).status).toBe(503);
    expect((await flush('')).status).toBe(204);
    expect(await starts('upkeep-0')).toBe(2);
    expect(await lines()).toEqual(['line 0']);
  });

  // On S3 each thread writes to the table by itself.
  const ifEmbedded = process.env.LOGBOOM_TEST_MINISTACK === undefined ? test : test.skip;
  ifEmbedded('table: pushes that it worked on are 503, and the store goes on', async () => {
    await start();
    const tenant = 'ends-table';
    const [lost, ...others] = await Promise.all([push(0, { tenant }), push(0), push(1)]);
    expect([lost.status, lost.text]).toEqual([
      503,
      expect.stringContaining('was restarted while it processed the request'),
    ]);
    for (const { status } of others) expect([204, 503]).toContain(status);
    expect((await push(0, { tenant })).status).toBe(204);
    expect(await lines(tenant)).toEqual(['line 0']);
    for (const number of [0, 1, 2]) expect((await push(number)).status).toBe(204);
    expect(await lines()).toEqual(linesTo(3));
  });
});

describe('a query thread is busy', () => {
  let file: string;
  beforeEach(() => {
    file = newFile();
  });

  test('the deadline ends a query', async () => {
    await start({ limits: ', query_timeout: 1s' });
    const asked = ask(ALL, { fault: faultText('holds', file) });
    const { status, text } = await asked;
    expect([status, text]).toEqual([504, expect.stringContaining('timed out')]);
    release(file);
    // On a busy machine, the deadline may end some more of them.
    while ((await ask(ALL)).status !== 200);
  });

  test('queries of a tenant wait for their turn, and beyond the limit are 429', async () => {
    await start({ yaml: 'querier: { max_concurrent: 2 }\nfrontend: { max_outstanding_per_tenant: 1 }\n' });
    const held = [ask(ALL, { fault: faultText('holds', file) })];
    await begun(file);
    const answered: number[] = [];
    const others = Array.from({ length: 5 }, async () => {
      answered.push((await ask(ALL)).status);
    });
    await until(() => answered.length >= 3);
    expect(answered).toEqual([429, 429, 429]);
    // One more runs, one waits.
    release(file);
    await Promise.all(others);
    expect(answered).toEqual([429, 429, 429, 200, 200]);
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200]);
  });

  test('a stop lets it answer', async () => {
    await start();
    expect((await push(0)).status).toBe(204);
    const client = createClient(store.url);
    const asked = ask(ALL, { fault: faultText('holds', file), client });
    await begun(file);
    isStopped = true;
    const stopped = store.stop();
    release(file);
    const { status, text } = await asked;
    expect([status, text]).toEqual([200, expect.stringContaining('line 0')]);
    await stopped;
    client.close();
  });
});

test('an ingest thread is busy: pushes of a tenant beyond its slots are 429, all others are stored', async () => {
  await start({ yaml: 'frontend: { max_outstanding_per_tenant: 2 }\n' });
  const file = newFile();
  const held = push(0, { fault: faultText('holds', file) });
  await begun(file);
  const SLOTS = pushSlotsOf(1, store.storage);
  // A quarter is for others. The push that is held has one of the rest.
  const RUNNING = 0.75 * SLOTS;
  const WAITING = 2;
  const SENT = RUNNING + WAITING + 10;
  const client = createClient(store.url, SENT);
  const answered: number[] = [];
  const others = Array.from({ length: SENT }, async (_, i) => {
    answered.push((await push(i + 1, { client })).status);
  });
  const refused = 1 + SENT - RUNNING - WAITING;
  await until(() => answered.length >= refused);
  expect(answered).toEqual(Array.from({ length: refused }, () => 429));
  release(file);
  await Promise.all(others);
  expect(answered.filter(status => status === 204)).toHaveLength(SENT - refused);
  expect((await held).status).toBe(204);
  expect(await lines()).toHaveLength(1 + SENT - refused);
  client.close();
});

test('a repeated push waits for the thread that had it before, and is stored once', async () => {
  await start({ cores: 3 });
  expect((await push(0)).status).toBe(204);
  // Another thread is there: it starts when the first one is busy.
  const first = newFile();
  const held = push(1, { fault: faultText('holds', first), tenant: 'x' });
  await begun(first);
  const waiting = push(2, { tenant: 'x' });
  // It announces itself once it is ready.
  while ((await metric('logboom_thread_memory_bytes', '"ingest-1"')) === 0);
  expect((await push(4, { tenant: 'x' })).status).toBe(204);
  release(first);
  await Promise.all([held, waiting]);
  // The first one is busy again when the repeat comes.
  const second = newFile();
  const heldAgain = push(5, { fault: faultText('holds', second), tenant: 'x' });
  await begun(second);
  const repeated = push(0);
  expect((await push(6, { tenant: 'x' })).status).toBe(204);
  release(second);
  expect([(await repeated).status, (await heldAgain).status]).toEqual([204, 204]);
  expect(await metric('loki_distributor_lines_received_total', `tenant="${TENANT}"`)).toBe(1);
});

test('a client that leaves ends the parts of its query in all threads', async () => {
  await start({ cores: 4 });
  const COUNT = 12_000;
  const WIDE = 'x'.repeat(4096);
  for (let at = 0; at < COUNT; at += 1000) {
    const entries = Array.from({ length: 1000 }, (_, i) => ({
      // Two days provide parts for two threads even if the chunks of a day were merged.
      ns: T0_NS + BigInt(at + i + 1 - COUNT / 2) * 1_000_000n,
      line: `${WIDE} ${at + i}`,
    }));
    const body = jsonPush([{ labels: { app: 'a' }, entries }]);
    const answer = await store.client.send({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers: headersOf(),
      body,
    });
    expect(answer.status).toBe(204);
  }
  const file = newFile();
  const query = (more: string) => `sum(count_over_time(${ALL} != \`${more}\` [2h]))`;
  await askAndLeave(query(faultText('holds', file)), '', file);
  await until(async () => (await metric('logboom_query_tasks_failed_total', 'cancelled')) > 0);
  release(file);
  const { data } = (await getJson(
    store.client,
    '/api/v1/query_range',
    { ...RANGE, query: query('nothing'), step: '1h', explain: 'true' },
    { tenant: TENANT },
  )) as { data: { result: { values: [number, string][] }[]; explain: { tasks: Record<string, number> } } };
  expect(data.result[0].values.at(-1)![1]).toBe(`${COUNT}`);
  expect(Object.values(data.explain.tasks).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(1);
  expect(await metric('logboom_query_tasks_running')).toBe(0);
});
