/**
 * Pushes as they come: those that are repeated are known by their bodies, and the others are worked on, here or in a thread beside
 * this one.
 */
import type { Limits } from '../model/limits.ts';
import { LruCache } from '../model/lru.ts';
import type { BodyLimits } from './body.ts';
import { idOfPush } from './push-id.ts';
import { PushTurns } from './push-turns.ts';
import { type PushOutcome, type PushRequest, PushWork, type PushWorkParts } from './push-work.ts';

export type { PushOutcome, PushRequest } from './push-work.ts';

/** Who works on pushes that this thread had better not. */
export interface PushesElsewhere {
  /** That were worked on there, or begun. */
  readonly pushes: number;
  /** Under way there. */
  readonly running: number;
  /** As PushWork.push; `here` does what cannot be done there, or was lost there. */
  push(
    request: PushRequest,
    limits: Limits,
    bodyLimits: BodyLimits,
    here: () => Promise<PushOutcome>,
  ): Promise<PushOutcome>;
}

/** Pushes remembered as stored: what a client repeats after a lost answer comes within seconds. */
const REMEMBERED_PUSHES = 20_000;
const REMEMBERED_MS = 300_000;
/** Tenants whose pushes were forgotten; with more of them all pushes of all tenants are. */
const MAX_ERAS = 10_000;
/** Of a body as it came: from here on it may be long. */
export const MAYBE_LONG_BYTES = 16 * 1024;
const REPEATED: PushOutcome = {
  stored: new Uint32Array(0),
  error: undefined,
  isWhole: true,
};

export interface PushServiceParts extends PushWorkParts {
  /** Called before a push of the tenant is looked at; throws ClientError where none is taken any more. */
  readonly admit?: (tenant: string) => void;
  /** Without it all is worked on here. */
  readonly elsewhere?: PushesElsewhere | undefined;
}

export class PushService {
  private readonly parts: PushServiceParts;
  private readonly turns: PushTurns;
  private readonly here: PushWork;
  /** Ids of pushes that were stored whole, with the time (ms). */
  private readonly stored = new LruCache<string, number>(REMEMBERED_PUSHES);
  /** Part of the ids of a tenant's pushes since they were last forgotten. */
  private readonly eras = new Map<string, number>();
  private lastEra = 0;

  constructor(parts: PushServiceParts) {
    this.parts = parts;
    this.turns = parts.turns ?? new PushTurns();
    this.here = new PushWork({ ...parts, turns: this.turns });
  }

  /** Resolves when all entries that are accepted are durable and visible. Throws ClientError where none can be. */
  async push(request: PushRequest, limits: Limits, bodyLimits: BodyLimits): Promise<PushOutcome> {
    const { inlet, tenant } = request;
    const { clock, admit, elsewhere } = this.parts;
    admit?.(tenant);
    if (request.body.length >= MAYBE_LONG_BYTES) await this.turns.take(tenant);
    // An id costs up to half a second per GB of bodies: only where it is of use.
    const id = inlet.repeatable ? pushId(request, this.eras.get(tenant)) : undefined;
    if (id !== undefined && this.isStored(id)) return REPEATED;
    const here = () => this.here.push(request, limits, bodyLimits);
    const outcome = await (elsewhere?.push(request, limits, bodyLimits, here) ?? here());
    if (id !== undefined && outcome.isWhole) this.stored.set(id, clock.nowMs());
    return outcome;
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
