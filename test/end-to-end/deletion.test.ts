/**
 * Bytes that were deleted are gone: pushed over HTTP, deleted, and after the jobs have run not in any file of the data
 * directory, neither as they are nor compressed. On files and SQLite, with a clock that is moved.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openFileObjectStore } from '../../local/file-object-store.ts';
import { openSqliteTable } from '../../local/sqlite-table.ts';
import { MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { assembleContext } from '../../shared/server/http/assemble.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { createRouter } from '../../shared/server/http/routes.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { listStoredObjects } from '../../shared/storage/catalog/stored-objects.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { decodePage, footerOf } from '../../shared/storage/chunk/reader.ts';
import { checkStore } from '../../shared/upkeep/integrity/check-store.ts';
import { request } from '../http/request.ts';
import { manualClock } from '../support/manual-clock.ts';

const TENANT = 'acme';
const START_MS = Date.UTC(2026, 5, 1, 12);
/** Long enough that compression cannot hide it by accident, and in no other line. */
const SECRET = 'user=4711-heidi-secret-9f1c';

const SECRET_QUERY = `{app=~".+"} |= "${SECRET}"`;
/** The list of requests keeps the query: it does not name what it is for. */
const DELETE_QUERY = '{app=~".+"} |~ "user=4711-[a-z]+"';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-deletion-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function openStore() {
  const manual = manualClock(START_MS);
  const clock = { ...manual, sleep: () => nextTurn() };
  const store = await openFileObjectStore(folder);
  const table = await openSqliteTable(join(folder, 'catalog.sqlite'), { clock });
  const catalog = new Catalog({ table, clock, ids: SYSTEM_IDS });
  const config: Config = {
    ...DEFAULT_CONFIG,
    compactor: { ...DEFAULT_CONFIG.compactor, deleteRequestCancelPeriodMs: 0 },
    logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0 },
  };
  const context = assembleContext({
    config,
    store,
    catalog,
    clock,
    ids: SYSTEM_IDS,
    usageRecords: new UsageRecords(table),
    foldTable: () => table.fold(),
    notReady: () => undefined,
  });
  const log = { error: () => {} };
  const dispatch = createDispatcher({
    router: createRouter(ROUTES),
    context,
    guard: context.access.guard,
    log,
    compress: false,
  });
  const ask = async (method: string, path: string, rawQuery: string, body?: unknown) => {
    const { status, body: answer } = await dispatch(
      request({
        method,
        path,
        rawQuery,
        headers: { 'content-type': 'application/json', 'x-scope-orgid': TENANT },
        body: body === undefined ? new Uint8Array(0) : Buffer.from(JSON.stringify(body)),
      }),
    );
    const text = Buffer.from(answer).toString();
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return text;
  };
  return { clock, store, table, catalog, context, ask };
}

type Store = Awaited<ReturnType<typeof openStore>>;

function linesOf(rows: number, secretAt: number): string[] {
  return Array.from({ length: rows }, (_, i) => {
    const noise = Math.imul(i + 1, 0x9e3779b1) >>> 0;
    return i === secretAt ? `login ${noise} ${SECRET}` : `login ${noise} user=${noise % 97}`;
  });
}

async function push({ ask, clock }: Store, app: string, lines: readonly string[]): Promise<void> {
  const values = lines.map((line, i) => [`${BigInt(clock.nowMs() - 1000) * 1_000_000n + BigInt(i)}`, line]);
  await ask('POST', '/loki/api/v1/push', '', { streams: [{ stream: { app }, values }] });
}

async function run({ context, clock }: Store, job: string) {
  const bounds = { untilMs: clock.nowMs() + 60 * MS_PER_MINUTE, signal: new AbortController().signal };
  const outcome = await context.maintenance.jobs.run(job, bounds);
  expect(outcome).toMatchObject({ done: true, failures: [] });
  return outcome;
}

/** Names of files that hold the bytes as they are. */
async function filesWith(bytes: Buffer | string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter(one => one.isFile())) {
    const file = join(entry.parentPath, entry.name);
    if ((await readFile(file)).includes(bytes)) found.push(file);
  }
  return found;
}

