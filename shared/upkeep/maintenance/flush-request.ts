/**
 * `POST /flush`: pack what is there now. The request is kept in the table, so that the next run of the compaction job does
 * it in whichever process it runs, and a killed run is repeated.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';

interface FlushRecord {
  /** Unix ms of the newest request. */
  readonly requestedMs: number;
  /** Of the newest request that was done. */
  readonly doneMs: number;
}

const STATE = 'flush';
const NEVER: FlushRecord = { requestedMs: 0, doneMs: 0 };
const MAX_TRIES = 10;

export class FlushRequest {
  readonly #catalog: Catalog;
  readonly #clock: Clock;

  constructor({ catalog, clock }: { catalog: Catalog; clock: Clock }) {
    this.#catalog = catalog;
    this.#clock = clock;
  }

  async make(): Promise<void> {
    // Above every one before, whatever the clocks of the processes say: else it would count as done already.
    await this.#change(value => ({
      ...value,
      requestedMs: Math.max(this.#clock.nowMs(), value.requestedMs + 1),
    }));
  }

  /** The request that waits, or undefined. */
  async pending(): Promise<number | undefined> {
    const { value } = await this.#catalog.states.read(STATE, NEVER);
    return value.requestedMs > value.doneMs ? value.requestedMs : undefined;
  }

  /** `requestedMs` as `pending` gave it: what was asked for meanwhile still waits. */
  async complete(requestedMs: number): Promise<void> {
    await this.#change(value => ({ ...value, doneMs: Math.max(value.doneMs, requestedMs) }));
  }

  async #change(change: (value: FlushRecord) => FlushRecord): Promise<void> {
    const { states } = this.#catalog;
    for (let i = 0; i < MAX_TRIES; i++) {
      const before = await states.read(STATE, NEVER);
      if (await states.replace(STATE, before, change(before.value))) return;
    }
    throw new Error('the flush request changes too fast');
  }
}
