/**
 * Relays commits to the thread that serves live tails. If this process makes all commits of its store, the
 * front thread relays each commit before the push is acknowledged, even if the pushing thread is lost.
 * Otherwise the pushing thread logs commits in the table for other processes
 * (shared/storage/catalog/tail-log.ts). It then relays them only so that local tails need not wait for their
 * next read of that log.
 *
 *     ingest-0 -- write --> front -- commit --> table
 *                             |----- committed --> query-0      while the relayed bytes are below the limit
 *                             |----- tail log --> table         otherwise; query-0 then reads them there
 */

import type { Clock } from '../../shared/base/ports/clock.ts';
import type { Table, Write } from '../../shared/base/ports/table.ts';
import { decodeRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { dayOfChunkKey } from '../../shared/storage/catalog/keys.ts';
import type { TailLog } from '../../shared/storage/catalog/tail-log.ts';
import type { CommittedChunk, RoleCall, SharedCount } from './role-messages.ts';

interface TailRelayParts {
  readonly tailLog: Pick<TailLog, 'writes'>;
  readonly table: Pick<Table, 'transact'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Resolves when the thread that serves live tails has received the call. */
  readonly send: (call: Extract<RoleCall, { kind: 'committed' | 'overflowed' }>) => Promise<unknown>;
  /** Default: MAX_RELAYED_BYTES. */
  readonly maxBytes?: number;
}

/** Limit of unreceived bytes: 1,000 usual pushes, or the commits during a long step of the thread. */
const MAX_RELAYED_BYTES = 32 * 1024 * 1024;
/** Bytes of a chunk in addition to its record. */
const MESSAGE_BYTES = 512;

export class TailRelay {
  readonly #parts: TailRelayParts;
  readonly #maxBytes: number;
  /**
   * Number of tenants with live tails, for ingest threads. Without any, they commit without the front thread.
   * They read it before a commit and after it: a tail that was opened meanwhile may have read the table before.
   */
  readonly tailed: SharedCount = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  /** Connections of live tails by tenant. */
  readonly #tails = new Map<string, Set<string>>();
  /** Bytes sent but not received yet. */
  #bytes = 0;
  /** Tenants whose tail log the thread is asked to read, and whether to repeat the message. */
  readonly #overflowing = new Map<string, boolean>();

  constructor(parts: TailRelayParts) {
    this.#parts = parts;
    this.#maxBytes = parts.maxBytes ?? MAX_RELAYED_BYTES;
  }

  /** Starts relaying commits of the tenant. */
  open(tenant: string, connectionId: string): void {
    const tails = this.#tails.get(tenant) ?? new Set();
    this.#tails.set(tenant, tails.add(connectionId));
    Atomics.store(this.tailed, 0, this.#tails.size);
  }

  close(tenant: string, connectionId: string): void {
    const tails = this.#tails.get(tenant);
    tails?.delete(connectionId);
    if (tails?.size === 0) this.#tails.delete(tenant);
    Atomics.store(this.tailed, 0, this.#tails.size);
  }

  /**
   * Call it after an ingest thread's writes are committed, before the thread is notified. Rejects with the
   * table's error: a commit that must be logged but is not must not be acknowledged.
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

  /** Relays commits that are already in the tail log. */
  logged(chunks: readonly CommittedChunk[]): void {
    const tailed = chunks.filter(({ tenant }) => this.#tails.has(tenant));
    if (tailed.length === 0 || this.#send(tailed, true)) return;
    for (const { tenant } of tailed) this.#overflow(tenant);
  }

  /** Returns false if the limit is reached. */
  #send(chunks: readonly CommittedChunk[], logged: boolean): boolean {
    const bytes = chunks.reduce((sum, { body }) => sum + body.byteLength + MESSAGE_BYTES, 0);
    if (this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    const taken = () => {
      this.#bytes -= bytes;
    };
    // A lost thread serves no tails any more.
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
    const found = write.kind === 'put' ? dayOfChunkKey(write.item) : undefined;
    if (found !== undefined && write.kind === 'put') yield { ...found, stampMs, body: write.item.body };
  }
}
