/** What the front thread and the threads of the roles send each other. */

import type { KernelModule } from '../../shared/base/kernels/kernels.ts';
import type { CloseOptions } from '../../shared/base/ports/connections.ts';
import type { Write } from '../../shared/base/ports/table.ts';
import type { TailRequest } from '../../shared/read/tail/tail-service.ts';
import type { Config } from '../../shared/server/admin/config-fields.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import type { FilledDay } from '../../shared/upkeep/compaction/full-merges.ts';
import type { PackTicket } from '../../shared/upkeep/compaction/merge-backlog.ts';
import type { AskedRate } from '../../shared/write/ingest/rates/rate-decision.ts';
import type { StorageOptions } from '../storage.ts';
import type { Role } from './roles.ts';
import type { SharedCounters } from './shared-bytes.ts';
import type { SharedPushes } from './shared-pushes.ts';
import type { SharedReaders } from './shared-readers.ts';
import type { ThrownError } from './thrown-errors.ts';

/** What a thread is started with. */
export interface RoleData {
  readonly role: Role;
  /** Place among the threads of its role. */
  readonly index: number;
  /** Threads of its role at most, whichever front feeds them: they share the memory that the configuration gives the role. */
  readonly threads: number;
  /** What queries of all query threads hold; undefined for other roles. */
  readonly queryMemory?: SharedCounters | undefined;
  /** What pushes of all ingest threads hold; undefined for other roles. */
  readonly pushes?: SharedPushes | undefined;
  /** Who reads objects in all threads; undefined for a role that reads none, and if other processes may read them. */
  readonly readers?: SharedReaders | undefined;
  /** Place of this thread among those that read. */
  readonly readerIndex?: number;
  readonly config: Config;
  /** It opens stores of its own; of an embedded table it reads alone. */
  readonly storage: StorageOptions;
  /** No other process commits to this store. */
  readonly isAlone: boolean;
  /** Compiled once for all threads. */
  readonly kernels: KernelModule;
  /** Debug lines are wanted in the log. */
  readonly isDebug: boolean;
  /** The disk takes no new entries at the moment. */
  readonly isDiskFull: boolean;
  /** The store was opened to be read alone. */
  readonly readOnly: boolean;
}

/** A chunk that was committed, as it is stored in the table. */
export interface CommittedChunk {
  readonly tenant: string;
  readonly day: number;
  readonly stampMs: number;
  readonly body: Uint8Array;
}

/** A request whose caller the front thread has admitted; its body may lie in shared memory. */
export type PlainRequest = Omit<HttpRequest, 'signal'>;

export type RoleCall =
  | { readonly kind: 'request'; readonly request: PlainRequest }
  /** Answered with `bytes`: a part of a query of another query thread. */
  | { readonly kind: 'task'; readonly task: Uint8Array }
  /** For live tails; `logged`: the log of tails has them, too. */
  | { readonly kind: 'committed'; readonly chunks: readonly CommittedChunk[]; readonly logged: boolean }
  /** The log of tails has commits that live tails were not told of. */
  | { readonly kind: 'overflowed'; readonly tenant: string }
  /** Answered with `text`: why the tail cannot be served, or undefined. */
  | { readonly kind: 'open-tail'; readonly connectionId: string; readonly request: TailRequest }
  | { readonly kind: 'close-tail'; readonly connectionId: string; readonly tenant: string }
  /** Answered with `text`. */
  | { readonly kind: 'metrics' }
  | { readonly kind: 'write-usage' };

export interface RoleAnswer {
  readonly response?: HttpResponse;
  readonly bytes?: Uint8Array;
  readonly text?: string | undefined;
}

/** What a thread asks the front thread, where what it needs is in one place. */
export type RoleAsk =
  | { readonly kind: 'write'; readonly writes: readonly Write[] }
  | { readonly kind: 'fold' }
  /** Answered with a RateDecision. */
  | { readonly kind: 'rates'; readonly tenant: string; readonly asked: AskedRate }
  /** Answered with bytes, by the query thread that reads the objects of this affinity. */
  | { readonly kind: 'task'; readonly affinity: number; readonly task: Uint8Array }
  /** Answered as Connections does. */
  | { readonly kind: 'post'; readonly connectionId: string; readonly message: Uint8Array }
  | { readonly kind: 'connection'; readonly connectionId: string }
  | { readonly kind: 'close'; readonly connectionId: string; readonly options: CloseOptions };

export type LogLevelName = 'debug' | 'info' | 'warn' | 'error';

/** From a role to the front. */
export type RoleTell =
  | {
      readonly kind: 'log';
      readonly level: LogLevelName;
      readonly fields: object;
      readonly error: ThrownError | undefined;
      readonly message: string;
    }
  | { readonly kind: 'defect' }
  /** The log of tails has them. */
  | { readonly kind: 'committed'; readonly chunks: readonly CommittedChunk[] }
  /** Pushes of the tenant that were stored before may be stored again: something of it was deleted. */
  | { readonly kind: 'forget'; readonly tenant: string }
  /** Objects of the store that are deleted. */
  | { readonly kind: 'deleted'; readonly keys: readonly string[] }
  /** A scheduled job is to run now. */
  | { readonly kind: 'kick'; readonly job: string }
  /** Enough was pushed to a day for a full merge. */
  | { readonly kind: 'filled'; readonly day: FilledDay }
  /** The full merges that the ticket asked for are made. */
  | { readonly kind: 'packed'; readonly ticket: PackTicket };

/** From the front to a role. */
export type FrontTell =
  | Extract<RoleTell, { kind: 'forget' | 'deleted' | 'kick' }>
  | { readonly kind: 'pack'; readonly ticket: PackTicket }
  /** Merging is behind, or no longer. */
  | { readonly kind: 'urgency'; readonly isUrgent: boolean }
  | { readonly kind: 'log-level'; readonly isDebug: boolean }
  | { readonly kind: 'disk'; readonly isFull: boolean };
