/**
 * `POST /flush`: merge what exists now. The table stores the request, so that the next run of the compaction
 * job handles it in any process, and a killed run is repeated.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';

interface FlushRecord {
  /** Time of the newest request, Unix ms. */
  readonly requestedMs: number;
  /** Time of the newest completed request, Unix ms. */
  readonly doneMs: number;
}

const STATE = 'flush';
const NEVER: FlushRecord = { requestedMs: 0, doneMs: 0 };

export class FlushRequest {
  readonly #catalog: Catalog;
  readonly #clock: Clock;

  constructor({ catalog, clock }: { catalog: Catalog; clock: Clock }) {
    this.#catalog = catalog;
    this.#clock = clock;
  }

  async make(): Promise<void> {
    // Later than every previous request, whatever the clocks of the processes. Otherwise it would count as
    // completed.
    await this.#catalog.states.change(STATE, NEVER, value => ({
      ...value,
      requestedMs: Math.max(this.#clock.nowMs(), value.requestedMs + 1),
    }));
  }

  /** Returns the waiting request, or undefined. */
  async pending(): Promise<number | undefined> {
    const { value } = await this.#catalog.states.read(STATE, NEVER);
    return value.requestedMs > value.doneMs ? value.requestedMs : undefined;
  }

  /** @param requestedMs the value that `pending` returned; requests made meanwhile still wait */
  async complete(requestedMs: number): Promise<void> {
    await this.#catalog.states.change(STATE, NEVER, value => ({
      ...value,
      doneMs: Math.max(value.doneMs, requestedMs),
    }));
  }
}
