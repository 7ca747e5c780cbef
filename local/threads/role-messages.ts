/** Messages between the front thread and the role threads. */

import type { KernelModule } from '../../shared/base/kernels/kernels.ts';
import type { CloseOptions } from '../../shared/base/ports/connections.ts';
import type { StorageProblem } from '../../shared/base/ports/storage-unavailable.ts';
import type { Write } from '../../shared/base/ports/table.ts';
import type { TailRequest } from '../../shared/read/tail/tail-service.ts';
import type { Config } from '../../shared/server/admin/config-fields.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import type { FreshBatch } from '../../shared/storage/catalog/fresh-chunks.ts';
import type { FilledDay } from '../../shared/upkeep/compaction/full-merges.ts';
import type { MergeTicket } from '../../shared/upkeep/compaction/merge-backlog.ts';
import type { RequestedRate } from '../../shared/write/ingest/rates/rate-decision.ts';
import type { StorageOptions } from '../storage.ts';
import type { SharedRecentQueries } from './recent-queries.ts';
import type { Role } from './roles.ts';
import type { SharedCounters } from './shared-bytes.ts';
import type { SharedPushes } from './shared-pushes.ts';
import type { SharedReaders } from './shared-readers.ts';
import type { ThrownError } from './thrown-errors.ts';

/** A number in shared memory. */
export type SharedCount = Int32Array<SharedArrayBuffer>;

/** Start data of a thread. */
export interface RoleData {
  readonly role: Role;
  /** Index among the threads of its role. */
  readonly index: number;
  /** Maximum number of threads of its role over all fronts, which share the configured memory of the role. */
  readonly threads: number;
  /** Memory of queries in all query threads; `undefined` for other roles. */
  readonly queryMemory?: SharedCounters | undefined;
  /** Memory of pushes in all ingest threads; `undefined` for other roles. */
  readonly pushes?: SharedPushes | undefined;
  /** Recent queries of all tenants, for query threads and ingest threads. */
  readonly recentQueries?: SharedRecentQueries | undefined;
  /**
   * Number of tenants with live tails (tail-relay.ts). If set, an ingest thread commits to the table thread
   * directly while there are none; otherwise through the front.
   */
  readonly tailed?: SharedCount | undefined;
  /**
   * Readers of objects in all threads; `undefined` for a role without reads, and if other processes may read
   * objects.
   */
  readonly readers?: SharedReaders | undefined;
  /** Index of this thread among the reading threads. */
  readonly readerIndex?: number;
  readonly config: Config;
  /** Options of the stores that it opens. It only reads an embedded table. */
  readonly storage: StorageOptions;
  /** True if no other process commits to this store. */
  readonly isAlone: boolean;
  /** Compiled once for all threads. */
  readonly kernels: KernelModule;
  /** True if the log includes debug lines. */
  readonly isDebug: boolean;
  /** True if the disk currently accepts no new entries. */
  readonly isDiskFull: boolean;
  /** True if merging is currently behind (merge-backlog.ts). Further fronts do not know it. */
  readonly isMergeUrgent?: boolean;
  /** True if the store was opened read-only. */
  readonly readOnly: boolean;
}

/** A committed chunk, as stored in the table. */
export interface CommittedChunk {
  readonly tenant: string;
  readonly day: number;
  readonly stampMs: number;
  readonly body: Uint8Array;
}

/** A request that the front thread has admitted. Its body may be in shared memory. */
export type PlainRequest = Omit<HttpRequest, 'signal'>;

export type RoleCall =
  | { readonly kind: 'request'; readonly request: PlainRequest }
  /** A query task of another query thread. The reply is `bytes`. */
  | { readonly kind: 'task'; readonly task: Uint8Array }
  /** A merge that the first upkeep thread has planned (merge-task.ts). The reply is `bytes`. */
  | { readonly kind: 'merge'; readonly task: Uint8Array }
  /** Commits for live tails. `logged` is true if the tail log contains the commits too. */
  | { readonly kind: 'committed'; readonly chunks: readonly CommittedChunk[]; readonly logged: boolean }
  /** The tail log has commits that were not sent to live tails. */
  | { readonly kind: 'overflowed'; readonly tenant: string }
  /** The reply is `text`: the reason why the tail cannot be served, or `undefined`. */
  | { readonly kind: 'open-tail'; readonly connectionId: string; readonly request: TailRequest }
  | { readonly kind: 'close-tail'; readonly connectionId: string; readonly tenant: string }
  /** The reply is `text`. */
  | { readonly kind: 'metrics' }
  | { readonly kind: 'write-usage' };

