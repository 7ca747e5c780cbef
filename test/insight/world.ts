/** A store in memory with its maintenance, and what volumes and statistics of plain entries must be: the model. */
import fc from 'fast-check';
import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Insight } from '../../shared/read/insight/insight.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { Visibility } from '../../shared/read/query/visibility.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { Syncer } from '../../shared/storage/index/syncer.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { requester } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';

export const DAY = 20_000;
export const START_NS = BigInt(DAY) * NS_PER_DAY;
const bounds = () => ({ untilMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal });

export function makeWorld({
  inlineMaxBytes = 0,
  limits = DEFAULT_LIMITS,
}: {
  inlineMaxBytes?: number;
  limits?: Limits;
} = {}) {
  const clock = virtualClock((DAY + 3) * 86_400_000);
  const ids = seededIds(1);
  const objects = memoryObjectStore();
  const reads: string[] = [];
  const store = {
    ...objects,
    getRange: (key: string, start: number, end: number) => {
      reads.push(key);
      return objects.getRange(key, start, end);
    },
  };
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options });
  const source = new ChunkSource(store);
  const broken: Error[] = [];
  const indexes = new DayIndexes({ store, onBroken: error => void broken.push(error) });
  const graceMs = 1000;
  const work = { targetBytes: 1_000_000, inlineMaxBytes, graceMs };
  const compactor = new Compactor({ catalog, store, clock, ids, options: work });
  const syncer = new Syncer({ catalog, store, clock, ids, indexes, graceMs });
  const deleteFilters = { filtersOf: () => Promise.reject(new Error('volumes ask for no delete requests')) };
  const visibility = new Visibility({
    deleteFilters: deleteFilters as never,
    limitsOf: () => limits,
    enabled: true,
  });
  const insightOf = () => new Insight({ catalog, source, clock, indexes, visibility });
  let insight = insightOf();
  return {
    clock,
    store,
    reads,
    broken,
    indexes,
    insight: () => insight,
    forget: () => {
      insight = insightOf();
    },
    push: (entries: readonly DatedEntry[], tenant = 't') =>
      clock.run(committer.commit(tenant, pushOf(entries))),
    compact: (day: number) => compactor.compactDay({ tenant: 't', day, force: true, ...bounds() }),
    sync: (day: number) => syncer.syncDay({ tenant: 't', day, force: true, ...bounds() }),
  };
}

export type World = ReturnType<typeof makeWorld>;

/** A requester without a limit on the length of the range. */
export const who = (more: Partial<Limits> = {}, tenants = ['t']) =>
  requester({ tenants, limits: { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n, ...more } });

export const nsOf = ({ day, time }: DatedEntry): bigint => BigInt(day) * NS_PER_DAY + BigInt(time);

/** Volume as the store counts it, without the name of the level. */
export function volumeOf({ line, metadata }: DatedEntry): number {
  const pairs = Object.entries(metadata).map(([name, value]) =>
    name === 'detected_level' ? value.length : name.length + value.length,
  );
  return Buffer.byteLength(line) + pairs.reduce((sum, bytes) => sum + bytes, 0);
}

/** No two at the same time, none at the end of a minute, each with a level. */
export function arbitraryHistory(): fc.Arbitrary<DatedEntry[]> {
  const entry = fc.record({
    stream: fc.record({ app: fc.constantFrom('a', 'b', 'c'), pod: fc.constantFrom('1', '2') }),
    day: fc.constantFrom(DAY, DAY + 1),
    time: fc
      // Some are close enough for one run of their stream.
      .tuple(
        fc.oneof(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 600, max: 720 })),
        fc.integer({ min: 1, max: 59 }),
      )
      .map(([minute, second]) => (minute * 60 + second) * 1e9),
    line: fc.string({ maxLength: 40 }),
    metadata: fc.record({
      detected_level: fc.constantFrom('info', 'error', 'unknown'),
      trace: fc.constantFrom('a', 'abcdefgh'),
    }),
  });
  return fc.uniqueArray(entry, { minLength: 1, maxLength: 40, selector: one => `${one.day} ${one.time}` });
}
