/**
 * When a scan may look at its next page. Pages are worked on in the thread that takes pushes too: after each one others get
 * their turn. Two things are shared out:
 *
 * Among tenants: a few pages for each round of the event loop, first those of the tenant that has had the least time lately. So
 * the many queries of one tenant cost another's query the page that is being worked on, and a push, which takes a dozen rounds,
 * a page for each, however many queries there are.
 *
 * Between pages and pushes: where pushes wait for the thread, the pages of a tenant, all its queries together, get a share of it.
 * Who has asked for little lately has some saved up.
 *
 *     pages  |##|          |##|          |##|          ## 1.5 ms of work, then 13 ms for whatever else there is
 *
 * Between tenants and the thread itself: where another tenant has been there within some seconds, who works much rests four times
 * as long as it worked, after each turn. A push or a small query takes a dozen rounds of the event loop, and would meet a turn in
 * each of them; so it meets one or two. It waits on while a request of who works little is under way (tenant-load.ts). Pages of
 * tails that are shown count as work, too (shared/tail).
 *
 * What a reader would get wrong: the share holds only while the thread is busy. Pushes that wait for a disk slow no query down.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';
import { type GivingWay, MUCH_MS, WOKEN } from './tenant-load.ts';

/**
 * Of the thread, what queries of a tenant get under pressure: their pages, plans, counts, evaluation and answers, all measured; what
 * HTTP and the catalog take for one is an estimate (engine.ts). Measured with eight clients that ask without a pause: pushes at full
 * speed lose 17 to 22% with this share; 46% with twice as much and half the estimate.
 */
const QUERY_SHARE = 0.1;
/** So that a query never waits long for one page, whatever the one before took. */
const MAX_REST_MS = 200;
/** Of the share, what a tenant may save up: 30 ms of pages, those of a panel or two. */
const SAVED_MS = 300;
/** Of pages, in one round of the event loop: small pages would pay more for the round than they take. */
const ROUND_MS = 1;
/** After a turn of a tenant that works much, while others are there. */
const REST_FACTOR = 4;
/** A turn that was much longer than planned is not paid for in full. */
const MAX_TURN_REST_MS = 30;
/** How many times what it worked a turn gives way to a request of who works little, its rest included. */
const GIVE_WAY_FACTOR = 8;
/** What a tenant had counts half after this time. */
const HALF_LIFE_MS = 1000;
/** Who was held back so lately wants more than it gets. */
const HELD_MS = 1000;
/** Tenants that are remembered; then those that had the least go. */
const MAX_TENANTS = 1000;

export interface ScanTurnsParts {
  /** True where pushes are under way and the thread has no time left. */
  readonly isPressed: () => boolean;
  readonly sleep: Clock['sleep'];
  /** True where another tenant has asked or pushed lately. Without it nobody rests for others. */
  readonly hasOthers?: (tenant: string) => boolean;
  /** Told of all that is worked; who works much gives way to whose requests it has. Without it nobody gives way. */
  readonly load?: GivingWay;
  readonly nowMs?: () => number;
}

interface Share {
  readonly tenant: string;
  /** Worked on its pages, as it counts at `atMs`. */
  usedMs: number;
  atMs: number;
  /** What its last page took. */
  lastMs: number;
  /** Before it no page is due under pressure, ms. */
  nextMs: number;
  /** When pressure last made it wait, ms. */
  heldMs: number;
  /** In the order in which they came. */
  readonly waiting: (() => void)[];
}

export class ScanTurns {
  readonly #parts: ScanTurnsParts | undefined;
  readonly #nowMs: () => number;
  readonly #shares = new Map<string, Share>();
  #waiting = 0;
  /** Ends the rest under way. */
  #wake: (() => void) | undefined;

