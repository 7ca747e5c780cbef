/**
 * A tenant's cache generation number (docs/dev/wire-format.md#cache-generation). It is raised when cached results may
 * be outdated.
 *
 *     n/<tenant>   generation
 */
import type { Clock } from '../../base/ports/clock.ts';
import type { Table } from '../../base/ports/table.ts';

export class GenerationNumbers {
  readonly #table: Table;
  readonly #clock: Clock;

  constructor({ table, clock }: { table: Table; clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  /** The number, Unix ns as decimal digits; empty if it was never set. */
  async read(tenant: string): Promise<string> {
    const item = await this.#table.get(keyOf(tenant));
    return item === undefined ? '' : Buffer.from(item.body).toString();
  }

  /** Sets the number to the current time. */
  async increase(tenant: string): Promise<void> {
    const body = Buffer.from(`${this.#clock.nowNs()}`);
    await this.#table.put({ ...keyOf(tenant), version: 0, body });
  }
}

function keyOf(tenant: string) {
  return { pk: `n/${tenant}`, sk: 'generation' };
}
