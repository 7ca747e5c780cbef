/**
 * Flush, index sync, cache generation numbers and maintenance status (docs/dev/wire-format.md#cache-generation, #flush-and-shutdown, #index-sync).
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { MS_PER_DAY, MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import type { HttpResponse } from '../../shared/server/http/message.ts';
import {
  linesOf,
  pushLine,
  START_MS,
  type TestProcess,
  type TestStores,
  testStores,
} from '../maintenance/store.ts';

const acme = { 'x-scope-orgid': 'acme' };
const DAY = START_MS / MS_PER_DAY;

let stores: TestStores;
let process: TestProcess;
beforeEach(() => {
  stores = testStores();
  process = stores.process(1);
});

function shown({ status, body }: HttpResponse): [number, string] {
  return [status, Buffer.from(body).toString()];
}

const ask = async (method: string, path: string, given = {}) => shown(await process.ask(method, path, given));

async function chunksOf(tenant: string): Promise<number | undefined> {
  return (await process.catalog.day(tenant, DAY))?.records.length;
}

/** Three chunks of each tenant. */
async function fill(...tenants: string[]): Promise<void> {
  for (const tenant of tenants)
    for (let i = 0; i < 3; i++) await pushLine(process, tenant, stores.clock.nowMs(), `line ${i}`);
}

describe('/flush', () => {
  test.each(['GET', 'POST'])('%s returns 204, empty, and the next run merges everything', async method => {
    await fill('acme', 'beta');
    expect(await ask(method, '/flush')).toEqual([204, '']);
    expect(process.kicked).toEqual(['compaction']);
    expect(await chunksOf('acme')).toBe(3);
    await process.run('compaction');
    expect([await chunksOf('acme'), await chunksOf('beta')]).toEqual([1, 1]);
    // Done: the windows of the day are open, and no request is pending.
    stores.clock.advance(1000);
    await fill('acme');
    await process.run('compaction');
    expect(await chunksOf('acme')).toBe(4);
  });

  test.each(['PUT', 'DELETE'])('%s returns 405', async method => {
    expect(await ask(method, '/flush')).toEqual([405, '']);
  });
});

describe('/flush/tenant', () => {
  const flush = (given: object = {}) => ask('POST', '/flush/tenant', { headers: acme, ...given });

  test('returns 204 after merging and indexing', async () => {
    await fill('acme', 'beta');
    expect(await flush()).toEqual([204, '']);
    expect([await chunksOf('acme'), await chunksOf('beta')]).toEqual([1, 3]);
    expect(process.kicked).toEqual([]);
    expect(await linesOf(process, 'acme', START_MS, START_MS + MS_PER_DAY)).toEqual([
      'line 0',
      'line 1',
      'line 2',
    ]);
  });

  test('returns 204 if there is nothing to do', async () => {
    expect(await flush()).toEqual([204, '']);
  });

  test('requires a tenant', async () => {
    expect(await flush({ headers: {} })).toEqual([401, 'no org id\n']);
    expect(await flush({ headers: { 'x-scope-orgid': 'a|b' } })).toEqual([400, 'multiple org IDs present\n']);
  });

  test.each([
    ['{app="a"}', 1],
    ['{app="other"}', 3],
    ['{app=~"a|b"}', 1],
    ['{app!="a"}', 3],
    ['{}', 1],
    ['', 1],
  ])('a flush with streams=%s leaves %d chunks', async (streams, chunks) => {
    await fill('acme');
    expect(await flush({ rawQuery: `streams=${encodeURIComponent(streams)}` })).toEqual([204, '']);
    expect(await chunksOf('acme')).toBe(chunks);
  });

  test.each(['{app=', 'app', '{app="a"} |= "x"'])(
    'a flush with streams=%s returns 400 and merges nothing',
    async streams => {
      await fill('acme');
      const [status, text] = await flush({ rawQuery: `streams=${encodeURIComponent(streams)}` });
      expect(status).toBe(400);
      expect(text).toMatch(/parse error|only label matchers are supported/);
      expect(await chunksOf('acme')).toBe(3);
    },
  );

  test('reads streams only from the URL', async () => {
    await fill('acme');
    const headers = { ...acme, 'content-type': 'application/x-www-form-urlencoded' };
    expect(await flush({ headers, body: Buffer.from('streams=nonsense') })).toEqual([204, '']);
    expect(await chunksOf('acme')).toBe(1);
  });

  test('returns 202 if a request may not take as long, and the next run does the rest', async () => {
    stores = testStores({ maintenanceRunMs: 0 });
    process = stores.process(1);
    await fill('acme');
    expect((await flush())[0]).toBe(202);
    expect(process.kicked).toEqual(['compaction']);
    await process.run('compaction');
    expect(await chunksOf('acme')).toBe(1);
  });

  test('returns 500 if the store fails', async () => {
    await fill('acme');
    const { key } = (await stores.store.list('')).objects[0];
    await stores.store.delete(key);
    process = stores.process(2);
    expect((await flush())[0]).toBe(500);
  });
});

