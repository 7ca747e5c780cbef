/** What the main thread and the thread for large pushes tell each other. */
import type { ChunkRecord } from '../shared/catalog/chunk-record.ts';
import type { BodyLimits } from '../shared/ingest/body.ts';
import type { GroupCommitOptions, WrittenGroup } from '../shared/ingest/group-commit.ts';
import type { InletName } from '../shared/ingest/named-inlets.ts';
import type { Mutated, Received, Refused } from '../shared/ingest/observer.ts';
import type { PushOutcome, PushRequest } from '../shared/ingest/push-work.ts';
import type { AskedRate } from '../shared/ingest/rates/rate-decision.ts';
import type { StoredPush } from '../shared/ingest/stored-push.ts';
import type { Limits } from '../shared/model/limits.ts';
import type { StorageOptions } from './storage.ts';
import type { ThrownError } from './thrown-errors.ts';

/** What the thread is started with. */
export interface PushThreadData {
  /** It opens an object store of its own. */
  readonly storage: StorageOptions;
  readonly grouping: GroupCommitOptions;
  /** Bytes that its pushes may hold together; see PushBudget. */
  readonly maxPushBytes: number;
  /** Of the BoardOfThread. */
  readonly board: SharedArrayBuffer;
}

export interface PushCall {
  readonly request: Omit<PushRequest, 'inlet' | 'parameters'>;
  readonly inlet: InletName;
  readonly limits: Limits;
  readonly bodyLimits: BodyLimits;
}

export interface PushAnswer {
  readonly ended:
    | { readonly kind: 'done'; readonly outcome: PlainOutcome }
    | { readonly kind: 'failed'; readonly error: ThrownError }
    /** Nothing was done: other pushes hold all that the thread may. */
    | { readonly kind: 'noRoom' };
  /** For the tenant, since it was told last. */
  readonly workedMs: number;
}

/** PushOutcome as it travels. */
export interface PlainOutcome extends Omit<PushOutcome, 'error'> {
  readonly error: ThrownError | undefined;
}

/** Limits and the catalog are the main thread's. */
export type PushAsk =
  /** Answered with a RateDecision. */
  | { readonly kind: 'rates'; readonly tenant: string; readonly asked: AskedRate }
  /** Answered when the chunks are visible. */
  | { readonly kind: 'publish'; readonly records: readonly ChunkRecord[] };

/** What metrics and usage count. */
export type PushTell =
  | { readonly kind: 'received'; readonly event: Received }
  | { readonly kind: 'refused'; readonly event: Refused }
  | { readonly kind: 'mutated'; readonly event: Mutated }
  | { readonly kind: 'written'; readonly group: WrittenGroup }
  | { readonly kind: 'stored'; readonly tenant: string; readonly push: StoredPush }
  | { readonly kind: 'storeFailed' };
