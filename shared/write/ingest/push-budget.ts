/**
 * Memory of the pushes that are being decoded and stored, counted together: a body of 1 MB may hold 128, and a thousand requests may
 * come at once. A push that finds too little left waits for others to end, and is refused after a while; it may be sent again.
 *
 * One tenant may hold a quarter while another one waits that holds less, and three quarters at most while others push at all: there is
 * always room for who comes next. The tenant that holds least is served first. A small push never waits, and a push that is alone may
 * take all that the limits of one push allow: it is never refused for its size here.
 *
 * Threads that share the bound each have a budget; they see each other's counts (push-counts.ts).
 */
import { setTimeout as sleepMs } from 'node:timers/promises';
import { ClientError } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { keyOf, PushCounts } from './push-counts.ts';

/** A push of the largest size with its columns, or some hundred of 1 MB. With the other parts of a process it is under 700 MB. */
export const MAX_PUSH_BYTES = 192 * 1024 * 1024;
/** Of one tenant, while another one waits. */
const SHARE = 1 / 4;
/** Of one tenant at most, unless it is alone. */
const MOST = 3 / 4;
/** What a push takes without waiting: 64 MiB for as many as a gateway serves at once. */
const SMALL_PUSH_BYTES = 64 * 1024;
/** Below what agents wait for an answer. */
export const MAX_WAIT_MS = 5000;
/** Who waits looks so often whether other threads have released something. */
const LOOK_MS = 20;

/** Columns (28 bytes, and room to grow) and what they are sorted by. Rows of a segment are made for a part of a push at a time. */
const BYTES_OF_ENTRY = 80;
const BYTES_OF_PAIR = 32;
/** Labels as objects, text, places in maps. */
const BYTES_OF_STREAM = 1024;

/** Other pushes leave too little; nothing of this one is stored. */
export class NoRoomError extends ClientError {
  constructor(message: string) {
    super(503, message);
  }
}

/** What one push holds. */
export interface HeldBytes {
  /**
   * Undefined if the bytes are granted at once; else resolves when they are, or rejects with NoRoomError. No second call before that.
   */
  take(bytes: number): Promise<void> | undefined;
  /** Releases everything, once. */
  release(): void;
}

/** As its owner sees it. */
export interface OwnedBytes extends HeldBytes {
  /** All that was granted and is not released. */
  readonly bytes: number;
}

interface Push {
  readonly tenant: string;
  bytes: number;
  waiting: Waiting | undefined;
}

interface Waiting {
  readonly push: Push;
  readonly bytes: number;
  /** Is called when the bytes are counted. */
  readonly granted: () => void;
  readonly refuse: () => void;
}

export interface PushBudgetOptions {
  /** Default: MAX_PUSH_BYTES. */
  readonly maxBytes?: number;
  readonly sleep?: Clock['sleep'];
  readonly maxWaitMs?: number;
  /** Default: of this budget alone. */
  readonly counts?: PushCounts | undefined;
}

export class PushBudget {
  readonly #counts: PushCounts;
  readonly #maxBytes: number;
  readonly #sleep: Clock['sleep'];
  readonly #maxWaitMs: number;
  /** In the order in which they came. */
  readonly #queue = new Set<Waiting>();
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

  /** Bytes that the pushes of this thread hold, and pushes that wait for some. */
  get figures(): { readonly bytes: number; readonly waiting: number } {
    return { bytes: this.#counts.ownBytes, waiting: this.#queue.size };
  }

  open(tenant: string): OwnedBytes {
    const push: Push = { tenant, bytes: 0, waiting: undefined };
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

  /** Counts first and looks then, because another thread may do the same now. */
  #tryTake(push: Push, bytes: number): boolean {
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

  /** Whether a push that had `own` bytes may keep the `bytes` that are counted already. */
  #mayHold(tenant: string, own: number, bytes: number): boolean {
    const counts = this.#counts;
    const maxBytes = this.#maxBytes;
    if (own + bytes <= SMALL_PUSH_BYTES) return true;
    const total = counts.bytes;
    const isAlone = total === own + bytes;
    if (isAlone) return true;
    if (total > maxBytes) return false;
    const ofTenant = counts.bytesOf(tenant);
    if (ofTenant <= SHARE * maxBytes) return true;
    return ofTenant <= MOST * maxBytes && !counts.isWantedByLess(tenant, ofTenant - bytes);
  }

  #wait(push: Push, bytes: number): Promise<void> {
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
      const waiting: Waiting = {
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

  /** Grants what can be granted, to who holds least first. */
  #serve(): void {
    if (this.#queue.size === 0) return;
    const held = ({ push }: Waiting): number => this.#counts.bytesOf(push.tenant);
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

  /** Refuses the last push of who holds most where all that hold something wait. */
  #endDeadlock(): void {
    if (this.#queue.size === 0) return;
    const { stuck } = this.#counts;
    if (stuck === undefined) return;
    const ofTenant = ({ push }: Waiting) => push.bytes > 0 && keyOf(push.tenant) === stuck;
    [...this.#queue].findLast(ofTenant)?.refuse();
  }

  #error({ tenant }: Push): NoRoomError {
    const { bytes } = this.#counts;
    const held = this.#counts.bytesOf(tenant);
    return new NoRoomError(
      `memory limit for concurrent pushes exceeded (limit: ${this.#maxBytes} bytes, in use: ${bytes}, by tenant '${tenant}': ${held}); retry later`,
    );
  }
}

function realSleep(ms: number, signal?: AbortSignal): Promise<void> {
  return sleepMs(ms, undefined, { signal, ref: false });
}

/** The part of PushColumns that tells how much it holds. */
export interface ColumnCounts {
  readonly count: number;
  readonly pairCount: number;
  readonly streams: { readonly length: number };
}

/** What a decoded push takes beside its bytes until it is stored, roughly. */
export function bytesOfColumns({ count, pairCount, streams }: ColumnCounts): number {
  return count * BYTES_OF_ENTRY + pairCount * BYTES_OF_PAIR + streams.length * BYTES_OF_STREAM;
}
