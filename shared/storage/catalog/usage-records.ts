/**
 * Usage of a tenant and day, one item for each process that counted some of it. A writer owns its item and writes its
 * whole count each time, so writes need no condition, and one that is repeated changes nothing; a reader adds up.
 *
 *     u/<tenant>/<day>   <writer>   what one process counted
 */
import { SECONDS_PER_DAY } from '../../base/model/time-units.ts';
import type { Table } from '../../base/ports/table.ts';
import { dayText } from './keys.ts';

/** A year and a month: this month can be compared with the same one a year ago. */
export const KEPT_DAYS = 400;

export interface UsageRecord {
  readonly tenant: string;
  /** UTC day since 1970-01-01. */
  readonly day: number;
  /** Unique among all processes, for ever. */
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

  /** Forgets what one process counted, for a tenant that is moved. */
  async remove({ tenant, day, writer }: Omit<UsageRecord, 'body'>): Promise<void> {
    await this.#table.delete({ pk: partition(tenant, day), sk: writer });
  }

  /** What was counted of a day, by whichever process. */
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
