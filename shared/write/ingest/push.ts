/** Pushes as they come: those that are repeated are recognized by their bodies, the others are decoded and stored. */
import type { Limits } from '../../base/model/limits.ts';
import { LruCache } from '../../base/model/lru.ts';
import { runPaced, type Steps } from '../../base/model/steps.ts';
import { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import type { BodyLimits } from './body.ts';
import { idOfPush } from './push-id.ts';
import { type PushOutcome, type PushRequest, PushWork, type PushWorkParts } from './push-work.ts';

export type { PushOutcome, PushRequest } from './push-work.ts';

/** Pushes remembered as stored: what a client repeats after a lost answer comes within seconds. */
const REMEMBERED_PUSHES = 20_000;
const REMEMBERED_MS = 300_000;
/** Tenants whose pushes were forgotten; with more of them all pushes of all tenants are. */
const MAX_ERAS = 10_000;
/** Of a body as it came: from here on it may be long. */
const MAYBE_LONG_BYTES = 16 * 1024;
const REPEATED: PushOutcome = {
  stored: new Uint32Array(0),
  error: undefined,
  isWhole: true,
};

export interface PushServiceParts extends PushWorkParts {
  /** Called before a push of the tenant is looked at; throws ClientError where none is taken any more. */
  readonly admit?: (tenant: string) => void;
}

export class PushService {
  readonly #parts: PushServiceParts;
  readonly #scheduler: FairScheduler;
  readonly #work: PushWork;
  /** Ids of pushes that were stored whole, with the time (ms). */
  readonly #stored = new LruCache<string, number>(REMEMBERED_PUSHES);
  /** Part of the ids of a tenant's pushes since they were last forgotten. */
  readonly #eras = new Map<string, number>();
  #lastEra = 0;

  constructor(parts: PushServiceParts) {
    this.#parts = parts;
    this.#scheduler = parts.scheduler ?? new FairScheduler();
    this.#work = new PushWork({ ...parts, scheduler: this.#scheduler });
  }

  /** Resolves when all entries that are accepted are durable and visible. Throws ClientError where none can be. */
  async push(request: PushRequest, limits: Limits, bodyLimits: BodyLimits): Promise<PushOutcome> {
    const { receiver, tenant } = request;
    const { clock, admit } = this.#parts;
    admit?.(tenant);
    if (request.body.length >= MAYBE_LONG_BYTES) await this.#scheduler.acquire(tenant);
    // An id costs up to half a second per GB of bodies: only where it is of use.
    const id = receiver.repeatable
      ? await runPaced(pushId(request, this.#eras.get(tenant)), this.#scheduler.pace(tenant))
      : undefined;
    if (id !== undefined && this.#isStored(id)) return REPEATED;
    const outcome = await this.#work.push(request, limits, bodyLimits);
    if (id !== undefined && outcome.isWhole) this.#stored.set(id, clock.nowMs());
    return outcome;
  }

  /** Work on the answer to a push, in the time slices of its tenant. */
  paced<T>(tenant: string, steps: Steps<T>): Promise<T> {
    return runPaced(steps, this.#scheduler.pace(tenant));
  }

  /**
   * From now on pushes of the tenant are stored although the same was stored before: it may have been deleted. That goes
   * for pushes that are on their way, too.
   */
  forget(tenant: string): void {
    if (this.#eras.size === MAX_ERAS) {
      this.#eras.clear();
      this.#stored.clear();
    }
    this.#eras.set(tenant, ++this.#lastEra);
  }

  #isStored(id: string): boolean {
    const storedAt = this.#stored.get(id);
    return storedAt !== undefined && this.#parts.clock.nowMs() - storedAt < REMEMBERED_MS;
  }
}

/** Taken before any grouping, so that a retry has the id of what it repeats. */
function pushId(
  { tenant, contentType, contentEncoding, receiver, parameters, backfillShard, body }: PushRequest,
  era: number | undefined,
): Steps<string> {
  return idOfPush(
    body,
    JSON.stringify([tenant, era, contentType, contentEncoding, receiver.format, parameters, backfillShard]),
  );
}
