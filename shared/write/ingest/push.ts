/** Receives pushes. Recognizes repeated ones by their bodies, and has the others decoded and stored. */
import type { Limits } from '../../base/model/limits.ts';
import { LruCache } from '../../base/model/lru.ts';
import { runPaced, type Steps } from '../../base/model/steps.ts';
import { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import type { BodyLimits } from './body.ts';
import { idOfPush } from './push-id.ts';
import { type PushOutcome, type PushRequest, PushWork, type PushWorkParts } from './push-work.ts';

export type { PushOutcome, PushRequest } from './push-work.ts';

/** Number of pushes remembered as stored. Clients repeat a push within seconds after a lost response. */
const REMEMBERED_PUSHES = 20_000;
const REMEMBERED_MS = 300_000;
/** Maximum tenants with forgotten pushes. Above it, all pushes of all tenants are forgotten. */
const MAX_ERAS = 10_000;
/** Body size as received from which on a push may take long. */
const MAYBE_LONG_BYTES = 16 * 1024;
const REPEATED: PushOutcome = {
  stored: new Uint32Array(0),
  error: undefined,
  isWhole: true,
};

export interface PushServiceParts extends PushWorkParts {
  /** Called before a push of the tenant is processed. Throws ClientError if the tenant must wait. */
  readonly admit?: (tenant: string) => void;
}

export class PushService {
  readonly #parts: PushServiceParts;
  readonly #scheduler: FairScheduler;
  readonly #work: PushWork;
  /** IDs of pushes that were stored completely, with the time (ms). */
  readonly #stored = new LruCache<string, number>(REMEMBERED_PUSHES);
  /** Part of the IDs of a tenant's pushes since they were last forgotten. */
  readonly #eras = new Map<string, number>();
  #lastEra = 0;

  constructor(parts: PushServiceParts) {
    this.#parts = parts;
    this.#scheduler = parts.scheduler ?? new FairScheduler();
    this.#work = new PushWork({ ...parts, scheduler: this.#scheduler });
  }

  /** Resolves when all accepted entries are durable and visible. Throws ClientError if none can be stored. */
  async push(request: PushRequest, limits: Limits, bodyLimits: BodyLimits): Promise<PushOutcome> {
    const { receiver, tenant } = request;
    const { clock, admit } = this.#parts;
    admit?.(tenant);
    if (request.body.length >= MAYBE_LONG_BYTES) await this.#scheduler.acquire(tenant);
    // An ID costs up to half a second per GB of bodies, so it is computed only if it is used.
    const id = receiver.repeatable
      ? await runPaced(pushId(request, this.#eras.get(tenant)), this.#scheduler.pace(tenant))
      : undefined;
    if (id !== undefined && this.#isStored(id)) return REPEATED;
    const outcome = await this.#work.push(request, limits, bodyLimits);
    if (id !== undefined && outcome.isWhole) this.#stored.set(id, clock.nowMs());
    return outcome;
  }

  /** Runs work on the response to a push, in time slices of its tenant. */
  paced<T>(tenant: string, steps: Steps<T>): Promise<T> {
    return runPaced(steps, this.#scheduler.pace(tenant));
  }

  /**
   * Stores later pushes of the tenant even if an equal push was stored before, because its entries may have
   * been deleted. This includes pushes in progress.
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

/** Computed before any grouping, so that a retry has the same ID. */
function pushId(
  { tenant, contentType, contentEncoding, receiver, parameters, backfillShard, body }: PushRequest,
  era: number | undefined,
): Steps<string> {
  return idOfPush(
    body,
    JSON.stringify([tenant, era, contentType, contentEncoding, receiver.format, parameters, backfillShard]),
  );
}