export interface RoleAnswer {
  readonly response?: HttpResponse;
  readonly bytes?: Uint8Array;
  readonly text?: string | undefined;
}

/** Requests of a thread to the front thread for resources that exist only there. */
export type RoleAsk =
  /** Commits the writes, and relays them to live tails. */
  | { readonly kind: 'write'; readonly writes: readonly Write[] }
  /** The reply is a MessagePort to the table thread (table-port.ts). */
  | { readonly kind: 'table-port' }
  /** Relays committed writes to live tails. */
  | { readonly kind: 'committed'; readonly writes: readonly Write[] }
  | { readonly kind: 'fold' }
  /** The reply is a RateDecision if the front refuses a push of the tenant, whatever its rate, or `undefined`. */
  | { readonly kind: 'refusal'; readonly tenant: string }
  /** The reply is a RateDecision. */
  | { readonly kind: 'rates'; readonly tenant: string; readonly asked: RequestedRate }
  /** The reply is bytes, from the query thread that reads the objects of this affinity. */
  | { readonly kind: 'task'; readonly affinity: number; readonly task: Uint8Array }
  /** The reply is bytes, from the upkeep thread with the fewest merges. */
  | { readonly kind: 'merge'; readonly task: Uint8Array }
  /** Replies like Connections. */
  | { readonly kind: 'post'; readonly connectionId: string; readonly message: Uint8Array }
  | { readonly kind: 'connection'; readonly connectionId: string }
  | { readonly kind: 'close'; readonly connectionId: string; readonly options: CloseOptions };

/** Sends a request to the front thread. */
export type AskFront = (
  question: RoleAsk,
  options?: { readonly signal?: AbortSignal; readonly moved?: ArrayBuffer[] },
) => Promise<unknown>;

export type LogLevelName = 'debug' | 'info' | 'warn' | 'error';

/** Messages from a role to the front. */
export type RoleTell =
  | {
      readonly kind: 'log';
      readonly level: LogLevelName;
      readonly fields: object;
      readonly error: ThrownError | undefined;
      readonly message: string;
    }
  | { readonly kind: 'defect' }
  /** A commit failed because of the disk. */
  | { readonly kind: 'disk-problem'; readonly problem: StorageProblem }
  /** The tail log contains them. */
  | { readonly kind: 'committed'; readonly chunks: readonly CommittedChunk[] }
  /** Stored pushes of the tenant may be stored again, because some of its entries were deleted. */
  | { readonly kind: 'forget'; readonly tenant: string }
  /** Objects that are or will be deleted, and that no read that begins now needs. */
  | { readonly kind: 'replaced'; readonly keys: readonly string[] }
  /** Runs a scheduled job now. */
  | { readonly kind: 'kick'; readonly job: string }
  /** New chunks for the query thread at this index. */
  | { readonly kind: 'fresh'; readonly thread: number; readonly batch: FreshBatch }
  /** A day has received enough pushes for a full merge. */
  | { readonly kind: 'filled'; readonly day: FilledDay }
  /** The full merges of the ticket are complete. */
  | { readonly kind: 'merged'; readonly ticket: MergeTicket };

/** Messages from the front to a role. */
export type FrontTell =
  | Extract<RoleTell, { kind: 'forget' | 'replaced' | 'kick' | 'fresh' }>
  | { readonly kind: 'merge-day'; readonly ticket: MergeTicket }
  /** Whether merging is behind. */
  | { readonly kind: 'urgency'; readonly isUrgent: boolean }
  | { readonly kind: 'log-level'; readonly isDebug: boolean }
  | { readonly kind: 'disk'; readonly isFull: boolean };
