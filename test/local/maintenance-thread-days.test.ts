/**
 * Days packed and rewritten on files and SQLite: by the thread that serves, by one beside it whose writes it makes, and by one
 * that writes by itself, as it does on S3. All do the same; then what happens where they are killed, cancelled, or not alone.
 */
import { once } from 'node:events';
import { mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { openFileObjectStore } from '../../local/file-object-store.ts';
import { MaintenanceThread, type MaintenanceThreadOptions } from '../../local/maintenance-thread.ts';
import { objectPath } from '../../local/object-path.ts';
import { openSqliteTable, type SqliteTable } from '../../local/sqlite-table.ts';
import { TABLE_FILE } from '../../local/storage.ts';
import { systemClock, systemIds } from '../../local/system-clock.ts';
import { Catalog } from '../../shared/catalog/catalog.ts';
import { keyOfChunk, readChunk, readFooter } from '../../shared/catalog/chunk-object.ts';
import { NOT_BEGUN } from '../../shared/catalog/delete-request.ts';
import { leaseKey } from '../../shared/catalog/keys.ts';
import { dayLease } from '../../shared/catalog/leases.ts';
import { QUICK_COMPRESSION } from '../../shared/chunk/compression.ts';
import { decodePage } from '../../shared/chunk/reader.ts';
import { Compactor, type CompactorOptions } from '../../shared/compaction/compactor.ts';
import { noRewrites } from '../../shared/compaction/day-rewriter.ts';
import { dayDeletion } from '../../shared/deletion/delete-of-day.ts';
import { MergeDrops } from '../../shared/deletion/merge-drops.ts';
import type { DaysElsewhere } from '../../shared/http/assemble-maintenance.ts';
import { GroupCommitter } from '../../shared/ingest/group-commit.ts';
import { CorruptionError } from '../../shared/model/errors.ts';
import { DEFAULT_LIMITS, type Limits } from '../../shared/model/limits.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../shared/ports/object-store.ts';
import type { Table, Write } from '../../shared/ports/table.ts';
import { dayExpiry } from '../../shared/retention/expire-day.ts';
import { type DatedEntry, identityOf, pushOf } from '../support/pushes.ts';
import { entriesOfPage } from '../support/rows.ts';
import { lowThreads } from '../support/thread-priorities.ts';

const TENANT = 't';
/** Over for years: everything of it may be packed. */
const DAY = 20_000;
const DAY_NS = 86_400_000_000_000n;
const COMPACTION: CompactorOptions = { targetBytes: 1_000_000, inlineMaxBytes: 0, graceMs: 600_000 };
const LEASE_KEY = leaseKey(dayLease(TENANT, DAY));
const forever = new AbortController().signal;
const bounds = { untilMs: Infinity, signal: forever };
const WORK = { tenant: TENANT, day: DAY, force: true, ...bounds };

interface Stores {
  readonly dataDir: string;
  readonly store: ObjectStore;
  readonly table: SqliteTable;
  readonly catalog: Catalog;
  push(entries: readonly DatedEntry[]): Promise<void>;
}

const opened: (() => Promise<unknown>)[] = [];
let limits: Limits;
beforeEach(() => {
  limits = DEFAULT_LIMITS;
});
async function closeAll(): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close();
}
afterEach(closeAll);
afterAll(closeAll);

async function openStores(): Promise<Stores> {
  const dataDir = await mkdtemp(join(tmpdir(), 'logboom-maintenance-'));
  opened.push(() => rm(dataDir, { recursive: true }));
  const store = await openFileObjectStore(dataDir);
  const table = await openSqliteTable(join(dataDir, TABLE_FILE));
  opened.push(() => table.close());
  const catalog = new Catalog({ table, clock: systemClock, ids: systemIds });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: systemClock, ids: systemIds, options });
  const push = async (entries: readonly DatedEntry[]) => {
    await committer.commit(TENANT, pushOf(entries));
  };
  return { dataDir, store, table, catalog, push };
}