describe('/sync-indexes', () => {
  const STARTED = 'index sync started; use GET /sync-indexes for status\n';
  const RUNNING = 'index sync already in progress; use GET /sync-indexes for status\n';
  const UNSUPPORTED = 'index sync not supported by the configured index store\n';
  const put = () => ask('PUT', '/sync-indexes');
  const status = async () => JSON.parse((await ask('GET', '/sync-indexes'))[1]);
  const NEVER = {
    name: 'logboom',
    in_progress: false,
    last_trigger: 'never_triggered',
    last_duration: '0s',
  };

  test('shows its states', async () => {
    expect(await status()).toEqual([NEVER]);
    expect(await put()).toEqual([202, STARTED]);
    expect(process.kicked).toEqual(['index-sync']);
    const running = { ...NEVER, in_progress: true, last_trigger: 'manual' };
    expect(await status()).toEqual([{ ...running, current_duration: '0s' }]);
    expect(await put()).toEqual([409, RUNNING]);
    expect(process.kicked).toEqual(['index-sync']);
    stores.clock.advance(1500);
    expect(await status()).toEqual([{ ...running, current_duration: '1.5s' }]);
    stores.clock.advance(88_500);
    await process.run('index-sync');
    expect(await status()).toEqual([{ ...NEVER, last_trigger: 'manual', last_duration: '1m30s' }]);
    stores.clock.advance(MS_PER_HOUR);
    await process.run('index-sync');
    expect(await status()).toEqual([{ ...NEVER, last_trigger: 'periodic' }]);
    expect(await put()).toEqual([202, STARTED]);
  });

  test('starts once for two concurrent requests in two processes', async () => {
    const other = stores.process(2);
    const answers = await Promise.all([process, other].map(one => one.ask('PUT', '/sync-indexes')));
    expect(answers.map(({ status: code }) => code).sort()).toEqual([202, 409]);
  });

  test('covers the whole store and requires no tenant', async () => {
    expect((await process.ask('GET', '/sync-indexes')).headers['content-type']).toMatch(/^application\/json/);
  });

  test('returns 503 for both methods if the store has no index', async () => {
    process = testStores({ indexSync: false }).process(1);
    expect(await put()).toEqual([503, UNSUPPORTED]);
    expect(await ask('GET', '/sync-indexes')).toEqual([503, UNSUPPORTED]);
  });

  test('refuses other methods', async () => {
    expect(await ask('POST', '/sync-indexes')).toEqual([405, '']);
  });
});

describe('cache generation numbers', () => {
  const PATH = '/cache/generation_numbers';
  const ROOTS = ['/svc/api/v1', '/loki/api/v1'];

  test.each(ROOTS)('%s is empty until set, then the time in ns, per tenant', async root => {
    const read = (tenant: string) => ask('GET', root + PATH, { headers: { 'x-scope-orgid': tenant } });
    expect(await read('acme')).toEqual([200, '""']);
    expect(await ask('POST', `${root + PATH}/increase`, { headers: acme })).toEqual([204, '']);
    expect(await read('acme')).toEqual([200, `"${START_MS}000000"`]);
    expect(await read('beta')).toEqual([200, '""']);
    stores.clock.advance(5);
    await ask('POST', `${root + PATH}/increase`, { headers: acme });
    expect(await read('acme')).toEqual([200, `"${START_MS + 5}000000"`]);
  });

  test.each([
    ['GET', PATH],
    ['POST', `${PATH}/increase`],
  ])('%s %s requires exactly one tenant', async (method, path) => {
    const under = ROOTS[0] + path;
    expect(await ask(method, under)).toEqual([401, 'no org id\n']);
    expect(await ask(method, under, { headers: { 'x-scope-orgid': 'a|b' } })).toEqual([
      400,
      'multiple org IDs present\n',
    ]);
  });

  test('use the single tenant without authentication', async () => {
    const auth = { target: 'all' as const, authEnabled: false, noAuthTenant: 'only' };
    process = testStores({}, { ...DEFAULT_CONFIG, auth }).process(1);
    expect(await ask('GET', ROOTS[0] + PATH)).toEqual([200, '""']);
  });
});

describe('/status/maintenance', () => {
  const status = async () => {
    const [code, text] = await ask('GET', '/loki/api/v1/status/maintenance');
    expect(code).toBe(200);
    return JSON.parse(text);
  };

  test('is empty before any run', async () => {
    expect(await status()).toEqual({
      jobs: [
        { name: 'compaction', interval: '1m0s', last_run: null },
        { name: 'collection', interval: '5m0s', last_run: null },
        { name: 'deletion', interval: '1m0s', last_run: null },
        { name: 'retention', interval: '1m0s', last_run: null },
        { name: 'index-sync', interval: '5m0s', last_run: null },
        { name: 'rules', interval: '5s', last_run: null },
      ],
      backlog: {
        outstanding_days: { count: 0, at_least: false },
        oldest_announcement: null,
        garbage_lists: { count: 0, at_least: false },
      },
    });
  });

  test('shows the last runs of another process, and pending work', async () => {
    await fill('acme');
    stores.clock.advance(MS_PER_HOUR);
    await fill('beta');
    await stores.process(2).run('compaction');
    const { jobs, backlog } = await status();
    const ended = new Date(START_MS + MS_PER_HOUR).toISOString();
    expect(jobs[0].last_run).toMatchObject({
      started: ended,
      ended,
      duration: '0s',
      done: true,
      figures: { days: 2, merges: 1, rows: 3 },
      failures: [],
    });
    expect(backlog).toEqual({
      outstanding_days: { count: 2, at_least: false },
      oldest_announcement: new Date(START_MS).toISOString(),
      garbage_lists: { count: 1, at_least: false },
    });
  });

  test('stops counting at its maximum and sets at_least', async () => {
    process.catalog.outstanding.list = async function* () {
      for (let day = 0; ; day++) yield { tenant: 'acme', day, writtenMs: START_MS + day };
    };
    expect((await status()).backlog).toMatchObject({
      outstanding_days: { count: 10_000, at_least: true },
      oldest_announcement: new Date(START_MS).toISOString(),
    });
  });
});
