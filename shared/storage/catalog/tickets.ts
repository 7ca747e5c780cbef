/**
 * Tickets for WebSockets of browsers, which cannot set headers. The browser requests a ticket with its token and puts
 * it into the URL. A ticket opens one tail within a minute, so a ticket in a proxy's log is useless. Stored by hash,
 * like tokens.
 *
 *     a/tickets   <SHA-256 of the ticket, hex>   token ID and tenants
 */
import type { Clock } from '../../base/ports/clock.ts';
import { ConditionFailedError, type Table } from '../../base/ports/table.ts';

interface TicketRecord {
  /** ID of the token that requested it. */
  readonly tokenId: string;
  /** Tenants of the request that created it. */
  readonly tenants: readonly string[];
  readonly expiresMs: number;
}

const TICKETS_PARTITION = 'a/tickets';

export class Tickets {
  readonly #table: Table;
  readonly #clock: Clock;

  constructor({ table, clock }: { readonly table: Table; readonly clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  async add(hash: string, record: TicketRecord): Promise<void> {
    const body = Buffer.from(JSON.stringify(record));
    const expiresAt = Math.ceil(record.expiresMs / 1000);
    await this.#table.put({ ...keyOf(hash), version: 0, body, expiresAt }, { kind: 'absent' });
  }

  /** Redeems a ticket. Resolves to its record once, and to undefined afterwards or after its expiry. */
  async take(hash: string): Promise<TicketRecord | undefined> {
    const item = await this.#table.get(keyOf(hash));
    if (item === undefined) return undefined;
    try {
      // Lets one of several concurrent uses win: only one deletes the item.
      await this.#table.delete(keyOf(hash), { kind: 'present' });
    } catch (error) {
      if (error instanceof ConditionFailedError) return undefined;
      throw error;
    }
    const record = JSON.parse(Buffer.from(item.body).toString()) as TicketRecord;
    return record.expiresMs > this.#clock.nowMs() ? record : undefined;
  }
}

function keyOf(hash: string) {
  return { pk: TICKETS_PARTITION, sk: hash };
}
