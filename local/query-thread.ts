/**
 * The thread that answers large queries while others want the main one: an engine of its own, over connections and caches of its
 * own. It works on all that it is asked at once, tenants in turns, and gives way to small requests of others in the main thread. Runs
 * from the source tree and from the package.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Catalog } from '../shared/catalog/catalog.ts';
import { MaskSource } from '../shared/deletion/masks.ts';
import type { Limits } from '../shared/model/limits.ts';
import { LruCache } from '../shared/model/lru.ts';
import { ChunkSource } from '../shared/query/chunk-source.ts';
import { type Asker, type EngineCall, type QueryAnswer, QueryEngine } from '../shared/query/engine.ts';
import { PageCache } from '../shared/query/page-cache.ts';
import { QueryMemory } from '../shared/query/query-memory.ts';
import { RequestBoard } from '../shared/query/request-board.ts';
import { ScanTurns } from '../shared/query/scan-turns.ts';
import { AnswerCache } from '../shared/query/tasks/answer-cache.ts';
import { failureOf } from '../shared/query/tasks/task-failure.ts';
import { Visibility } from '../shared/query/visibility.ts';
import { openStorage, SMALL_TABLE_CACHE_BYTES, type StorageOptions } from './storage.ts';
import { systemClock, systemIds } from './system-clock.ts';
import type { FromThread, ToThread } from './thread-calls.ts';
import { lowerThreadPriority } from './thread-priority.ts';

/** What the thread is started with. */
export interface QueryThreadData {
  readonly storage: StorageOptions;
  /** `compactor.retention_enabled`. */
  readonly retentionEnabled: boolean;
  /** Bytes of its own caches, and what its queries may hold together. */
  readonly pageCacheBytes: number;
  readonly resultCacheBytes: number;
  readonly memoryBytes: number;
  /** Of the RequestBoard on which the main thread tells of requests. */
  readonly board: SharedArrayBuffer;
}

export interface QueryThreadCall {
  readonly engine: EngineCall;
  readonly asker: Omit<Asker, 'signal'>;
  /** Of each tenant by itself, in the order of the asker's: what is deleted and kept is its own. */
  readonly limits: readonly Limits[];
}

/** Those whose limits are remembered between a call and its reading of them. */
const MAX_TENANTS = 10_000;

if (parentPort === null) throw new Error('query-thread.ts is run as a worker thread');
const port = parentPort;
lowerThreadPriority();
const limitsOf = new LruCache<string, Limits>(MAX_TENANTS);
const opened = openEngine(workerData as QueryThreadData);
// The first call is answered with the failure.
opened.catch(() => undefined);
/** Of the calls under way, by number. */
const cancels = new Map<number, AbortController>();

port.on('message', (message: ToThread<QueryThreadCall>) => {
  if (message.kind === 'cancel') cancels.get(message.id)?.abort(new DOMException('cancelled', 'AbortError'));
  else if (message.kind === 'call') void answer(message.id, message.call);
});

async function answer(id: number, { engine: call, asker: given, limits }: QueryThreadCall): Promise<void> {
  const cancel = new AbortController();
  cancels.set(id, cancel);
  try {
    const engine = await opened;
    given.tenants.forEach((tenant, i) => void limitsOf.set(tenant, limits[i]));
    const asker = { ...given, signal: cancel.signal };
    const answered = await (call.kind === 'range'
      ? engine.range(call.query, asker)
      : engine.instant(call.query, asker));
    send({ kind: 'answer', id, answer: answered });
  } catch (error) {
    send({ kind: 'failed', id, failure: failureOf(error) });
  } finally {
    cancels.delete(id);
  }
}

function send(message: FromThread<QueryAnswer>): void {
  port.postMessage(message);
}

async function openEngine(data: QueryThreadData): Promise<QueryEngine> {
  const { store, table } = await openStorage(data.storage, { tableCacheBytes: SMALL_TABLE_CACHE_BYTES });
  const catalog = new Catalog({ table, clock: systemClock, ids: systemIds });
  return new QueryEngine({
    catalog,
    source: new ChunkSource(store, new PageCache(data.pageCacheBytes), turnsOf(data)),
    clock: systemClock,
    visibility: new Visibility({
      masks: new MaskSource({ deletes: catalog.deletes, clock: systemClock }),
      limitsOf: tenant => limitsOf.get(tenant)!,
      enabled: data.retentionEnabled,
    }),
    answers: new AnswerCache(data.resultCacheBytes),
    memory: new QueryMemory(data.memoryBytes),
  });
}

function turnsOf({ board: memory }: QueryThreadData): ScanTurns {
  const board = new RequestBoard({ memory });
  return new ScanTurns({
    isPressed: () => false,
    sleep: ms => board.rest(ms),
    load: {
      note: startedMs => board.note(performance.now() - startedMs),
      waitMs: (_, times) => board.waitMs(times),
    },
  });
}