  /** @param parts without them nobody is pressed */
  constructor(parts?: ScanTurnsParts) {
    this.#parts = parts;
    this.#nowMs = parts?.nowMs ?? (() => performance.now());
    parts?.load?.onEnd?.(() => this.#wake?.());
  }

  /** Those that are remembered. */
  get tenants(): number {
    return this.#shares.size;
  }

  /** To be told to `note` and `rest`. */
  nowMs(): number {
    return this.#nowMs();
  }

  /** A request of the tenant is at hand. Returns what is to be called when it is answered. */
  begin(tenant: string): () => void {
    return this.#parts?.load?.begin?.(tenant) ?? (() => undefined);
  }

  /** Counts work for `tenant` that began at `startedMs` and has ended. */
  note(startedMs: number, tenant = ''): void {
    const now = this.#nowMs();
    const workedMs = now - startedMs;
    const share = this.#shareOf(tenant, now);
    share.usedMs = usedAt(share, now) + workedMs;
    share.atMs = now;
    share.lastMs = workedMs;
    this.#parts?.load?.note(startedMs, tenant);
    if (!this.#parts?.isPressed()) return;
    // Those that rest at the same time line up behind each other; several tenants halve it, and so on.
    const from = Math.max(share.nextMs, startedMs - SAVED_MS);
    const restOfAll = (workedMs / QUERY_SHARE) * Math.max(1, this.#resting(now));
    share.nextMs = Math.min(from + restOfAll, now + MAX_REST_MS);
  }

  /**
   * Waits for a turn; what is worked in it, without waiting for anything, is told to `note`. Throws the signal's reason where it
   * waits long.
   */
  async take(signal: AbortSignal, tenant = ''): Promise<void> {
    const now = this.#nowMs();
    const share = this.#shareOf(tenant, now);
    const restMs = share.nextMs - now;
    if (restMs >= 1 && this.#parts?.isPressed()) {
      share.heldMs = now;
      await this.#parts.sleep(restMs, signal);
    }
    return new Promise(go => {
      share.waiting.push(go);
      this.#waiting++;
      if (this.#waiting === 1) void this.#letGo();
      else if (this.#restMs(share, now) === 0) this.#wake?.();
    });
  }

  /** From one turn, which began at `startedMs`, to the next. Throws the signal's reason where it waits long. */
  rest(startedMs: number, signal: AbortSignal, tenant = ''): Promise<void> {
    this.note(startedMs, tenant);
    return this.take(signal, tenant);
  }

  /** Somebody else than the tenant has waited because of pressure within a second. */
  holdsOthersBack(tenant: string): boolean {
    const sinceMs = this.#nowMs() - HELD_MS;
    for (const share of this.#shares.values()) {
      if (share.tenant !== tenant && share.heldMs >= sinceMs) return true;
    }
    return false;
  }

  /** Rounds as long as somebody waits. */
  async #letGo(): Promise<void> {
    while (this.#waiting > 0) {
      await nextRound();
      const now = this.#nowMs();
      let { share, restMs } = this.#nextShare(now);
      if (share === undefined) {
        await this.#rest(restMs);
        continue;
      }
      for (let ms = 0; share !== undefined && ms < ROUND_MS; { share } = this.#nextShare(now)) {
        const go = share.waiting.shift()!;
        this.#waiting--;
        // It may take as long as the one before.
        ms += share.lastMs;
        go();
      }
    }
  }

  /** Among the tenants with a page that waits and may come, the one that had the least; without one, how long none may. */
  #nextShare(now: number): { readonly share: Share | undefined; readonly restMs: number } {
    let least: Share | undefined;
    let leastRestMs = Infinity;
    for (const share of this.#shares.values()) {
      if (share.waiting.length === 0) continue;
      const restMs = this.#restMs(share, now);
      leastRestMs = Math.min(leastRestMs, restMs);
      if (restMs > 0) continue;
      if (least === undefined || usedAt(share, now) < usedAt(least, now)) least = share;
    }
    return { share: least, restMs: leastRestMs };
  }

  /** Before the tenant's next turn, for others; 0 where it may come. */
  #restMs(share: Share, now: number): number {
    const { tenant, atMs, lastMs } = share;
    const givesWayMs = this.#parts?.load?.waitMs(tenant, GIVE_WAY_FACTOR) ?? 0;
    const left = atMs + Math.min(REST_FACTOR * lastMs, MAX_TURN_REST_MS) - now;
    const rests = left > 0 && usedAt(share, now) >= MUCH_MS && this.#parts?.hasOthers?.(tenant) === true;
    return rests ? Math.max(1, left, givesWayMs) : givesWayMs;
  }

  async #rest(ms: number): Promise<void> {
    const ending = new AbortController();
    this.#wake = () => ending.abort(WOKEN);
    await this.#parts!.sleep(ms, ending.signal).catch(() => undefined);
    this.#wake = undefined;
  }

  /** Tenants that pressure holds back. */
  #resting(now: number): number {
    let resting = 0;
    for (const { nextMs } of this.#shares.values()) if (nextMs > now) resting++;
    return resting;
  }

  #shareOf(tenant: string, now: number): Share {
    const known = this.#shares.get(tenant);
    if (known !== undefined) return known;
    if (this.#shares.size >= MAX_TENANTS) this.#forget(now);
    const share: Share = {
      tenant,
      usedMs: 0,
      atMs: now,
      lastMs: 0,
      nextMs: 0,
      heldMs: -Infinity,
      waiting: [],
    };
    this.#shares.set(tenant, share);
    return share;
  }

  /** Half of those that nothing waits for, so that it is not done for each newcomer. */
  #forget(now: number): void {
    const idle = [...this.#shares].filter(([, { waiting }]) => waiting.length === 0);
    idle.sort(([, a], [, b]) => usedAt(a, now) - usedAt(b, now));
    for (const [tenant] of idle.slice(0, Math.ceil(idle.length / 2))) this.#shares.delete(tenant);
  }
}

function usedAt({ usedMs, atMs }: Share, now: number): number {
  return usedMs * 0.5 ** ((now - atMs) / HALF_LIFE_MS);
}
