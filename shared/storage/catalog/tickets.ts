/**
 * Tickets: a browser can give a WebSocket no header, so it asks for one of these with its token and puts it into the address.
 * It opens one tail within a minute; what stays behind in the log of a proxy opens nothing. Stored by hash, like tokens.
 *
 *     a/tickets   <SHA-256 of the ticket, hex>   what it stands for
 */
import type { Clock } from '../../base/ports/clock.ts';
import { ConditionFailedError, type Table } from '../../base/ports/table.ts';

export interface TicketRecord {
  /** Of the token that asked for it. */
  readonly tokenId: string;
  /** Those of the request that asked for it. */
  readonly tenants: readonly string[];
  readonly expiresMs: number;
}

export const TICKETS_PARTITION = 'a/tickets';

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

  /** Resolves to what it stands for once: to undefined afterwards, and after its time. */
  async take(hash: string): Promise<TicketRecord | undefined> {
    const item = await this.#table.get(keyOf(hash));
    if (item === undefined) return undefined;
    try {
      // Of several that come with it at once, one deletes it.
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