/** All that works on the days of the stores, by name. */
const WORKERS: Record<string, (stores: Stores) => DaysElsewhere> = {
  'the thread that serves': ({ store, catalog }) => {
    const [clock, ids] = [systemClock, systemIds];
    const drops = new MergeDrops({
      deletes: catalog.deletes,
      clock,
      limitsOf: () => limits,
      isEnabled: true,
    });
    const rewriter = { catalog, store, clock, ids, options: COMPACTION, drops };
    const compactor = new Compactor(rewriter);
    const compactDay = compactor.compactDay.bind(compactor);
    return { compactDay, ...dayDeletion({ rewriter, store }), ...dayExpiry(rewriter) };
  },
  'a thread whose writes the other makes': stores => threadOn(stores, { table: stores.table }),
  'a thread that writes by itself': stores => threadOn(stores),
};

function threadOn({ dataDir }: Stores, options: Partial<MaintenanceThreadOptions> = {}): MaintenanceThread {
  const thread = new MaintenanceThread({
    storage: { kind: 'embedded', dataDir },
    compaction: COMPACTION,
    removes: true,
    limitsOf: () => limits,
    ...options,
  });
  opened.push(() => thread.close());
  return thread;
}

function entry(i: number, line = `line ${i}`): DatedEntry {
  return { stream: { app: `app-${i % 3}` }, day: DAY, time: i * 1e9, line, metadata: { n: `${i % 5}` } };
}

/** Twelve pushes that overlap; some entries are there twice. */
async function pushAll({ push }: Stores): Promise<DatedEntry[]> {
  const entries: DatedEntry[] = [];
  for (let i = 0; i < 12; i++) {
    const some = Array.from({ length: 40 }, (_, j) => entry(i * 30 + j));
    entries.push(...some);
    await push(some);
  }
  return entries;
}

const identities = (entries: readonly DatedEntry[]) => [...new Set(entries.map(identityOf))].sort();

/** Identities of the entries that are stored, sorted, repeats included. */
async function stored({ store, catalog }: Stores): Promise<string[]> {
  const found: string[] = [];
  for (const record of (await catalog.day(TENANT, DAY))?.records ?? []) {
    const footer = await readFooter(store, record);
    for (const page of footer.pages) {
      const bytes = await readChunk(store, record, page.offset, page.offset + page.storedBytes);
      const rows = decodePage(footer, page, bytes, { lines: 'bytes', metadata: 'all' }, 'a page');
      found.push(...entriesOfPage(rows, BigInt(DAY) * DAY_NS).map(one => identityOf({ ...one, day: DAY })));
    }
  }
  return found.sort();
}

/** What records say that is the same whoever made them. */
async function shapes({ catalog }: Stores): Promise<unknown[]> {
  const { records } = (await catalog.day(TENANT, DAY))!;
  return records
    .map(({ level, rows, lineBytes, first, last }) => ({ level, rows, lineBytes, first, last }))
    .sort((a, b) => a.first - b.first || a.rows - b.rows);
}

function requestOf(query: string) {
  const [startNs, endNs] = [BigInt(DAY) * DAY_NS, BigInt(DAY + 1) * DAY_NS];
  // Behind every chunk that is there.
  const pickedUpMs = systemClock.nowMs() + 1000;
  return {
    ...NOT_BEGUN,
    id: '0000000a',
    tenant: TENANT,
    query,
    startNs,
    endNs,
    intervalNs: 0n,
    createdMs: pickedUpMs - 2000,
    pickedUpMs,
  };
}

/** Everything that is asked of a worker of days, and what comes of it. */
async function course(stores: Stores, days: DaysElsewhere): Promise<unknown[]> {
  const seen: unknown[] = [];
  const lease = (await stores.catalog.leases.take(dayLease(TENANT, DAY), 60_000))!;
  expect(await days.compactDay(WORK)).toMatchObject({ end: 'busy', merges: 0 });
  await stores.catalog.leases.release(lease);
  const { quietUntilMs, outputBytes, inputBytes, ...report } = await days.compactDay(WORK);
  expect([quietUntilMs > 0, outputBytes > 0, inputBytes > 0]).toEqual([true, true, true]);
  seen.push(report, await shapes(stores), await stored(stores));
  seen.push(await days.compactDay({ ...WORK, untilMs: 0 }).then(({ end, merges }) => ({ end, merges })));

  await stores.catalog.deletes.create(requestOf('{app="app-1"} |= "line 4"'));
  const deleted = { ...noRewrites(), readBytes: 0 };
  const end = await days.deleteOfDay({ tenant: TENANT, day: DAY, ...bounds }, deleted);
  seen.push(end, deleted.rows, deleted.looked, deleted.readBytes > 0, await stored(stores));

  limits = { ...limits, retentionStream: [{ selector: '{app="app-2"}', priority: 1, periodNs: DAY_NS }] };
  const expired = noRewrites();
  const { retentionPeriodNs, retentionStream } = limits;
  const retention = { retentionPeriodNs, retentionStream };
  const work = {
    tenant: TENANT,
    day: DAY,
    ...bounds,
    removedGraceMs: 1,
    retention,
    nowNs: systemClock.nowNs(),
  };
  seen.push(await days.expireDay(work, expired), expired.rows, expired.removed, await stored(stores));
  // Of merges too: what is pushed late goes with the rules as they are now.
  await stores.push([entry(500), entry(501), entry(502)]);
  seen.push(await days.compactDay(WORK).then(({ dropped, merges }) => ({ dropped, merges })));
  seen.push(await stored(stores));
  return seen;
}

