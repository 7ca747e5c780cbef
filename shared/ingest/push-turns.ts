/**
 * Turns of pushes. Decoding, checking, grouping and packing are each some milliseconds of a large push, and others get their
 * turn in between. Who works much gives way there to requests of who works little (shared/query/tenant-load.ts), and then its
 * pieces come one at a time: all that waited would hold the thread together.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';
import { type TenantLoad, WOKEN } from '../query/tenant-load.ts';

/** How many times what it worked a push gives way: a tenant's pushes get a third of a thread that others always want. */
const GIVE_WAY_FACTOR = 2;

interface Piece {
  readonly tenant: string;
  readonly go: () => void;
}

export interface PushTurnsParts {
  readonly load: Pick<TenantLoad, 'nowMs' | 'note' | 'waitMs'> & Partial<Pick<TenantLoad, 'onEnd'>>;
  readonly sleep: Clock['sleep'];
}

export class PushTurns {
  readonly #load: PushTurnsParts['load'] | undefined;
  readonly #sleep: Clock['sleep'] | undefined;
  /** In the order in which they came. */
  #waiting: Piece[] = [];
  /** Ends the wait under way. */
  #wake: (() => void) | undefined;

  /** @param parts without them there is a turn for others, and nobody gives way */
  constructor(parts?: PushTurnsParts) {
    this.#load = parts?.load;
    this.#sleep = parts?.sleep;
    parts?.load.onEnd?.(() => this.#wake?.());
  }

  nowMs(): number {
    return this.#load?.nowMs() ?? 0;
  }

  /** Counts work for `tenant` that began at `startedMs` and has ended. */
  note(startedMs: number, tenant: string): void {
    this.#load?.note(startedMs, tenant);
  }

  /** Before a piece of work: there is a turn for others in any case. */
  async take(tenant: string): Promise<void> {
    const isFirst = !this.#waiting.some(piece => piece.tenant === tenant);
    if (isFirst && !this.#givesWay(tenant)) return nextRound();
    return new Promise(go => {
      this.#waiting.push({ tenant, go });
      if (this.#waiting.length === 1) void this.#letGo();
    });
  }

  #givesWay(tenant: string): boolean {
    return (this.#load?.waitMs(tenant, GIVE_WAY_FACTOR) ?? 0) > 0;
  }

  /** Rounds as long as somebody waits. */
  async #letGo(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextRound();
      const next = this.#waiting.findIndex(({ tenant }) => !this.#givesWay(tenant));
      if (next !== -1) this.#waiting.splice(next, 1)[0].go();
      else await this.#rest();
    }
  }

  /** Until a request has ended, or somebody has waited as long as it may have to. */
  async #rest(): Promise<void> {
    const tenants = new Set(this.#waiting.map(({ tenant }) => tenant));
    let ms = Infinity;
    for (const tenant of tenants) ms = Math.min(ms, this.#load!.waitMs(tenant, GIVE_WAY_FACTOR));
    const ending = new AbortController();
    this.#wake = () => ending.abort(WOKEN);
    await this.#sleep!(ms, ending.signal).catch(() => undefined);
    this.#wake = undefined;
  }
}