/** Chunks, in objects and in records, that hold the text in a line. */
async function chunksWith({ store, catalog }: Store, text: string): Promise<string[]> {
  const found: string[] = [];
  const look = (name: string, bytes: Buffer) => {
    const footer = footerOf(bytes, name);
    for (const page of footer.pages) {
      const stored = bytes.subarray(page.offset, page.offset + page.storedBytes);
      const rows = decodePage(footer, page, stored, { lines: 'bytes', metadata: 'all' }, name);
      if (rows.lines.includes(text)) found.push(name);
    }
  };
  for await (const { key, kind } of listStoredObjects(store)) {
    if (kind === 'chunk') look(key, await store.get(key));
  }
  for (const { records } of await catalog.snapshot(TENANT, 0n, 1n << 62n)) {
    for (const { id, inline } of records) if (inline !== undefined) look(id, inline);
  }
  return found;
}

async function inlineBytes({ catalog }: Store): Promise<Buffer[]> {
  const days = await catalog.snapshot(TENANT, 0n, 1n << 62n);
  return days.flatMap(({ records }) => records.flatMap(({ inline }) => inline ?? []));
}

async function countOf({ ask, clock }: Store, query: string): Promise<number> {
  const end = `${clock.nowMs()}000000`;
  const text = await ask(
    'GET',
    '/loki/api/v1/query_range',
    `query=${encodeURIComponent(query)}&limit=5000&start=${START_MS - 3_600_000}000000&end=${end}`,
  );
  const { result } = JSON.parse(text).data as { result: { values: unknown[] }[] };
  return result.reduce((sum, { values }) => sum + values.length, 0);
}

test('deleted lines are in no file, in no chunk and in no answer; all others are', async () => {
  const store = await openStore();
  try {
    await push(store, 'inline', linesOf(3, 1));
    await push(store, 'large', linesOf(4000, 2000));
    await push(store, 'other', linesOf(4000, -1));
    expect(await chunksWith(store, SECRET)).toHaveLength(2);
    const [inline] = await inlineBytes(store);
    // Line column of the chunk, which a file could still contain.
    const traces = [inline.subarray(0, 60), inline.subarray(60, 120), SECRET];
    expect(await filesWith(traces[0])).not.toEqual([]);

    expect(await countOf(store, SECRET_QUERY)).toBe(2);
    const start = START_MS / 1000 - 3600;
    await store.ask(
      'POST',
      '/loki/api/v1/delete',
      `query=${encodeURIComponent(DELETE_QUERY)}&start=${start}`,
    );
    expect(await countOf(store, SECRET_QUERY)).toBe(0);

    await run(store, 'deletion');
    store.clock.advance(2 * MS_PER_MINUTE);
    expect((await run(store, 'deletion')).figures).toMatchObject({ rewritten: 2, rows: 2 });
    // Queries that began earlier may read the object in its grace period.
    expect(await chunksWith(store, SECRET)).toHaveLength(1);
    store.clock.advance(12 * MS_PER_MINUTE);
    expect((await run(store, 'deletion')).figures).toMatchObject({ processed: 1 });
    await run(store, 'collection');

    expect(await chunksWith(store, SECRET)).toEqual([]);
    for (const trace of traces) expect(await filesWith(trace)).toEqual([]);
    // No delete filter hides it any more: the response shows the stored rows.
    store.clock.advance(30 * MS_PER_MINUTE);
    expect(await countOf(store, SECRET_QUERY)).toBe(0);
    expect(await countOf(store, '{app="inline"}')).toBe(2);
    expect(await countOf(store, '{app="large"}')).toBe(3999);
    expect(await countOf(store, '{app="other"}')).toBe(4000);
    const problems: string[] = [];
    const report = (problem: object) => void problems.push(JSON.stringify(problem));
    await checkStore(store, { full: true, report });
    expect(problems).toEqual([]);
  } finally {
    await store.table.close();
  }
});

