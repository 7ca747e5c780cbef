/** The main thread's side of the thread for large queries (query-thread.ts). */
import type { Config } from '../shared/admin/config-fields.ts';
import type { Limits } from '../shared/model/limits.ts';
import type { Asker, EngineCall, QueryAnswer } from '../shared/query/engine.ts';
import { BoardOfThread } from './board-of-thread.ts';
import { entryBeside } from './entry-beside.ts';
import type { QueryThreadCall, QueryThreadData } from './query-thread.ts';
import type { StorageOptions } from './storage.ts';
import { ThreadCalls } from './thread-calls.ts';
import { defaultWorkers } from './worker-pool.ts';

/**
 * Of the caches, what the main thread keeps: small queries are most, and all queries are its own as long as nobody else wants
 * it. Both threads may hold half of what queries may hold together: one of the largest each.
 */
const OWN_CACHE_SHARE = 0.875;
const OWN_MEMORY_SHARE = 0.5;
/** What queries count in memory lies in the heap in part; beside it plans, and results on their way. */
const HEAP_BESIDE_MB = 256;
const MIB = 1024 * 1024;

export interface QueryThread {
  /** For the main thread. */
  readonly own: {
    readonly pageCacheBytes: number;
    readonly resultCacheBytes: number;
    readonly queryMemoryBytes: number;
    /** See TenantLoadOptions: told of a request of the tenant, the thread gives way where it is at queries of another. */
    beginBeside(tenant: string): (() => void) | undefined;
    queriesElsewhere(call: EngineCall, asker: Asker): Promise<QueryAnswer>;
  };
  /** Threads that were started. */
  readonly starts: number;
  close(): Promise<void>;
}

export interface QueryThreadOptions {
  readonly config: Config;
  readonly storage: StorageOptions;
  limitsOf(tenant: string): Limits;
  /** The file of the thread; default: the one beside this. */
  readonly entry?: URL;
}

/** True where cores are too few for workers: then a thread helps those who share the main one. */
export function hasQueryThread(queryWorkers: number, cores?: number): boolean {
  return queryWorkers < 0 && defaultWorkers(cores) === 0;
}

/** The thread starts when the first query is too large for the main one. */
export function createQueryThread({ config, storage, limitsOf, entry }: QueryThreadOptions): QueryThread {
  const { pageCacheBytes, queryResultCacheBytes, queryMemoryBytes } = config.logboom;
  const ownPages = Math.floor(pageCacheBytes * OWN_CACHE_SHARE);
  const ownResults = Math.floor(queryResultCacheBytes * OWN_CACHE_SHARE);
  const ownMemory = Math.floor(queryMemoryBytes * OWN_MEMORY_SHARE);
  const board = new BoardOfThread();
  const data: QueryThreadData = {
    storage,
    retentionEnabled: config.compactor.retentionEnabled,
    pageCacheBytes: pageCacheBytes - ownPages,
    resultCacheBytes: queryResultCacheBytes - ownResults,
    memoryBytes: queryMemoryBytes - ownMemory,
    board: board.memory,
  };
  const calls = new ThreadCalls<QueryThreadCall, QueryAnswer>({
    entry: entry ?? entryBeside('query-thread'),
    data,
    maxHeapMb: Math.ceil(data.memoryBytes / MIB) + HEAP_BESIDE_MB,
  });
  return {
    own: {
      pageCacheBytes: ownPages,
      resultCacheBytes: ownResults,
      queryMemoryBytes: ownMemory,
      queriesElsewhere: async (engine, { signal, ...asker }) => {
        const leave = board.enter(asker.tenants.join('|'));
        try {
          return await calls.call({ engine, asker, limits: asker.tenants.map(limitsOf) }, signal);
        } finally {
          leave();
        }
      },
      beginBeside: tenant => board.begin(tenant),
    },
    get starts() {
      return calls.starts;
    },
    close: () => calls.close(),
  };
}
