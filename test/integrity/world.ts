/** A whole store in memory whose table can be lost or set back, and whose bytes can be damaged: for tests of the doctor. */

import { MS_PER_HOUR, NS_PER_DAY, NS_PER_MS } from '../../shared/base/model/time-units.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Table, Write } from '../../shared/base/ports/table.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { decodePage, footerOf } from '../../shared/storage/chunk/reader.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { Syncer } from '../../shared/storage/index/syncer.ts';
import { collectGarbage } from '../../shared/upkeep/compaction/collector.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { type CheckTotals, checkStore } from '../../shared/upkeep/integrity/check-store.ts';
import type { Problem } from '../../shared/upkeep/integrity/problem.ts';
import { type RebuildTotals, rebuildCatalog } from '../../shared/upkeep/integrity/rebuild-catalog.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY, rangeQuery, requester } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';
import { entriesOfPage, streamOf } from '../support/rows.ts';

const SIGNAL = new AbortController().signal;
/** Grace period of merge inputs. */
export const GRACE_MS = 2 * MS_PER_HOUR;
/** Over 20 minutes: older data does not belong to a commit in progress. */
export const SETTLED_MS = 1_500_000;

/** Time passes when a caller sleeps, or on request. */
function steppedClock(): Clock & { advance(ms: number): void } {
  let nowMs = (DAY + 1) * 86_400_000 + MS_PER_HOUR;
  return {
    nowMs: () => nowMs,
    nowNs: () => BigInt(nowMs) * NS_PER_MS,
    sleep: async ms => {
      nowMs += ms;
    },
    advance: ms => {
      nowMs += ms;
    },
  };
}

/** Compared part of a query's result: entries without structured metadata. */
export function answerText({ stream, day, time, line }: DatedEntry): string {
  return `${streamOf(stream).text} ${BigInt(day) * NS_PER_DAY + BigInt(time)} ${line}`;
}

