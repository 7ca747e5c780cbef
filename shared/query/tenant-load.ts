/**
 * What the thread has worked for each tenant lately, and whose requests it is at. A request goes a dozen rounds of the event loop,
 * and in each it may meet a piece of another's work. So who had much gives way to a request of who had little: its next piece
 * waits until that request is answered.
 *
 *     request   |--------------|
 *     pieces  ##                ## ##      ## of who had more than twice as much
 *
 * What a reader would get wrong: nobody is kept from working. A request counts while it is young, and a piece waits for some
 * times what the one before took; then it comes, whoever else is there.
 */

/** Who had less lately, as it counts now, works little: ten panels in a second are 70 ms. */
export const MUCH_MS = 100;
/** What a tenant had counts half after this time. */
const HALF_LIFE_MS = 1000;
/** Another had little where it had less than this part. */
const LITTLE_SHARE = 0.5;
/** A request that takes longer waits for something else than this thread: for a disk, or for a thread that scans. */
export const YOUNG_MS = 50;
/** A piece that was much longer than planned is not paid for in full. */
export const MAX_WAIT_MS = 40;
/** Threads beside this one give way to requests of who had less than this lately: a seventh of this thread. */
const LITTLE_MS = 200;
/** Tenants that are remembered; then those that had the least go. */
const MAX_TENANTS = 1000;

/** Why a rest ends early; without a reason each would make an exception with its stack. */
export const WOKEN = 'somebody may go on';

interface Worked {
  /** As it counts at `usedAtMs`. */
  usedMs: number;
  usedAtMs: number;
  /** Of the last piece here. */
  lastMs: number;
  endedMs: number;
}

/** What a thread asks before its next piece of work. Only the one that serves has requests of its own to tell of. */
export type GivingWay = Pick<TenantLoad, 'note' | 'waitMs'> & Partial<Pick<TenantLoad, 'begin' | 'onEnd'>>;

export interface TenantLoadOptions {
  readonly nowMs?: () => number;
  /** Tells threads beside this one of a request of who works little; what it returns is called when that is answered. */
  readonly beginBeside?: ((tenant: string) => (() => void) | undefined) | undefined;
}

interface Begun {
  readonly tenant: string;
  readonly atMs: number;
}

export class TenantLoad {
  readonly #nowMs: () => number;
  readonly #beginBeside: TenantLoadOptions['beginBeside'];
  readonly #worked = new Map<string, Worked>();
  /** Under way and young, the oldest first. */
  readonly #begun = new Set<Begun>();
  readonly #listeners: (() => void)[] = [];

  constructor({ nowMs = () => performance.now(), beginBeside }: TenantLoadOptions = {}) {
    this.#nowMs = nowMs;
    this.#beginBeside = beginBeside;
  }

  /** Those that are remembered. */
  get tenants(): number {
    return this.#worked.size;
  }

  nowMs(): number {
    return this.#nowMs();
  }

  /** A request of the tenant is at hand. Returns what is to be called when it is answered. */
  begin(tenant: string): () => void {
    const begun = { tenant, atMs: this.#nowMs() };
    this.#begun.add(begun);
    const worksLittle = this.#usedMs(tenant, begun.atMs) < LITTLE_MS;
    const endBeside = worksLittle ? this.#beginBeside?.(tenant) : undefined;
    return () => {
      endBeside?.();
      if (this.#begun.delete(begun)) for (const listener of this.#listeners) listener();
    };
  }

  /** `listener` is called whenever somebody may have waited for a request that has ended. */
  onEnd(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Counts work for the tenant that began at `startedMs` and has ended. */
  note(startedMs: number, tenant: string): void {
    const now = this.#nowMs();
    const worked = this.#count(now - startedMs, tenant, now);
    worked.lastMs = now - startedMs;
    worked.endedMs = now;
  }

  /**
   * Counts work of a thread beside this one: who has much there has much, and stays there. It is no piece of this thread, so the
   * next one here need not give way for it.
   */
  noteBeside(workedMs: number, tenant: string): void {
    this.#count(workedMs, tenant, this.#nowMs());
  }

  /** The tenant had much lately. */
  worksMuch(tenant: string): boolean {
    return this.#usedMs(tenant, this.#nowMs()) >= MUCH_MS;
  }

  #count(workedMs: number, tenant: string, now: number): Worked {
    let worked = this.#worked.get(tenant);
    if (worked === undefined) {
      if (this.#worked.size >= MAX_TENANTS) this.#forget(now);
      worked = { usedMs: 0, usedAtMs: now, lastMs: 0, endedMs: -Infinity };
      this.#worked.set(tenant, worked);
    }
    worked.usedMs = usedAt(worked, now) + workedMs;
    worked.usedAtMs = now;
    return worked;
  }

  /**
   * How long the next piece of the tenant gives way at most, ms; 0 where it may come.
   * @param times what the piece before took that it waits
   */
  waitMs(tenant: string, times: number): number {
    const worked = this.#worked.get(tenant);
    if (worked === undefined || this.#begun.size === 0) return 0;
    const now = this.#nowMs();
    const left = leftToWaitMs(worked, times, now);
    if (left <= 0) return 0;
    const usedMs = usedAt(worked, now);
    if (usedMs < MUCH_MS || !this.#isAtOther(usedMs * LITTLE_SHARE, now)) return 0;
    return Math.max(1, left);
  }

  /** A young request of somebody that had less than `mostMs` is under way. */
  #isAtOther(mostMs: number, now: number): boolean {
    for (const begun of this.#begun) {
      if (now - begun.atMs > YOUNG_MS) this.#begun.delete(begun);
      else if (this.#usedMs(begun.tenant, now) < mostMs) return true;
    }
    return false;
  }

  #usedMs(tenant: string, now: number): number {
    const worked = this.#worked.get(tenant);
    return worked === undefined ? 0 : usedAt(worked, now);
  }

  /** Half of them, so that it is not done for each newcomer. */
  #forget(now: number): void {
    const all = [...this.#worked].sort(([, a], [, b]) => usedAt(a, now) - usedAt(b, now));
    for (const [tenant] of all.slice(0, MAX_TENANTS / 2)) this.#worked.delete(tenant);
  }
}

/** What is left of the time that the piece after a last one gives way, `times` as long as that took; 0 or less where it is over. */
export function leftToWaitMs(last: Pick<Worked, 'lastMs' | 'endedMs'>, times: number, now: number): number {
  return last.endedMs + Math.min(times * last.lastMs, MAX_WAIT_MS) - now;
}

function usedAt({ usedMs, usedAtMs }: Worked, now: number): number {
  return usedMs * 0.5 ** ((now - usedAtMs) / HALF_LIFE_MS);
}
