/** The thread for large queries over real files and a real table, beside the thread that pushes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createQueryThread, hasQueryThread, type QueryThread } from '../../local/query-thread-client.ts';
import { openStorage, type Storage } from '../../local/storage.ts';
import { systemClock, systemIds } from '../../local/system-clock.ts';
import { parseConfig } from '../../shared/admin/config.ts';
import { Catalog } from '../../shared/catalog/catalog.ts';
import { NOT_BEGUN } from '../../shared/catalog/delete-request.ts';
import { QUICK_COMPRESSION } from '../../shared/chunk/compression.ts';
import { GroupCommitter } from '../../shared/ingest/group-commit.ts';
import { DEFAULT_LIMITS } from '../../shared/model/limits.ts';
import { ChunkSource } from '../../shared/query/chunk-source.ts';
import { type Asker, QueryEngine } from '../../shared/query/engine.ts';
import { asker, DAY, DAY_START_NS, rangeQuery } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';
import { lowThreads } from '../support/thread-priorities.ts';

const LINES = 300;
const range = { startNs: DAY_START_NS, endNs: DAY_START_NS + 600_000_000_000n };
/** What a day of them is deleted for does not matter here, their times lie long ago. */
const limits = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n };
let dataDir: string;
let storage: Storage;
let catalog: Catalog;
let thread: QueryThread;
let push: (tenant: string, text: string) => Promise<unknown>;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'logboom-query-thread-'));
  const options = { kind: 'embedded', dataDir } as const;
  storage = await openStorage(options);
  catalog = new Catalog({ table: storage.table, clock: systemClock, ids: systemIds });
  const grouping = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 4096, compression: QUICK_COMPRESSION };
  const parts = { store: storage.store, catalog, clock: systemClock, ids: systemIds, options: grouping };
  const committer = new GroupCommitter(parts);
  push = (tenant, text) => {
    const entries = Array.from({ length: LINES }, (_, i) => ({
      stream: { app: i % 2 === 0 ? 'a' : 'b' },
      day: DAY,
      time: i * 1_000_000_000,
      line: `n=${i} ${text}`,
      metadata: { trace: `${i % 3}` },
    }));
    return committer.commit(tenant, pushOf(entries));
  };
  const { config } = parseConfig('', { name: 'test.yaml', environment: {} });
  thread = createQueryThread({ config, storage: options, limitsOf: () => limits });
  await push('t', 'before');
});

afterAll(async () => {
  await thread.close();
  await storage.close();
  await rm(dataDir, { recursive: true });
});

const ask = (text: string, who: Asker = asker({ limits })) =>
  thread.own.queriesElsewhere({ kind: 'range', query: rangeQuery(text, range) }, who);

const here = (text: string, who: Asker = asker({ limits })) =>
  new QueryEngine({ catalog, source: new ChunkSource(storage.store), clock: systemClock }).range(
    rangeQuery(text, range),
    who,
  );

test.each([
  '{app=~".+"} | logfmt | n > 3',
  'sum by (app, trace) (count_over_time({app=~".+"} |~ "n=.*1" [1m]))',
  'topk(1, sum by (app) (rate({app=~".+"} | logfmt | n > 7 or trace="1" [1m]))) or vector(3)',
  'quantile_over_time(0.9, {app=~".+"} | logfmt | unwrap n [30s]) by (app)',
])('%s is answered as it is here, with the same statistics', async text => {
  const [{ result, statistics }, expected] = await Promise.all([ask(text), here(text)]);
  expect(result).toEqual(expected.result);
  const { lines, lineBytes, chunksRead, postFilterLines } = expected.statistics;
  expect(statistics).toMatchObject({ lines, lineBytes, chunksRead, postFilterLines });
});

test('an instant query too, and several tenants at once', async () => {
  await push('other', 'of another');
  const who = asker({ limits, tenants: ['other', 't'] });
  const { expr } = rangeQuery('sum by (__tenant_id__) (count_over_time({app="a"} |= "n=" [11m]))');
  const query = { text: '', expr, timeNs: range.endNs };
  const { result } = await thread.own.queriesElsewhere({ kind: 'instant', query }, who);
  expect(result).toMatchObject({
    kind: 'vector',
    samples: [
      { labels: [{ name: '__tenant_id__', value: 'other' }], value: LINES / 2 },
      { labels: [{ name: '__tenant_id__', value: 't' }], value: LINES / 2 },
    ],
  });
});

test('what is pushed, and deleted, is seen by the next query', async () => {
  const count = async (tenant: string) => {
    const { result } = await ask(
      'sum(count_over_time({app=~".+"} |= "n=" [10m]))',
      asker({ limits, tenants: [tenant] }),
    );
    if (result.kind !== 'matrix') throw new Error(result.kind);
    return result.series[0]?.values.at(-1);
  };
  await push('mine', 'first');
  const first = await count('mine');
  expect(first).toBeGreaterThan(0);
  await push('mine', 'second');
  expect(await count('mine')).toBe(2 * first!);
  await catalog.deletes.create({
    ...NOT_BEGUN,
    id: '00000001',
    tenant: 'mine',
    query: '{app=~".+"} |= "second"',
    startNs: range.startNs,
    endNs: range.endNs,
    intervalNs: 0n,
    createdMs: systemClock.nowMs() - 1,
  });
  expect(await count('mine')).toBe(first);
});

test('mistakes are told in the words of the engine', async () => {
  await expect(
    ask('count_over_time({app="a"} | logfmt [1m])', asker({ limits: { ...limits, maxQuerySeries: 5 } })),
  ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('maximum number of series (5)') });
});

test('it gives way to requests of other tenants than those whose queries it is at', async () => {
  const { beginBeside } = thread.own;
  expect(beginBeside('t')).toBeUndefined();
  const first = ask('{app=~".+"} | logfmt | n > 3');
  expect(beginBeside('t')).toBeUndefined();
  const end = beginBeside('other');
  expect(end).toBeDefined();
  // It waits for the request, but not for ever.
  await first;
  end!();
  const [second, third] = ['t', 'other'].map(tenant =>
    ask('{app=~".+"} | logfmt | n > 3', asker({ limits, tenants: [tenant] })),
  );
  beginBeside('t')!();
  await Promise.all([second, third]);
  expect(beginBeside('other')).toBeUndefined();
});

test('the thread stands behind the others of its process, and there was one for all', async () => {
  expect(thread.starts).toBe(1);
  if (process.platform !== 'linux') return;
  expect(await lowThreads()).toBe(1);
});

test.each([
  [-1, 1, true],
  [-1, 2, true],
  [-1, 3, false],
  [0, 2, false],
  [1, 2, false],
])('with query_workers %s on %s cores there is such a thread: %s', (workers, cores, expected) => {
  expect(hasQueryThread(workers, cores)).toBe(expected);
});
