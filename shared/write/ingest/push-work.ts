/** Processes one push on any thread, from its body until it is durable: decode, validate, admit, commit. */
import type { ClientError } from '../../base/model/errors.ts';
import { freeLarge } from '../../base/model/free-bytes.ts';
import type { Limits } from '../../base/model/limits.ts';
import { type Pace, runPaced } from '../../base/model/steps.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import { acceptPush } from './accept.ts';
import type { BodyLimits } from './body.ts';
import { runCounted } from './column-growth.ts';
import type { GroupCommitter } from './group-commit.ts';
import type { IngestObserver } from './observer.ts';
import { totalsByPolicy } from './policy-totals.ts';
import { bytesOfColumns, PushBudget } from './push-budget.ts';
import type { PushColumns } from './push-columns.ts';
import type { IngestRates } from './rates/ingest-rates.ts';
import type { Receiver } from './receiver.ts';

export interface PushRequest {
  readonly tenant: string;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly receiver: Receiver;
  /** Value of `X-Loki-Backfill-Shard`, if sent. */
  readonly backfillShard?: string;
  /** Other inputs of the entries, for example URL parameters. */
  readonly parameters?: string;
}

export interface PushOutcome {
  /** Indexes of the stored entries, ascending. */
  readonly stored: Uint32Array;
  /** Error for the entries that are not stored, returned even if others are. */
  readonly error: ClientError | undefined;
  /** Whether all entries are stored. */
  readonly isWhole: boolean;
}

/** Unpacked body size from which on each step runs in its own time slice. */
const LONG_PUSH_BYTES = 96 * 1024;
/** Size of body, content and columns from which on a push may leave much garbage. */
const COLLECTED_BYTES = 32 * 1024 * 1024;

export interface PushWorkParts {
  readonly committer: Pick<GroupCommitter, 'announce' | 'commit'>;
  readonly clock: Clock;
  readonly observer: IngestObserver;
  /** Default: neither rates nor streams are limited. */
  readonly rates?: Pick<IngestRates, 'admit'> | undefined;
  /** Scheduler of the thread. Each step of a large push is a time slice. */
  readonly scheduler?: FairScheduler;
  readonly budget?: PushBudget;
  /** Called after pushes with much content or many streams have ended, which may leave much garbage. */
  readonly onLargeEnd?: (() => void) | undefined;
}

export class PushWork {
  readonly #parts: PushWorkParts;
  readonly #scheduler: FairScheduler;
  readonly #budget: PushBudget;
  /** A large push has just ended. */
  #isEnding = false;

  constructor(parts: PushWorkParts) {
    this.#parts = parts;
    this.#scheduler = parts.scheduler ?? new FairScheduler();
    const sleep: Clock['sleep'] = (ms, signal) => parts.clock.sleep(ms, signal);
    this.#budget = parts.budget ?? new PushBudget({ sleep });
  }

  /** Resolves when all accepted entries are durable and visible. Throws ClientError if none can be stored. */
  async push(request: PushRequest, limits: Limits, bodyLimits: BodyLimits): Promise<PushOutcome> {
    const { receiver, tenant } = request;
    const scheduler = this.#scheduler;
    const held = this.#budget.open(tenant);
    const read = this.#parts.committer.announce(tenant);
    const pace = scheduler.pace(tenant);
    /** True while nothing uses the unpacked bytes. A commit that failed may still read them. */
    let isIdle = true;
    try {
      // Counted even if the body is not compressed, because it is held as long.
      await held.take(request.body.length);
      const bytes = await receiver.unpack(request.body, request, bodyLimits, held, pace);
      try {
        const context = { limits, nowNs: this.#parts.clock.nowNs() };
        const { result: columns, columnBytes } = await runCounted(
          receiver.decode(bytes, context),
          pace,
          held,
        );
        await held.take(Math.max(0, bytesOfColumns(columns) - columnBytes));
        // Decoding, checking, grouping and encoding a large push each take a few milliseconds. Of pushes that arrive
        // together, the first is written while the others are decoded.
        if (bytes.length >= LONG_PUSH_BYTES) await scheduler.acquire(tenant, { isLaterStage: true });
        const { stored, error } = await this.#store(request, columns, limits, pace, () => {
          isIdle = false;
          read();
        });
        isIdle = true;
        const isWhole = isAll(columns, stored, error);
        // Not after an error, because work on them may still be running.
        if (columns.bytes.buffer !== bytes.buffer) freeLarge(columns.bytes);
        columns.release();
        return { stored, error, isWhole };
      } finally {
        if (receiver.release !== undefined) receiver.release(bytes);
        else if (isIdle && bytes.buffer !== request.body.buffer) freeLarge(bytes);
      }
    } finally {
      read();
      if (held.bytes >= COLLECTED_BYTES) this.#endLarge();
      held.release();
    }
  }

  /**
   * Deferred until nothing refers to the push: a collection costs time for live objects, not for dead ones.
   */
  #endLarge(): void {
    const { onLargeEnd } = this.#parts;
    if (onLargeEnd === undefined || this.#isEnding) return;
    this.#isEnding = true;
    setImmediate(() => {
      this.#isEnding = false;
      onLargeEnd();
    });
  }

  async #store(
    { tenant, receiver: { format }, backfillShard }: PushRequest,
    columns: PushColumns,
    limits: Limits,
    pace: Pace,
    onCommit: () => void,
  ): Promise<Pick<PushOutcome, 'stored' | 'error'>> {
    const { committer, clock, observer, rates } = this.#parts;
    const context = { tenant, limits, nowNs: clock.nowNs(), backfillShard };
    const result = await runPaced(acceptPush(columns, context), pace);
    const { accepted, error, discards, policyOf, totals, truncated } = result;
    if (truncated.lines > 0) observer.mutated?.({ tenant, reason: 'line_too_long', ...truncated });
    for (const { reason, policy, entries, bytes } of discards) {
      observer.refused({ tenant, format, policy, reason, lines: entries, bytes });
    }
    const admission = await rates?.admit(tenant, limits, result, pace);
    for (const discard of admission?.discards ?? []) observer.refused({ tenant, format, ...discard });
    const entries = admission?.entries ?? accepted.entries;
    if (entries.length > 0) {
      onCommit();
      await committer.commit(tenant, { ...accepted, entries });
      for (const ofPolicy of totalsByPolicy(policyOf, totals)) {
        observer.received({ tenant, format, ...ofPolicy });
      }
    }
    return { stored: entries, error: admission?.error ?? error };
  }
}

/**
 * Whether all entries are stored. Entries of blocked streams may be dropped without an error, depending on
 * the status.
 */
function isAll({ count }: PushColumns, stored: Uint32Array, error: ClientError | undefined): boolean {
  return error === undefined && stored.length === count;
}
