/**
 * Ten thousand small pushes (one thousand in the fast suite), each a separate chunk, on the embedded stores:
 * a flush merges them into few well-compressed objects, loses or doubles no entry, and deletes what is no
 * longer needed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openStorage } from '../../local/storage.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { assembleMaintenance } from '../../shared/server/http/assemble-maintenance.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { keyOfChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { listStoredObjects } from '../../shared/storage/catalog/stored-objects.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY, rangeQuery, requester } from '../support/engine.ts';
import { pushOf } from '../support/pushes.ts';
import { bySuite } from '../support/suite.ts';

const PUSHES = bySuite({ fast: 1000, full: 10_000 });
const STREAMS = 20;
const PUSHES_AT_ONCE = 50;

test(`${PUSHES} pushes of 1 KB end as few objects`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'logboom-small-'));
  const storage = await openStorage({ kind: 'embedded', dataDir: folder });
  try {
    const clock = SYSTEM_CLOCK;
    const { store } = storage;
    const parts = { table: storage.table, clock, ids: SYSTEM_IDS };
    const catalog = new Catalog(parts);
    const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 4096, compression: QUICK_COMPRESSION };
    const committer = new GroupCommitter({ store, catalog, clock, ids: SYSTEM_IDS, options });
    const lineOf = (push: number) => `push ${push} ${String(push % 97).repeat(900)}`;
    const pushOne = (push: number) =>
      committer.commit(
        't',
        pushOf([
          {
            stream: { app: `app-${push % STREAMS}` },
            day: DAY,
            time: push * 1_000_000,
            line: lineOf(push),
            metadata: {},
          },
        ]),
      );
    for (let i = 0; i < PUSHES; i += PUSHES_AT_ONCE) {
      await Promise.all(Array.from({ length: PUSHES_AT_ONCE }, (_, j) => pushOne(i + j)));
    }
    expect((await catalog.day('t', DAY))!.records).toHaveLength(PUSHES);

    const indexes = new DayIndexes({ store, onBroken: () => undefined });
    const config = { ...DEFAULT_CONFIG, logboom: { ...DEFAULT_CONFIG.logboom, objectGraceMs: 0 } };
    const maintenance = assembleMaintenance({ config, store, catalog, indexes, clock, ids: SYSTEM_IDS });
    const bounds = { untilMs: Infinity, signal: new AbortController().signal };
    expect(await maintenance.flushTenant('t', bounds, async () => true)).toBe(true);
    const { records } = (await catalog.day('t', DAY))!;
    expect(records.length).toBeLessThanOrEqual(3);
    const [largest] = [...records].sort((a, b) => b.rows - a.rows);
    expect(largest.rows).toBeGreaterThan(PUSHES * 0.6);
    expect(records.reduce((sum, { rows }) => sum + rows, 0)).toBe(PUSHES);

    const engine = new QueryEngine({ catalog, source: new ChunkSource(store), clock, indexes });
    const limits = { ...requester().limits, maxEntriesLimitPerQuery: 0 };
    const query = rangeQuery('{app=~".+"}', { limit: PUSHES + 1 });
    const { result } = await engine.range(query, requester({ limits }));
    if (result.kind !== 'streams') throw new Error(`got a ${result.kind}`);
    const lines = result.streams.flatMap(({ entries }) => entries.map(({ line }) => line));
    expect(lines.sort()).toEqual(Array.from({ length: PUSHES }, (_, i) => lineOf(i)).sort());

    // After the grace period, which is zero here, only objects of the catalog are left.
    const run = await maintenance.jobs.run('collection', { ...bounds, untilMs: Infinity });
    expect(run.failures).toEqual([]);
    const left = new Set<string>();
    for await (const { key, kind } of listStoredObjects(store)) if (kind === 'chunk') left.add(key);
    expect(left).toEqual(new Set(records.filter(({ inline }) => inline === undefined).map(keyOfChunk)));
  } finally {
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  }
});
