/**
 * Memory budget of all pushes that are being decoded and stored. A body of 1 MB may decompress to 128 MB, and
 * a thousand requests may arrive at once. A push that finds too little memory waits for others to end. It is
 * refused after MAX_WAIT_MS and can be sent again.
 *
 * A tenant may hold a quarter of the budget while a tenant that holds less waits. It may hold three quarters
 * while any other tenant pushes, so a newcomer always finds memory. The tenant that holds least is served
 * first. A small push never waits. A push that is alone may use everything that the limits of one push allow.
 *
 * Threads that share the budget each have an instance. They see each other's counts (push-counts.ts).
 */
import { setTimeout as sleepMs } from 'node:timers/promises';
import { ClientError } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { PushCounts, tenantHash } from './push-counts.ts';

/**
 * A push of maximum size with its columns, or about a hundred of 1 MB. With its other parts a process stays
 * under 700 MB.
 */
export const MAX_PUSH_BYTES = 192 * 1024 * 1024;
/** Maximum share of one tenant while another one waits. */
const SHARE = 1 / 4;
/** Maximum share of one tenant, unless it is alone. */
const MAX_SHARE = 3 / 4;
/** Size that a push may hold without waiting: 64 MiB for as many pushes as a gateway serves at once. */
const SMALL_PUSH_BYTES = 64 * 1024;
/** Shorter than the time that agents wait for a response. */
export const MAX_WAIT_MS = 5000;
/** Interval at which a waiting push checks whether other threads have released memory. */
const LOOK_MS = 20;

/**
 * Columns (28 bytes, with growth) and the arrays for sorting. Rows of a segment are created for one part of a
 * push at a time.
 */
const BYTES_OF_ENTRY = 80;
const BYTES_OF_PAIR = 32;
/** Labels as objects, text, entries in maps. */
const BYTES_OF_STREAM = 1024;

/** Reports that other pushes leave too little memory. Nothing of the refused push is stored. */
export class PushMemoryError extends ClientError {
  constructor(message: string) {
    super(503, message);
  }
}

/** Memory of one push. */
export interface HeldBytes {
  /**
   * Returns undefined if the bytes are granted at once. Otherwise resolves when they are, or rejects with
   * PushMemoryError. Wait for it before the next call.
   */
  take(bytes: number): Promise<void> | undefined;
  /** Releases everything, once. */
  release(): void;
}

/** Memory of one push, for its owner. */
interface OwnedBytes extends HeldBytes {
  /** Bytes that were granted and not released. */
  readonly bytes: number;
}

interface HeldPush {
  readonly tenant: string;
  bytes: number;
  waiting: WaitingReservation | undefined;
}

interface WaitingReservation {
  readonly push: HeldPush;
  readonly bytes: number;
  /** Called when the bytes are counted. */
  readonly granted: () => void;
  readonly refuse: () => void;
}

interface PushBudgetOptions {
  /** Default: MAX_PUSH_BYTES. */
  readonly maxBytes?: number;
  readonly sleep?: Clock['sleep'];
  readonly maxWaitMs?: number;
  /** Default: counts of this budget only. */
  readonly counts?: PushCounts | undefined;
}

export class PushBudget {
  readonly #counts: PushCounts;
  readonly #maxBytes: number;
  readonly #sleep: Clock['sleep'];
  readonly #maxWaitMs: number;
  /** Waiting pushes in the order of arrival. */
  readonly #queue = new Set<WaitingReservation>();
  #isLooking = false;

  constructor({
    maxBytes = MAX_PUSH_BYTES,
    sleep = realSleep,
    maxWaitMs = MAX_WAIT_MS,
    counts = new PushCounts(),
  }: PushBudgetOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#counts = counts;
    this.#sleep = sleep;
    this.#maxWaitMs = maxWaitMs;
  }

