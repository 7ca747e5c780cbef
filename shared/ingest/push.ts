/** One push, from its body to durable: decode, validate, admit, commit. */
import type { ClientError } from '../model/errors.ts';
import type { Limits } from '../model/limits.ts';
import { LruCache } from '../model/lru.ts';
import type { Clock } from '../ports/clock.ts';
import { acceptPush } from './accept.ts';
import type { BodyLimits } from './body.ts';
import type { GroupCommitter } from './group-commit.ts';
import type { Inlet } from './inlet.ts';
import type { IngestObserver } from './observer.ts';
import { totalsByPolicy } from './policy-totals.ts';
import { bytesOfColumns, PushBudget } from './push-budget.ts';
import type { PushColumns } from './push-columns.ts';
import { idOfPush } from './push-id.ts';
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
  /**
   * What was decoded, without the columns of its entries, which other pushes have by now; undefined where the push is a
   * repeat of one that was stored whole.
   */
  readonly columns: PushColumns | undefined;
  /** Places of the entries that are stored now, ascending. */
  readonly stored: Uint32Array;
  /** Why the others are not; to be answered although some are stored. */
  readonly error: ClientError | undefined;
}

/** Pushes remembered as stored: what a client repeats after a lost answer comes within seconds. */
const REMEMBERED_PUSHES = 20_000;
const REMEMBERED_MS = 300_000;
/** Tenants whose pushes were forgotten; with more of them all pushes of all tenants are. */
const MAX_ERAS = 10_000;
/** Of a body as it came: from here on it may be long. */
const MAYBE_LONG_BYTES = 16 * 1024;
/** Of the unpacked body: from here on each step has a turn of its own. */
const LONG_PUSH_BYTES = 96 * 1024;
const NO_ENTRIES = new Uint32Array(0);

export interface PushServiceParts {
  readonly committer: GroupCommitter;
  readonly clock: Clock;
  readonly observer: IngestObserver;
  /** Without it neither rates nor streams are limited. */
  readonly rates?: IngestRates;
  /** Between the steps of large pushes. Default: others get a turn. */
  readonly turns?: PushTurns;
  /** Called before a push of the tenant is looked at; throws ClientError where none is taken any more. */
  readonly admit?: (tenant: string) => void;
}

export class PushService {
  private readonly parts: PushServiceParts;
  private readonly turns: PushTurns;
  private readonly budget = new PushBudget();
  /** Ids of pushes that were stored whole, with the time (ms). */
  private readonly stored = new LruCache<string, number>(REMEMBERED_PUSHES);
  /** Part of the ids of a tenant's pushes since they were last forgotten. */
  private readonly eras = new Map<string, number>();
  private lastEra = 0;

  constructor(parts: PushServiceParts) {
    this.parts = parts;
    this.turns = parts.turns ?? new PushTurns();
  }

  /** Resolves when all entries that are accepted are durable and visible. Throws ClientError where none can be. */
  async push(request: PushRequest, limits: Limits, bodyLimits: BodyLimits): Promise<PushOutcome> {
    const { inlet, tenant } = request;
    const { clock, admit } = this.parts;
    const { turns } = this;
    admit?.(tenant);
    if (request.body.length >= MAYBE_LONG_BYTES) await turns.take(tenant);
    // An id costs up to half a second per GB of bodies: only where it is of use.
    const id = inlet.repeatable ? pushId(request, this.eras.get(tenant)) : undefined;
    if (id !== undefined && this.isStored(id)) {
      return { columns: undefined, stored: NO_ENTRIES, error: undefined };
    }
    const held = this.budget.open();
    try {
      const bytes = await inlet.unpack(request.body, request, bodyLimits, held);
      try {
        const startedMs = turns.nowMs();
        const columns = inlet.decode(bytes, { limits, nowNs: clock.nowNs() });
        held.take(bytesOfColumns(columns));
        // Decoded, checked, grouped, packed: each is some milliseconds of a large push.
        turns.note(startedMs, tenant);
        if (bytes.length >= LONG_PUSH_BYTES) await turns.take(tenant);
        const outcome = await this.store(request, columns, limits);
        if (id !== undefined && isWhole(outcome)) this.stored.set(id, clock.nowMs());
        // Not after an error, when something may still be at work on them.
        columns.release();
        return outcome;
      } finally {
        // Stored or refused: nothing points into the body any more.
        inlet.release?.(bytes);
      }
    } finally {
      held.release();
    }
  }

  /**
   * From now on pushes of the tenant are stored although the same was stored before: it may have been deleted. That goes
   * for pushes that are on their way, too.
   */
  forget(tenant: string): void {
    if (this.eras.size === MAX_ERAS) {
      this.eras.clear();
      this.stored.clear();
    }
    this.eras.set(tenant, ++this.lastEra);
  }

  private isStored(id: string): boolean {
    const storedAt = this.stored.get(id);
    return storedAt !== undefined && this.parts.clock.nowMs() - storedAt < REMEMBERED_MS;
  }

  private async store(
    { tenant, inlet: { format }, backfillShard }: PushRequest,
    columns: PushColumns,
    limits: Limits,
  ): Promise<PushOutcome> {
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
    return { columns, stored: entries, error: admission?.error ?? error };
  }
}

/** Entries may be dropped without an error: of blocked streams, where the status says so. */
function isWhole({ columns, stored, error }: PushOutcome): boolean {
  return error === undefined && stored.length === columns?.count;
}

/** Taken before any grouping, so that a retry has the id of what it repeats. */
function pushId(
  { tenant, contentType, contentEncoding, inlet, parameters, backfillShard, body }: PushRequest,
  era: number | undefined,
): string {
  return idOfPush(
    body,
    JSON.stringify([tenant, era, contentType, contentEncoding, inlet.format, parameters, backfillShard]),
  );
}