test('all workers of days do the same, and it is right', async () => {
  const courses: unknown[][] = [];
  for (const make of Object.values(WORKERS)) {
    limits = DEFAULT_LIMITS;
    const stores = await openStores();
    const pushed = await pushAll(stores);
    const seen = await course(stores, make(stores));
    courses.push(seen);
    if (courses.length > 1) continue;
    const all = identities(pushed);
    expect(seen[0]).toMatchObject({
      merges: 1,
      rows: all.length,
      duplicates: 110,
      dropped: 0,
      end: 'settled',
    });
    expect(seen[2]).toEqual(all);
    const left = pushed.filter(({ stream, line }) => !(stream.app === 'app-1' && line.includes('line 4')));
    expect(seen.slice(4, 6)).toEqual(['done', all.length - identities(left).length]);
    expect(seen[8]).toEqual(identities(left));
    const kept = left.filter(({ stream }) => stream.app !== 'app-2');
    expect(seen[12]).toEqual(identities(kept));
    expect(seen[14]).toEqual(
      identities([...kept, entry(501), entry(502)].filter(one => one.stream.app !== 'app-2')),
    );
  }
  expect(courses[1]).toEqual(courses[0]);
  expect(courses[2]).toEqual(courses[0]);
});

const [HERE, FORWARDING, BY_ITSELF] = Object.keys(WORKERS);

test.each([HERE, FORWARDING])(
  '%s packs what can be packed and tells of broken chunks by their error',
  async name => {
    const stores = await openStores();
    await pushAll(stores);
    const { records } = (await stores.catalog.day(TENANT, DAY))!;
    const file = objectPath(join(stores.dataDir, 'objects'), keyOfChunk(records[0]));
    const bytes = await readFile(file);
    const damaged = Buffer.from(bytes);
    damaged[10] ^= 0xff;
    const days = WORKERS[name](stores);
    await writeFile(file, damaged);
    const broken: unknown = await days.compactDay(WORK).catch((error: unknown) => error);
    expect(broken).toBeInstanceOf(CorruptionError);
    expect(broken).toMatchObject({
      name: 'CorruptionError',
      message: expect.stringContaining(records[0].id),
    });
    expect((await stores.catalog.day(TENANT, DAY))!.records).toHaveLength(2);
    await unlink(file);
    await pushAll(stores);
    const missing: unknown = await days.compactDay(WORK).catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(ObjectNotFoundError);
    expect((missing as Error).message).toContain(records[0].id);
  },
);

test.each([FORWARDING, BY_ITSELF])(
  '%s packs while pushes come in: nothing is lost, nothing fails',
  async name => {
    const stores = await openStores();
    const days = WORKERS[name](stores);
    const pushed: DatedEntry[] = [];
    let isOver = false;
    const packing = (async () => {
      let merges = 0;
      do merges += (await days.compactDay(WORK)).merges;
      while (!isOver);
      return merges;
    })();
    for (let i = 0; i < 60; i++) {
      const some = Array.from({ length: 4 }, (_, sender) => [
        entry(i * 8 + sender),
        entry(i * 8 + sender + 4),
      ]);
      pushed.push(...some.flat());
      await Promise.all(some.map(entries => stores.push(entries)));
    }
    isOver = true;
    expect(await packing).toBeGreaterThan(0);
    await days.compactDay(WORK);
    expect(await stored(stores)).toEqual(identities(pushed));
    // The large one may be left alone: what came behind it is not worth rewriting it.
    expect((await stores.catalog.day(TENANT, DAY))!.records.length).toBeLessThanOrEqual(2);
  },
);

