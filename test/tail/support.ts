/** A store in memory for tails: several processes over one table, virtual time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { MS_PER_DAY } from '../../shared/base/model/time-units.ts';
import type { Connections } from '../../shared/base/ports/connections.ts';
import { seededIds, type VirtualClock } from '../../shared/base/ports/memory/clock.ts';
import { type MemoryConnections, memoryConnections } from '../../shared/base/ports/memory/connections.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import type { TenantTailParts } from '../../shared/read/tail/tail-parts.ts';
import { TailService } from '../../shared/read/tail/tail-service.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { assembleMaintenance } from '../../shared/server/http/assemble-maintenance.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { pushOf } from '../support/pushes.ts';

export const TENANT = 'acme';
const OWNER = 'owner';

export interface Shared {
  readonly clock: VirtualClock;
  readonly store: ReturnType<typeof memoryObjectStore>;
  readonly table: Table;
  readonly connections: MemoryConnections;
}

export function sharedParts(clock: VirtualClock): Shared {
  return {
    clock,
    store: memoryObjectStore(),
    table: memoryTable({ clock }),
    connections: memoryConnections({ clock }),
  };
}

interface ProcessOptions {
  readonly seed: number;
  readonly joinMs?: number;
  readonly savesCursor?: boolean;
  readonly limits?: Partial<Limits>;
  readonly table?: Table;
  readonly connections?: Connections;
  readonly inlineMaxBytes?: number;
}

/** Parts of one process: its knowledge, caches and IDs. */
export function processOver(shared: Shared, options: ProcessOptions) {
  const { clock, store } = shared;
  const { connections = shared.connections } = options;
  const { seed, joinMs = 2500, savesCursor = true, table = shared.table, inlineMaxBytes = 4096 } = options;
  const ids = seededIds(seed);
  const catalog = new Catalog({ table, clock, ids });
  const source = new ChunkSource(store);
  const grouping = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options: grouping });
  // Virtual time runs far ahead of work in threads.
  const queryTimeoutNs = 86_400_000_000_000n;
  const limitsOf = () => ({ ...DEFAULT_LIMITS, queryTimeoutNs, ...options.limits });
  const failures: unknown[] = [];
  const parts: TenantTailParts = {
    catalog,
    source,
    clock,
    connections,
    limitsOf,
    log: {
      warn: fields => failures.push(fields),
      error: fields => failures.push(fields),
    },
    owner: OWNER,
    frames: { targetBytes: 32_000, maxBytes: 128_000 },
    joinMs,
    maxDurationMs: 0,
    savesCursor,
  };
  const indexes = new DayIndexes({ store, onBroken: () => undefined });
  const maintenance = assembleMaintenance({ config: DEFAULT_CONFIG, store, catalog, indexes, clock, ids });
  return {
    catalog,
    parts,
    failures,
    service: new TailService({ catalog, connections, clock, owner: OWNER, limitsOf }),
    /** Resolves when it is acknowledged. Times are `agoMs` before now. */
    push: (lines: readonly string[], { agoMs = 0, app = 'a' } = {}) => {
      const nowMs = clock.nowMs() - agoMs;
      const day = Math.floor(nowMs / MS_PER_DAY);
      const time = (nowMs - day * MS_PER_DAY) * 1e6;
      const entries = lines.map((line, i) => ({ stream: { app }, day, time: time + i, line, metadata: {} }));
      return committer.commit(TENANT, pushOf(entries));
    },
    compact: () =>
      maintenance.jobs.tick('compaction', {
        untilMs: clock.nowMs() + 60_000,
        signal: new AbortController().signal,
      }),
  };
}

export function requestFor(clock: VirtualClock, query = '{app="a"}', limit = 5000) {
  return {
    tenant: TENANT,
    query,
    form: 'current' as const,
    flags: [],
    limit,
    startNs: clock.nowNs() - 3_600_000_000_000n,
    delayMs: 0,
  };
}

/**
 * Real iterations of the event loop for each step of the clock, because threads compress and decompress chunks.
 */
const TURNS = 25;
const MOVE_MS = 200;

/** Moves time until the work settles. Unlike `clock.run` it does not jump to the next sleeper, which may be a time-out. */
export async function drive<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isSettled = false;
  const mark = (): void => {
    isSettled = true;
  };
  work.then(mark, mark);
  while (!isSettled) {
    for (let turn = 0; turn < TURNS && !isSettled; turn++) await nextTurn();
    if (!isSettled) await clock.advance(MOVE_MS);
  }
  return work;
}

/** Lines of frames, in the order of arrival. */
export function linesOf(messages: readonly string[]): string[] {
  return messages.flatMap(message =>
    (JSON.parse(message) as { streams: { values: [string, string][] }[] }).streams.flatMap(({ values }) =>
      values.map(([, line]) => line),
    ),
  );
}
