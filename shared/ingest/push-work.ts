/** The work on one push, in whatever thread: from its body to durable. Decode, validate, admit, commit. */
import type { ClientError } from '../model/errors.ts';
import type { Limits } from '../model/limits.ts';
import type { Clock } from '../ports/clock.ts';
import { acceptPush } from './accept.ts';
import type { BodyLimits } from './body.ts';
import type { GroupCommitter } from './group-commit.ts';
import type { Inlet } from './inlet.ts';
import type { IngestObserver } from './observer.ts';
import { totalsByPolicy } from './policy-totals.ts';
import { bytesOfColumns, PushBudget } from './push-budget.ts';
import type { PushColumns } from './push-columns.ts';
import { PushTurns } from './push-turns.ts';
import type { IngestRates } from './rates/ingest-rates.ts';

export interface PushRequest {
  readonly tenant: string;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly inlet: Inlet;
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

export interface PushWorkParts {
  readonly committer: Pick<GroupCommitter, 'commit'>;
  readonly clock: Clock;
  readonly observer: IngestObserver;
  /** Without it neither rates nor streams are limited. */
  readonly rates?: Pick<IngestRates, 'admit'> | undefined;
  /** Between the steps of large pushes. Default: others get a turn. */
  readonly turns?: PushTurns;
  readonly budget?: PushBudget;
}

export class PushWork {
  private readonly parts: PushWorkParts;
  private readonly turns: PushTurns;
  private readonly budget: PushBudget;

  constructor(parts: PushWorkParts) {
    this.parts = parts;
    this.turns = parts.turns ?? new PushTurns();
    this.budget = parts.budget ?? new PushBudget();
  }

  /** Resolves when all entries that are accepted are durable and visible. Throws ClientError where none can be. */
  async push(request: PushRequest, limits: Limits, bodyLimits: BodyLimits): Promise<PushOutcome> {
    const { inlet, tenant } = request;
    const { turns } = this;
    const held = this.budget.open();
    try {
      const bytes = await inlet.unpack(request.body, request, bodyLimits, held);
      try {
        const startedMs = turns.nowMs();
        const columns = inlet.decode(bytes, { limits, nowNs: this.parts.clock.nowNs() });
        held.take(bytesOfColumns(columns));
        // Decoded, checked, grouped, packed: each is some milliseconds of a large push.
        turns.note(startedMs, tenant);
        if (bytes.length >= LONG_PUSH_BYTES) await turns.take(tenant);
        const { stored, error } = await this.store(request, columns, limits);
        const isWhole = isAll(columns, stored, error);
        // Not after an error, when something may still be at work on them.
        columns.release();
        return { stored, error, isWhole };
      } finally {
        // Stored or refused: nothing points into the body any more.
        inlet.release?.(bytes);
      }
    } finally {
      held.release();
    }
  }

  private async store(
    { tenant, inlet: { format }, backfillShard }: PushRequest,
    columns: PushColumns,
    limits: Limits,
  ): Promise<Pick<PushOutcome, 'stored' | 'error'>> {
    const { committer, clock, observer, rates } = this.parts;
    const startedMs = this.turns.nowMs();
    const result = acceptPush(columns, {
      tenant,
      limits,
      nowNs: clock.nowNs(),
      backfillShard,
    });
    this.turns.note(startedMs, tenant);
    const { accepted, error, discards, policyOf, totals, truncated } = result;
    if (truncated.lines > 0) observer.mutated?.({ tenant, reason: 'line_too_long', ...truncated });
    for (const { reason, policy, entries, bytes } of discards) {
      observer.refused({ tenant, format, policy, reason, lines: entries, bytes });
    }
    const admission = await rates?.admit(tenant, limits, result);
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