const identitiesOf = (found: readonly string[]) => [...new Set(found)];

/** A table whose writes may be held back: those that `holds` takes wait, and `reached` tells that one does. */
function gated(table: Table, holds: (writes: readonly Write[]) => boolean) {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transact = async (writes: readonly Write[]) => {
    if (holds(writes)) {
      reached.resolve();
      await gate.promise;
    }
    await table.transact(writes);
  };
  return { table: { ...table, transact }, reached: reached.promise, open: () => gate.resolve() };
}

const isSwap = (writes: readonly Write[]) => writes.length > 1;
const isLease = ([write]: readonly Write[]) => write.kind === 'put' && write.item.pk.startsWith('l/');

test('cancelled in the middle it gives its lease back, and rejects with the reason', async () => {
  const stores = await openStores();
  const pushed = await pushAll(stores);
  const { table, reached, open } = gated(stores.table, isLease);
  const thread = threadOn(stores, { table });
  const cancel = new AbortController();
  const packing = thread.compactDay({ ...WORK, signal: cancel.signal });
  packing.catch(() => undefined);
  await reached;
  const reason = new Error('the store stops');
  cancel.abort(reason);
  open();
  await expect(packing).rejects.toBe(reason);
  expect((await stores.catalog.day(TENANT, DAY))!.records).toHaveLength(12);
  expect(await stores.catalog.leases.take(dayLease(TENANT, DAY), 1)).toBeDefined();
  expect(identitiesOf(await stored(stores))).toEqual(identities(pushed));
});

test('closed in the middle it ends what it is at first', async () => {
  const stores = await openStores();
  await pushAll(stores);
  const { table, reached, open } = gated(stores.table, isLease);
  const thread = threadOn(stores, { table });
  const packing = thread.compactDay(WORK);
  packing.catch(() => undefined);
  await reached;
  const closing = thread.close();
  open();
  await closing;
  await expect(packing).rejects.toThrow('the maintenance thread is stopped');
  expect(await stores.catalog.leases.take(dayLease(TENANT, DAY), 1)).toBeDefined();
});

test('killed in the middle of a merge it leaves its inputs, and its lease until that ends', async () => {
  const stores = await openStores();
  const pushed = await pushAll(stores);
  // The first step of a swap: objects are written, and nothing names them.
  const { table, reached } = gated(stores.table, isSwap);
  let current: Table = table;
  const thread = threadOn(stores, {
    table: { ...table, transact: writes => current.transact(writes) },
  });
  const packing = thread.compactDay(WORK);
  packing.catch(() => undefined);
  await reached;
  await (thread as unknown as { worker: Worker }).worker.terminate();
  await expect(packing).rejects.toMatchObject({ name: 'MaintenanceThreadLostError' });
  expect((await stores.catalog.day(TENANT, DAY))!.records).toHaveLength(12);
  current = stores.table;
  expect(await thread.compactDay(WORK)).toMatchObject({ end: 'busy' });
  // As when its time is over.
  await stores.table.delete(LEASE_KEY);
  expect(await thread.compactDay(WORK)).toMatchObject({ end: 'settled', merges: 1 });
  expect(thread.starts).toBe(2);
  expect(await stored(stores)).toEqual(identities(pushed));
});

test('killed inside a transaction of its own a thread leaves no lock', async () => {
  const { dataDir, table } = await openStores();
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(workerData);
    const insert = database.prepare("INSERT INTO items VALUES ('p', 'half', 0, NULL, x'00')");
    database.exec('BEGIN IMMEDIATE');
    insert.run();
    parentPort.postMessage('locked');
    for (;;);`;
  const worker = new Worker(code, { eval: true, workerData: join(dataDir, TABLE_FILE) });
  await once(worker, 'message');
  const waits = table.put({ pk: 'p', sk: 'whole', version: 0, body: new Uint8Array(1) });
  await worker.terminate();
  await waits;
  expect((await table.query('p')).items.map(({ sk }) => sk)).toEqual(['whole']);
});

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('has a lower priority, alone of all threads', async () => {
  const before = await lowThreads();
  await threadOn(await openStores()).compactDay(WORK);
  expect(await lowThreads()).toBe(before + 1);
});