  /** Bytes that the pushes of this thread hold, and the number of pushes that wait for more. */
  get figures(): { readonly bytes: number; readonly waiting: number } {
    return { bytes: this.#counts.ownBytes, waiting: this.#queue.size };
  }

  open(tenant: string): OwnedBytes {
    const push: HeldPush = { tenant, bytes: 0, waiting: undefined };
    return {
      get bytes() {
        return push.bytes;
      },
      take: bytes => (this.#tryTake(push, bytes) ? undefined : this.#wait(push, bytes)),
      release: () => {
        if (push.bytes === 0) return;
        this.#counts.add(tenant, { bytes: -push.bytes, holders: -1 });
        push.bytes = 0;
        this.#serve();
      },
    };
  }

  /** Counts first and checks then, because another thread may do the same concurrently. */
  #tryTake(push: HeldPush, bytes: number): boolean {
    const { tenant, bytes: own } = push;
    const holders = own === 0 && bytes > 0 ? 1 : 0;
    this.#counts.add(tenant, { bytes, holders });
    if (!this.#mayHold(tenant, own, bytes)) {
      this.#counts.add(tenant, { bytes: -bytes, holders: -holders });
      return false;
    }
    push.bytes += bytes;
    return true;
  }

  /** Whether a push that held `own` bytes may keep the `bytes` that are already counted. */
  #mayHold(tenant: string, own: number, bytes: number): boolean {
    const counts = this.#counts;
    const maxBytes = this.#maxBytes;
    if (own + bytes <= SMALL_PUSH_BYTES) return true;
    const total = counts.bytes;
    const isAlone = total === own + bytes;
    if (isAlone) return true;
    if (total > maxBytes) return false;
    const bytesOfTenant = counts.bytesOf(tenant);
    if (bytesOfTenant <= SHARE * maxBytes) return true;
    return bytesOfTenant <= MAX_SHARE * maxBytes && !counts.isWantedByLess(tenant, bytesOfTenant - bytes);
  }

  #wait(push: HeldPush, bytes: number): Promise<void> {
    const { tenant } = push;
    const waitingHolders = push.bytes > 0 ? 1 : 0;
    const ended = new AbortController();
    const waited = new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#queue.delete(waiting);
        push.waiting = undefined;
        ended.abort();
        this.#counts.add(tenant, { waiting: -1, waitingHolders: -waitingHolders });
      };
      const waiting: WaitingReservation = {
        push,
        bytes,
        granted: () => {
          leave();
          resolve();
        },
        refuse: () => {
          leave();
          reject(this.#error(push));
        },
      };
      push.waiting = waiting;
      this.#queue.add(waiting);
      this.#counts.add(tenant, { waiting: 1, waitingHolders });
      this.#sleep(this.#maxWaitMs, ended.signal).then(waiting.refuse, () => undefined);
    });
    this.#endDeadlock();
    void this.#look();
    return waited;
  }

  /** Grants the waiting requests that fit, to the tenant that holds least first. */
  #serve(): void {
    if (this.#queue.size === 0) return;
    const held = ({ push }: WaitingReservation): number => this.#counts.bytesOf(push.tenant);
    for (const waiting of [...this.#queue].sort((a, b) => held(a) - held(b))) {
      if (this.#tryTake(waiting.push, waiting.bytes)) waiting.granted();
    }
    this.#endDeadlock();
  }

  async #look(): Promise<void> {
    if (!this.#counts.isShared || this.#isLooking) return;
    this.#isLooking = true;
    while (this.#queue.size > 0) {
      await this.#sleep(LOOK_MS);
      this.#serve();
    }
    this.#isLooking = false;
  }

  /** Refuses the last push of the tenant that holds most if all pushes that hold memory wait. */
  #endDeadlock(): void {
    if (this.#queue.size === 0) return;
    const { stuck } = this.#counts;
    if (stuck === undefined) return;
    const isStuck = ({ push }: WaitingReservation) => push.bytes > 0 && tenantHash(push.tenant) === stuck;
    [...this.#queue].findLast(isStuck)?.refuse();
  }

  #error({ tenant }: HeldPush): PushMemoryError {
    const { bytes } = this.#counts;
    const held = this.#counts.bytesOf(tenant);
    return new PushMemoryError(
      `memory limit for concurrent pushes exceeded (limit: ${this.#maxBytes} bytes, in use: ${bytes}, by tenant '${tenant}': ${held}); retry later`,
    );
  }
}

function realSleep(ms: number, signal?: AbortSignal): Promise<void> {
  return sleepMs(ms, undefined, { signal, ref: false });
}

/** Part of PushColumns that determines its memory. */
interface ColumnCounts {
  readonly count: number;
  readonly pairCount: number;
  readonly streams: { readonly length: number };
}

/** Estimates the memory of a decoded push in addition to its bytes, until it is stored. */
export function bytesOfColumns({ count, pairCount, streams }: ColumnCounts): number {
  return count * BYTES_OF_ENTRY + pairCount * BYTES_OF_PAIR + streams.length * BYTES_OF_STREAM;
}
