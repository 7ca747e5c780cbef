/**
 * Number of a tenant's pushes that are not merged yet. Compaction, which reads a day's records anyway, notes it for the
 * processes that ingest. Only a shared table has it. On one machine, merge-backlog.ts counts bytes.
 *
 *     x/<tenant>/unmerged   <day>   number of chunks; expires after 10 minutes
 */
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Table } from '../../base/ports/table.ts';
import { backlogPartition } from './ingest-exchange.ts';
import { dayText } from './keys.ts';

/**
 * Minimum number to note. Pushes between two merges leave fewer, and skipping the note saves small tenants a request.
 */
const NOTED_FROM_CHUNKS = 5_000;
/**
 * Validity of a note, ms. Compaction checks a day with this many chunks every minute. An outdated number must not
 * refuse pushes for long.
 */
const VALID_MS = 600_000;
/** Minimum time between two notes of a day, ms. */
const NOTE_EVERY_MS = 10_000;
/** Number of days whose last note is remembered, 100 bytes each. */
const NOTED_DAYS = 10_000;

interface NotedCount {
  readonly chunks: number;
  readonly atMs: number;
}

export class UnmergedChunks {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #noted = new LruCache<string, NotedCount>(NOTED_DAYS);

  constructor({ table, clock }: { readonly table: Table; readonly clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  /** Notes the number of a day's unmerged chunks. Called by compaction. Throws the errors of the table. */
  async note(tenant: string, day: number, chunks: number): Promise<void> {
    if (this.#table.isDistant !== true) return;
    const name = `${tenant}/${day}`;
    const before = this.#noted.get(name);
    const nowMs = this.#clock.nowMs();
    if (before === undefined || nowMs - before.atMs >= VALID_MS) {
      if (chunks < NOTED_FROM_CHUNKS) return;
    } else {
      const isBelow = chunks < NOTED_FROM_CHUNKS;
      const wasBelow = before.chunks < NOTED_FROM_CHUNKS;
      if (isBelow ? wasBelow : !wasBelow && Math.abs(nowMs - before.atMs) < NOTE_EVERY_MS) return;
    }
    this.#noted.set(name, { chunks, atMs: nowMs });
    await this.#table.put({
      pk: backlogPartition(tenant),
      sk: dayText(day),
      version: chunks,
      body: new Uint8Array(0),
      expiresAt: Math.ceil((nowMs + VALID_MS) / 1000),
    });
  }

  /** Number of unmerged chunks of all days of a tenant. Throws the errors of the table. */
  async of(tenant: string): Promise<number> {
    let chunks = 0;
    let after: string | undefined;
    do {
      const page = await this.#table.query(backlogPartition(tenant), { after });
      for (const { version } of page.items) chunks += version;
      after = page.next;
    } while (after !== undefined);
    return chunks;
  }
}
