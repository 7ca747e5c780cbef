/**
 * Usage of a tenant and day, one item for each process that counted a part of it. A writer owns its item and writes its
 * whole count each time. So writes need no condition, and a repeated write changes nothing. A reader adds the counts
 * up.
 *
 *     u/<tenant>/<day>   <writer>   counts of one process
 */
import { SECONDS_PER_DAY } from '../../base/model/time-units.ts';
import type { Table } from '../../base/ports/table.ts';
import { dayText } from './keys.ts';

/**
 * Days for which usage is kept: a year and a month, so that the current month can be compared with that of last year.
 */
export const KEPT_DAYS = 400;

export interface UsageRecord {
  readonly tenant: string;
  /** UTC day since 1970-01-01. */
  readonly day: number;
  /** Unique among all processes, forever. */
  readonly writer: string;
  readonly body: Uint8Array;
}

export class UsageRecords {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async write({ tenant, day, writer, body }: UsageRecord): Promise<void> {
    const expiresAt = (day + 1 + KEPT_DAYS) * SECONDS_PER_DAY;
    await this.#table.put({ pk: partition(tenant, day), sk: writer, version: 0, body, expiresAt });
  }

  /** Deletes the counts of one process, to rename a tenant. */
  async remove({ tenant, day, writer }: Omit<UsageRecord, 'body'>): Promise<void> {
    await this.#table.delete({ pk: partition(tenant, day), sk: writer });
  }

  /** Counts of a day by all processes. */
  async *read(tenant: string, day: number): AsyncGenerator<UsageRecord> {
    let after: string | undefined;
    do {
      const page = await this.#table.query(partition(tenant, day), { after });
      for (const { sk: writer, body } of page.items) yield { tenant, day, writer, body };
      after = page.next;
    } while (after !== undefined);
  }
}

function partition(tenant: string, day: number): string {
  return `u/${tenant}/${dayText(day)}`;
}
