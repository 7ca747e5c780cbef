/**
 * Pushes that arrive within a few milliseconds become one object and one durable write; then all of them are
 * answered. Nothing is acknowledged before object and record are durable, and no buffer here ever holds
 * acknowledged data.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Catalog } from '../catalog/catalog.ts';
import { type ChunkRecord, objectKey, recordOf } from '../catalog/chunk-record.ts';
import { type Compression, PUSH_COMPRESSION } from '../chunk/compression.ts';
import { footerLength } from '../chunk/footer-codec.ts';
import { TRAILER_BYTES } from '../chunk/format.ts';
import { footerOf } from '../chunk/reader.ts';
import { type WrittenChunk, writeChunk } from '../chunk/writer.ts';
import type { Clock } from '../ports/clock.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { AcceptedPush } from './push-columns.ts';
import { MAX_GROUPED_PUSHES, segmentsOf } from './segment.ts';

export interface GroupCommitOptions {
  /** How long a push waits for company when nothing is being written, ms. */
  readonly waitMs: number;
  /** A group is written at once from this many bytes of lines. */
  readonly maxGroupBytes: number;
  /** Chunks up to this many stored bytes lie in their record. */
  readonly inlineMaxBytes: number;
  readonly compression: Compression;
}

export const DEFAULT_GROUP_COMMIT: GroupCommitOptions = {
  // Shorter than an fsync on most disks, so that waiting never dominates an acknowledgement.
  waitMs: 2,
  maxGroupBytes: 4 * 1024 * 1024,
  // docs/cost.md: where the write units of record and deletion cost as much as an object put and get.
  inlineMaxBytes: 4096,
  compression: PUSH_COMPRESSION,
};

/** Groups of one tenant being written at once: one compresses while the other waits for the disk. */
const WRITES_AT_ONCE = 3;

interface Waiting {
  readonly push: AcceptedPush;
  readonly id: string;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Lane {
  waiting: Waiting[];
  waitingBytes: number;
  writing: number;
  timer: NodeJS.Timeout | undefined;
}

export class GroupCommitter {
  private readonly lanes = new Map<string, Lane>();
  private readonly store: ObjectStore;
  private readonly catalog: Catalog;
  private readonly clock: Clock;
  private readonly options: GroupCommitOptions;

  constructor(store: ObjectStore, catalog: Catalog, clock: Clock, options = DEFAULT_GROUP_COMMIT) {
    this.store = store;
    this.catalog = catalog;
    this.clock = clock;
    this.options = options;
  }

  /**
   * Resolves when every entry of the push is durable and visible.
   * @param id hash of tenant and body, 32 hex digits
   */
  commit(tenant: string, push: AcceptedPush, id: string): Promise<void> {
    let lane = this.lanes.get(tenant);
    if (lane === undefined) {
      lane = { waiting: [], waitingBytes: 0, writing: 0, timer: undefined };
      this.lanes.set(tenant, lane);
    }
    const ofTenant = lane;
    return new Promise((resolve, reject) => {
      const bytes = push.columns.bytes.length;
      ofTenant.waiting.push({ push, id, bytes, resolve, reject });
      ofTenant.waitingBytes += bytes;
      this.consider(tenant, ofTenant);
    });
  }

  /** Starts writing where it is time to, or sets the timer that will. */
  private consider(tenant: string, lane: Lane): void {
    if (lane.waiting.length === 0 || lane.writing >= WRITES_AT_ONCE) return;
    const full = lane.waitingBytes >= this.options.maxGroupBytes || lane.waiting.length >= MAX_GROUPED_PUSHES;
    if (full) this.start(tenant, lane);
    else lane.timer ??= setTimeout(() => this.start(tenant, lane), this.options.waitMs);
  }

  private start(tenant: string, lane: Lane): void {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    const group = this.take(lane);
    if (group.length === 0) return;
    lane.writing++;
    void this.write(tenant, group).finally(() => {
      lane.writing--;
      this.consider(tenant, lane);
      if (lane.writing === 0 && lane.waiting.length === 0) this.lanes.delete(tenant);
    });
  }

  private take(lane: Lane): Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < lane.waiting.length && count < MAX_GROUPED_PUSHES) {
      if (count > 0 && bytes + lane.waiting[count].bytes > this.options.maxGroupBytes) break;
      bytes += lane.waiting[count].bytes;
      count++;
    }
    lane.waitingBytes -= bytes;
    return lane.waiting.splice(0, count);
  }

  private async write(tenant: string, group: readonly Waiting[]): Promise<void> {
    try {
      await this.storeGroup(tenant, group);
      for (const waiting of group) waiting.resolve();
    } catch (error) {
      if (group.length === 1) return group[0].reject(error);
      // One push must not take its neighbours down: each gets a write and an answer of its own.
      for (const waiting of group) await this.write(tenant, [waiting]);
    }
  }

  private async storeGroup(tenant: string, group: readonly Waiting[]): Promise<void> {
    const segments = segmentsOf(group.map(waiting => waiting.push));
    const records: ChunkRecord[] = [];
    for (const { day, rows } of segments) {
      const id = chunkId(group, day);
      const head = { id, tenant, day, level: 0, createdMs: this.clock.nowMs(), inputs: [] };
      records.push(await this.put(await writeChunk(head, rows, this.options.compression)));
      // Small chunks wait for nothing: a push of thousands of days must not hold up everybody else.
      if (segments.length > 1) await nextTurn();
    }
    await this.catalog.addChunks(records);
  }

  private async put(chunk: WrittenChunk): Promise<ChunkRecord> {
    const { footer, parts, bytes, footerBytes } = chunk;
    const tail = parts[parts.length - 1];
    const body = Buffer.concat(parts, bytes);
    if (bytes <= this.options.inlineMaxBytes)
      return recordOf(footer, bytes, footerBytes, { inline: body, tail });
    const key = objectKey(footer.tenant, footer.day, footer.level, footer.id);
    if (await this.store.putIfAbsent(key, body)) {
      return recordOf(footer, bytes, footerBytes, { inline: undefined, tail });
    }
    // An earlier try of the same group got this far. Its bytes may differ (the time of writing), so it describes itself.
    const stored = await this.store.get(key);
    const storedFooter = footerOf(stored, key);
    const storedFooterBytes = footerLength(stored, stored.length, key) + TRAILER_BYTES;
    const storedTail = stored.subarray(stored.length - storedFooterBytes);
    return recordOf(storedFooter, stored.length, storedFooterBytes, { inline: undefined, tail: storedTail });
  }
}

/** The same pushes make the same id, so a retry meets its own object. */
function chunkId(group: readonly Waiting[], day: number): string {
  const hash = createHash('sha256').update(`${day}`);
  for (const { id } of group) hash.update(id);
  return hash.digest('hex').slice(0, 32);
}