export function createWorld(seed = 1, inlineMaxBytes = 300) {
  const clock = steppedClock();
  const ids = seededIds(seed);
  /** Distant: keys of new objects begin with hashed characters. */
  const store = { ...memoryObjectStore(), isDistant: false as boolean };
  let journal: Write[][] = [];
  let parts = build(memoryTable({ clock }));

  function build(table: Table) {
    const recorded = recording(table, writes => journal.push(writes));
    const catalog = new Catalog({ table: recorded, clock, ids });
    const grouping = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes, compression: QUICK_COMPRESSION };
    return {
      table: recorded,
      catalog,
      committer: new GroupCommitter({ store, catalog, clock, ids, options: grouping }),
      engine: new QueryEngine({ catalog, source: new ChunkSource(store), clock }),
      indexes: new DayIndexes({ store, onBroken: () => undefined }),
    };
  }

  async function setTable(writes: readonly Write[][]): Promise<void> {
    const table = memoryTable({ clock });
    journal = writes.slice();
    for (const group of writes) {
      // Their conditions held once.
      const bare = group
        .filter(write => write.kind !== 'check')
        .map(write => ({ ...write, condition: undefined }));
      await table.transact(bare);
    }
    parts = build(table);
  }

  return {
    clock,
    ids,
    store,
    get parts() {
      return { ...parts, store, clock, ids };
    },
    get journal(): readonly Write[][] {
      return journal.slice();
    },
    setTable,
    loseTable: () => setTable([]),
    setDistant: (isDistant: boolean) => {
      store.isDistant = isDistant;
    },
    push: (entries: readonly DatedEntry[], tenant = 't') => parts.committer.commit(tenant, pushOf(entries)),

    async compact(tenant = 't', through: ObjectStore = store) {
      const options = { targetBytes: 1 << 20, inlineMaxBytes, graceMs: GRACE_MS };
      const compactor = new Compactor({ catalog: parts.catalog, store: through, clock, ids, options });
      return compactor.compactDay({ tenant, day: DAY, force: true, untilMs: Infinity, signal: SIGNAL });
    },

    sync(tenant = 't') {
      const syncer = new Syncer({ ...parts, store, clock, ids, graceMs: GRACE_MS });
      return syncer.syncDay({ tenant, day: DAY, force: true, untilMs: Infinity, signal: SIGNAL });
    },

    collect: () =>
      collectGarbage({ catalog: parts.catalog, store, clock }, { untilMs: Infinity, signal: SIGNAL }),

    /** Ascending. Throws what the query throws. */
    async ask(tenant = 't', query = '{app=~".+"}'): Promise<string[]> {
      const engine = new QueryEngine({ catalog: parts.catalog, source: new ChunkSource(store), clock });
      const { result } = await engine.range(
        rangeQuery(query, { limit: 5000 }),
        requester({ tenants: [tenant] }),
      );
      if (result.kind !== 'streams') throw new Error(`got a ${result.kind}`);
      const { streams } = result;
      return streams
        .flatMap(({ text, entries }) => entries.map(one => `${text} ${one.timeNs} ${one.line}`))
        .sort();
    },

    async check(full = true): Promise<{ totals: CheckTotals; problems: Problem[]; orphans: Problem[] }> {
      const all: Problem[] = [];
      const totals = await checkStore({ ...parts, store, clock }, { full, report: one => all.push(one) });
      const orphans = all.filter(({ kind }) => kind === 'orphan');
      return { totals, problems: all.filter(({ kind }) => kind !== 'orphan'), orphans };
    },

    async rebuild(
      includeRecent = true,
      forgetMissing = false,
    ): Promise<{ totals: RebuildTotals; problems: Problem[] }> {
      const problems: Problem[] = [];
      const options = { includeRecent, forgetMissing, report: (one: Problem) => problems.push(one) };
      return { totals: await rebuildCatalog({ ...parts, store, clock }, options), problems };
    },

    keys: async (prefix = '') => (await store.list(prefix)).objects.map(({ key }) => key),

    /** Entries of all chunk objects, each once, as answers have them; ascending. */
    async stored(tenant = 't'): Promise<string[]> {
      const found = new Set<string>();
      for (const { key } of (await store.list('')).objects) {
        if (!`/${key}`.includes(`/${tenant}/chunks/`)) continue;
        const object = await store.get(key);
        const footer = footerOf(object, key);
        for (const page of footer.pages) {
          const bytes = object.subarray(page.offset, page.offset + page.storedBytes);
          const rows = decodePage(footer, page, bytes, { lines: 'bytes', metadata: 'all' }, key);
          const start = BigInt(footer.day) * NS_PER_DAY;
          for (const one of entriesOfPage(rows, start)) found.add(answerText({ ...one, day: footer.day }));
        }
      }
      return [...found].sort();
    },

    /** Puts other bytes in the place of an object. */
    async change(key: string, change: (object: Buffer) => Buffer): Promise<void> {
      const object = await store.get(key);
      await store.delete(key);
      await store.putIfAbsent(key, change(object));
    },
  };
}

export type World = ReturnType<typeof createWorld>;

/** Writes that happened. */
function recording(table: Table, record: (writes: Write[]) => void): Table {
  return {
    get: key => table.get(key),
    query: (pk, options) => table.query(pk, options),
    async put(item, condition) {
      await table.put(item, condition);
      record([{ kind: 'put', item }]);
    },
    async delete(key, condition) {
      await table.delete(key, condition);
      record([{ kind: 'delete', key }]);
    },
    async transact(writes) {
      await table.transact(writes);
      record(writes.slice());
    },
  };
}

/** Entries of which some are pushed inline and some as objects. */
export function batch(name: string, rows: number, firstTime = 0, app = 'a'): DatedEntry[] {
  return Array.from({ length: rows }, (_, i) => ({
    stream: { app },
    day: DAY,
    time: firstTime + i * 1_000_000_000,
    // Hardly compressible, so that sizes follow rows.
    line: `${name} ${i} ${Math.imul(i + 1, 0x9e3779b1) >>> 0} ${Math.imul(i + name.length, 0x85ebca6b) >>> 0}`,
    metadata: {},
  }));
}
