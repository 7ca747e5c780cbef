/**
 * Memory of the pushes that are being decoded and stored, counted together: a body of 1 MB may hold 128, and a thousand requests may
 * come at once. A push that finds too little left waits for others to end, and is refused after a while; it may be sent again.
 *
 * One tenant may hold a quarter while another one waits that holds less, and three quarters at most while others push at all: there is
 * always room for who comes next. The tenant that holds least is served first. A small push never waits, and a push that is alone may
 * take all that the limits of one push allow: it is never refused for its size here.
 */
import { setTimeout as sleepMs } from 'node:timers/promises';
import { ClientError } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';

/** Two of the largest pushes that are usual, or some hundred of 1 MB. */
export const MAX_PUSH_BYTES = 256 * 1024 * 1024;
/** Of one tenant, while another one waits. */
const SHARE = 1 / 4;
/** Of one tenant at most, unless it is alone. */
const MOST = 3 / 4;
/** What a push takes without waiting: 64 MiB for as many as a gateway serves at once. */
const SMALL_PUSH_BYTES = 64 * 1024;
/** Below what agents wait for an answer. */
const MAX_WAIT_MS = 5000;

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

interface Push {
  readonly tenant: string;
  bytes: number;
  waiting: Waiting | undefined;
}

interface Waiting {
  readonly push: Push;
  readonly bytes: number;
  readonly grant: () => void;
  readonly refuse: () => void;
}

export interface PushBudgetOptions {
  readonly sleep?: Clock['sleep'];
  readonly maxWaitMs?: number;
}

export class PushBudget {
  private total = 0;
  private readonly maxBytes: number;
  private readonly sleep: Clock['sleep'];
  private readonly maxWaitMs: number;
  private readonly byTenant = new Map<string, number>();
  /** In the order in which they came. */
  private readonly queue = new Set<Waiting>();
  /** Pushes that hold something. */
  private readonly holders = new Set<Push>();

  constructor(
    maxBytes: number = MAX_PUSH_BYTES,
    { sleep = realSleep, maxWaitMs = MAX_WAIT_MS }: PushBudgetOptions = {},
  ) {
    this.maxBytes = maxBytes;
    this.sleep = sleep;
    this.maxWaitMs = maxWaitMs;
  }

  /** Bytes that all pushes hold, and pushes that wait for some. */
  get figures(): { readonly bytes: number; readonly waiting: number } {
    return { bytes: this.total, waiting: this.queue.size };
  }

  open(tenant: string): HeldBytes {
    const push: Push = { tenant, bytes: 0, waiting: undefined };
    return {
      take: bytes => {
        if (!this.mayTake(push, bytes)) return this.wait(push, bytes);
        this.grant(push, bytes);
        return undefined;
      },
      release: () => {
        if (push.bytes === 0) return;
        this.count(push, -push.bytes);
        push.bytes = 0;
        this.holders.delete(push);
        this.serve();
      },
    };
  }

  private mayTake({ tenant, bytes: own }: Push, bytes: number): boolean {
    const isAlone = this.total === own;
    if (isAlone || own + bytes <= SMALL_PUSH_BYTES) return true;
    if (this.total + bytes > this.maxBytes) return false;
    const ofTenant = this.heldBy(tenant) + bytes;
    if (ofTenant <= SHARE * this.maxBytes) return true;
    return ofTenant <= MOST * this.maxBytes && !this.isWantedByLess(tenant);
  }

  private heldBy(tenant: string): number {
    return this.byTenant.get(tenant) ?? 0;
  }

  /** A tenant that holds less waits. */
  private isWantedByLess(tenant: string): boolean {
    const held = this.heldBy(tenant);
    for (const { push } of this.queue)
      if (push.tenant !== tenant && this.heldBy(push.tenant) < held) return true;
    return false;
  }

  private grant(push: Push, bytes: number): void {
    push.bytes += bytes;
    this.holders.add(push);
    this.count(push, bytes);
  }

  private count({ tenant }: Push, bytes: number): void {
    this.total += bytes;
    const left = this.heldBy(tenant) + bytes;
    if (left === 0) this.byTenant.delete(tenant);
    else this.byTenant.set(tenant, left);
  }

  private wait(push: Push, bytes: number): Promise<void> {
    const ended = new AbortController();
    const waited = new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.queue.delete(waiting);
        push.waiting = undefined;
        ended.abort();
      };
      const waiting: Waiting = {
        push,
        bytes,
        grant: () => {
          leave();
          this.grant(push, bytes);
          resolve();
        },
        refuse: () => {
          leave();
          reject(this.error(push));
        },
      };
      push.waiting = waiting;
      this.queue.add(waiting);
      this.sleep(this.maxWaitMs, ended.signal).then(waiting.refuse, () => undefined);
    });
    this.endDeadlock();
    return waited;
  }

  /** Grants what can be granted, to who holds least first. */
  private serve(): void {
    if (this.queue.size === 0) return;
    const held = ({ push }: Waiting): number => this.heldBy(push.tenant);
    for (const waiting of [...this.queue].sort((a, b) => held(a) - held(b))) {
      if (this.mayTake(waiting.push, waiting.bytes)) waiting.grant();
    }
    this.endDeadlock();
  }

  /** Where all that hold something wait for more, nobody would ever release any: the last of who holds most is refused. */
  private endDeadlock(): void {
    if (this.queue.size === 0) return;
    for (const { waiting } of this.holders) if (waiting === undefined) return;
    let last: Waiting | undefined;
    let most = 0;
    for (const waiting of this.queue) {
      const held = waiting.push.bytes === 0 ? 0 : this.heldBy(waiting.push.tenant);
      if (held < most || held === 0) continue;
      most = held;
      last = waiting;
    }
    last?.refuse();
  }

  private error({ tenant }: Push): NoRoomError {
    const held = this.heldBy(tenant);
    return new NoRoomError(
      `memory limit for concurrent pushes exceeded (limit: ${this.maxBytes} bytes, in use: ${this.total}, by tenant '${tenant}': ${held}); retry later`,
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
