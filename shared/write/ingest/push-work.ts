/** The work on one push, in whatever thread: from its body to durable. Decode, validate, admit, commit. */
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
  /** Value of `X-Loki-Backfill-Shard`, where it was sent. */
  readonly backfillShard?: string;
  /** What else the entries depend on, for example parameters of the URL. */
  readonly parameters?: string;
}

export interface PushOutcome {
  /** Places of the entries that are stored now, ascending. */
  readonly stored: Uint32Array;
  /** Why the others are not; to be answered although some are stored. */
  readonly error: ClientError | undefined;
  /** All of its entries are stored. */
  readonly isWhole: boolean;
}

/** Of the unpacked body: from here on each step has a turn of its own. */
const LONG_PUSH_BYTES = 96 * 1024;
/** Of the body, what it unpacks to and its columns: the work on so much takes half a second, so a collection does not count beside it. */
const COLLECTED_BYTES = 32 * 1024 * 1024;

export interface PushWorkParts {
  readonly committer: Pick<GroupCommitter, 'commit'>;
  readonly clock: Clock;
  readonly observer: IngestObserver;
  /** Without it neither rates nor streams are limited. */
  readonly rates?: Pick<IngestRates, 'admit'> | undefined;
  /** Of the thread; each step of a large push is a time slice. */
  readonly scheduler?: FairScheduler;
  readonly budget?: PushBudget;
  /** Called once pushes of much content, or of many streams, have ended: a moment to collect the garbage that they left. */
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

  /** Resolves when all entries that are accepted are durable and visible. Throws ClientError where none can be. */
  async push(request: PushRequest, limits: Limits, bodyLimits: BodyLimits): Promise<PushOutcome> {
    const { receiver, tenant } = request;
    const scheduler = this.#scheduler;
    const held = this.#budget.open(tenant);
    const pace = scheduler.pace(tenant);
    /** Nothing works on the unpacked bytes: a commit that failed may still read them. */
    let isIdle = false;
    try {
      // Also of a body that is not compressed: it is held for as long.
      await held.take(request.body.length);
      const bytes = await receiver.unpack(request.body, request, bodyLimits, held, pace);
      try {
        const context = { limits, nowNs: this.#parts.clock.nowNs() };
        isIdle = true;
        const { result: columns, columnBytes } = await runCounted(
          receiver.decode(bytes, context),
          pace,
          held,
        );
        await held.take(Math.max(0, bytesOfColumns(columns) - columnBytes));
        // Decoded, checked, grouped, packed: each is some milliseconds of a large push.
        if (bytes.length >= LONG_PUSH_BYTES) await scheduler.acquire(tenant);
        isIdle = false;
        const { stored, error } = await this.#store(request, columns, limits, pace);
        isIdle = true;
        const isWhole = isAll(columns, stored, error);
        // Not after an error, when something may still be at work on them.
        if (columns.bytes.buffer !== bytes.buffer) freeLarge(columns.bytes);
        columns.release();
        return { stored, error, isWhole };
      } finally {
        if (receiver.release !== undefined) receiver.release(bytes);
        else if (isIdle && bytes.buffer !== request.body.buffer) freeLarge(bytes);
      }
    } finally {
      if (held.bytes >= COLLECTED_BYTES) this.#endLarge();
      held.release();
    }
  }

  /** Later, when nothing holds the push any more: a collection takes time for what lives, not for what has gone. */
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
      await committer.commit(tenant, { ...accepted, entries });
      for (const ofPolicy of totalsByPolicy(policyOf, totals)) {
        observer.received({ tenant, format, ...ofPolicy });
      }
    }
    return { stored: entries, error: admission?.error ?? error };
  }
}

/** Entries may be dropped without an error: of blocked streams, where the status says so. */
function isAll({ count }: PushColumns, stored: Uint32Array, error: ClientError | undefined): boolean {
  return error === undefined && stored.length === count;
}