test('labels, statistics and volume count only the remaining entries after they were rewritten and indexed', async () => {
  const store = await openStore();
  const range = () => `start=${START_MS - 3_600_000}000000&end=${store.clock.nowMs()}000000`;
  const all = encodeURIComponent('{app=~".+"}');
  const ask = async (path: string, more = '') =>
    JSON.parse(await store.ask('GET', `/loki/api/v1/${path}`, `${range()}${more}`));
  const seen = async () => {
    const { entries, streams } = await ask('index/stats', `&query=${all}`);
    const { result } = (await ask('index/volume', `&query=${all}`)).data as {
      result: { metric: { app: string } }[];
    };
    return {
      values: (await ask('label/app/values')).data,
      series: (await ask('series')).data.map(({ app }: { app: string }) => app).sort(),
      entries,
      streams,
      volumes: result.map(({ metric }) => metric.app).sort(),
    };
  };
  try {
    await push(store, 'kept', linesOf(30, -1));
    await push(store, 'gone', linesOf(40, -1));
    const both = ['gone', 'kept'];
    const before = { values: both, series: both, entries: 70, streams: 2, volumes: both };
    expect(await seen()).toEqual(before);
    const query = encodeURIComponent('{app="gone"}');
    await store.ask('POST', '/loki/api/v1/delete', `query=${query}&start=${START_MS / 1000 - 3600}`);
    // Queries of lines no longer see them; the reported streams change with the stored data.
    expect(await countOf(store, '{app=~".+"}')).toBe(30);
    expect(await seen()).toEqual(before);

    await run(store, 'deletion');
    store.clock.advance(2 * MS_PER_MINUTE);
    await run(store, 'deletion');
    await run(store, 'index-sync');
    const kept = ['kept'];
    expect(await seen()).toEqual({ values: kept, series: kept, entries: 30, streams: 1, volumes: kept });
  } finally {
    await store.table.close();
  }
});

test('lines with one timestamp keep their order when some are deleted and the others are merged', async () => {
  const store = await openStore();
  const ns = `${BigInt(START_MS - 1000) * 1_000_000n}`;
  const linesIn = async (direction: string) => {
    const range = `start=${START_MS - 3_600_000}000000&end=${store.clock.nowMs()}000000`;
    const query = `query=${encodeURIComponent('{app="a"}')}&direction=${direction}&${range}`;
    const { result } = JSON.parse(await store.ask('GET', '/loki/api/v1/query_range', query)).data as {
      result: { values: [string, string][] }[];
    };
    return result.flatMap(({ values }) => values.map(([, line]) => line));
  };
  const expectLines = async (lines: readonly string[]) => {
    expect(await linesIn('forward')).toEqual(lines);
    expect(await linesIn('backward')).toEqual(lines.toReversed());
  };
  try {
    // The second push contains nothing to delete, so it stays unchanged between two that are rewritten.
    const pushes = [
      ['a1', `a2 ${SECRET}`, 'a3'],
      ['b1', 'b2'],
      [`c1 ${SECRET}`, 'c2'],
      ['d1', `d2 ${SECRET}`, 'd3'],
    ];
    for (const lines of pushes) {
      const values = lines.map(line => [ns, line]);
      await store.ask('POST', '/loki/api/v1/push', '', { streams: [{ stream: { app: 'a' }, values }] });
    }
    await expectLines(pushes.flat());
    const query = encodeURIComponent(DELETE_QUERY);
    await store.ask('POST', '/loki/api/v1/delete', `query=${query}&start=${START_MS / 1000 - 3600}`);
    const left = pushes.flat().filter(line => !line.includes(SECRET));
    await expectLines(left);
    await run(store, 'deletion');
    store.clock.advance(2 * MS_PER_MINUTE);
    expect((await run(store, 'deletion')).figures).toMatchObject({ rewritten: 3, rows: 3 });
    await expectLines(left);
    await store.ask('POST', '/flush/tenant', '');
    await expectLines(left);
    expect(
      (await store.catalog.snapshot(TENANT, 0n, 1n << 62n)).flatMap(({ records }) => records),
    ).toHaveLength(1);
  } finally {
    await store.table.close();
  }
});
