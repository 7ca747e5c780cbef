/**
 * Commits on their way to the thread that serves live tails. If this process makes all commits of its store, the front thread tells
 * of each before the push is answered, and so even if the thread that pushed is lost. Otherwise the pushing thread has logged them in
 * the table for other processes (shared/storage/catalog/tail-log.ts), and tells of them only so that tails here need not wait for their next
 * look into that log.
 *
 *     ingest-0 -- write --> front -- commit --> table
 *                             |----- committed --> query-0      as long as there is room on the way
 *                             |----- log of tails --> table     if not; then query-0 reads them there
 */

import type { Clock } from '../../shared/base/ports/clock.ts';
import type { Table, Write } from '../../shared/base/ports/table.ts';
import { decodeRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { dayOfChunkPartition } from '../../shared/storage/catalog/keys.ts';
import type { TailLog } from '../../shared/storage/catalog/tail-log.ts';
import type { CommittedChunk, RoleCall } from './role-messages.ts';

export interface TailRelayParts {
  readonly tailLog: Pick<TailLog, 'writes'>;
  readonly table: Pick<Table, 'transact'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Resolves when the thread that serves live tails has taken the call. */
  readonly send: (call: Extract<RoleCall, { kind: 'committed' | 'overflowed' }>) => Promise<unknown>;
  /** Default: MAX_RELAYED_BYTES. */
  readonly maxBytes?: number;
}

/** On the way at once: what 1,000 pushes usually take, or what a thread that does nothing else for seconds leaves unread. */
const MAX_RELAYED_BYTES = 32 * 1024 * 1024;
/** Of a chunk beside its record. */
const MESSAGE_BYTES = 512;

export class TailRelay {
  readonly #parts: TailRelayParts;
  readonly #maxBytes: number;
  /** Connections of live tails by tenant. */
  readonly #tails = new Map<string, Set<string>>();
  /** Sent and not taken yet. */
  #bytes = 0;
  /** Tenants that the thread is being told to read the log of, and whether it has to be told again. */
  readonly #overflowing = new Map<string, boolean>();

  constructor(parts: TailRelayParts) {
    this.#parts = parts;
    this.#maxBytes = parts.maxBytes ?? MAX_RELAYED_BYTES;
  }

  /** From now on commits of the tenant are told. */
  open(tenant: string, connectionId: string): void {
    const tails = this.#tails.get(tenant) ?? new Set();
    this.#tails.set(tenant, tails.add(connectionId));
  }

  close(tenant: string, connectionId: string): void {
    const tails = this.#tails.get(tenant);
    tails?.delete(connectionId);
    if (tails?.size === 0) this.#tails.delete(tenant);
  }

  /**
   * To be called when an ingest thread's writes are committed, and before it hears of that. Rejects with what the table rejects
   * with: a commit that has to be logged and is not must not be acknowledged.
   */
  async committed(writes: readonly Write[]): Promise<void> {
    if (this.#tails.size === 0) return;
    const { table, tailLog, clock } = this.#parts;
    for (const chunk of chunksOf(writes, clock.nowMs())) {
      const { tenant, day, body } = chunk;
      if (!this.#tails.has(tenant) || this.#send([chunk], false)) continue;
      await table.transact(tailLog.writes([decodeRecord(tenant, day, body)], clock.nowMs()));
      this.#overflow(tenant);
    }
  }

  /** Commits that are in the log of tails already. */
  logged(chunks: readonly CommittedChunk[]): void {
    const tailed = chunks.filter(({ tenant }) => this.#tails.has(tenant));
    if (tailed.length === 0 || this.#send(tailed, true)) return;
    for (const { tenant } of tailed) this.#overflow(tenant);
  }

  /** False if there is no room. */
  #send(chunks: readonly CommittedChunk[], logged: boolean): boolean {
    const bytes = chunks.reduce((sum, { body }) => sum + body.byteLength + MESSAGE_BYTES, 0);
    if (this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    const taken = () => {
      this.#bytes -= bytes;
    };
    // A thread that was lost serves no tails any more.
    this.#parts.send({ kind: 'committed', chunks, logged }).then(taken, taken);
    return true;
  }

  #overflow(tenant: string): void {
    if (this.#overflowing.has(tenant)) {
      this.#overflowing.set(tenant, true);
      return;
    }
    this.#overflowing.set(tenant, false);
    const taken = () => {
      const isAgain = this.#overflowing.get(tenant);
      this.#overflowing.delete(tenant);
      if (isAgain) this.#overflow(tenant);
    };
    this.#parts.send({ kind: 'overflowed', tenant }).then(taken, taken);
  }
}

function* chunksOf(writes: readonly Write[], stampMs: number): Generator<CommittedChunk> {
  for (const write of writes) {
    const found = write.kind === 'put' ? dayOfChunkPartition(write.item.pk) : undefined;
    if (found !== undefined && write.kind === 'put') yield { ...found, stampMs, body: write.item.body };
  }
}
