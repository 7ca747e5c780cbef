/**
 * Hands chunks over that were just written, with their lines, to threads that query them. The lines were in memory a
 * moment ago: copying them takes a tenth of the time of reading and unpacking them. The receiver copies what it keeps
 * into its caches, so the memory here is only for the way:
 *
 *     write --> FreshChunks.add --> batch in shared memory --> send --> chunksOf --> caches, releaseBatch
 *
 * Nothing depends on it: a chunk that is not handed over is read from the store. So batches are dropped if too many are
 * under way, or if the receiver is late or lost.
 */
import { copyBytes } from '../../base/model/copy-bytes.ts';
import { releaseBody, SharedBodies } from '../../base/model/shared-bodies.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { WrittenChunk } from '../chunk/writer.ts';
import type { ChunkRecord } from './chunk-record.ts';

/** Minimum bytes of lines. Unpacking fewer takes less time than a message to another thread, 0.1 ms. */
const MIN_LINE_BYTES = 64 * 1024;
/**
 * Size of a batch: what 20 MB/s push while it waits. A larger chunk has a separate one. Memory stays as far as a batch once
 * filled it, so larger batches keep the memory of each stall: three of 4 MB did.
 */
const BATCH_BYTES = 2_000_000;
/** Maximum time that a batch waits for more chunks: a message for each push would cost as much as the copies. */
const WAIT_MS = 100;
/** Memory of all batches of a thread that are filled or under way: 16 to 50 pushes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A batch that arrives later may have been overwritten: its memory then counts as lost (shared-bodies.ts). */
const MAX_AGE_MS = 60_000;

interface PlacedChunk {
  /** Without the footer, which is in the chunk's bytes. */
  readonly record: ChunkRecord;
  /** Start of the chunk's bytes in the memory of the batch. Its lines follow. */
  readonly at: number;
}

/** Plain data, for messages to threads. */
export interface FreshBatch {
  readonly memory: Uint8Array;
  /** Unix ms. */
  readonly sentMs: number;
  readonly chunks: readonly PlacedChunk[];
}

/** A chunk in shared memory. */
export interface FreshChunk {
  readonly record: ChunkRecord;
  readonly object: Buffer;
  /** Lines of all pages, in order. */
  readonly lines: Buffer;
}

interface FreshChunksParts {
  /** Returns the thread that queries a tenant, or undefined if none did recently. */
  readonly receiverOf: (tenant: string) => number | undefined;
  /** Must not throw. */
  readonly send: (receiver: number, batch: FreshBatch) => void;
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
}

interface OpenBatch {
  readonly memory: Buffer;
  readonly chunks: PlacedChunk[];
  usedBytes: number;
}

export class FreshChunks {
  readonly #parts: FreshChunksParts;
  readonly #bodies = new SharedBodies(MAX_BYTES);
  /** Batches to which chunks are added, by receiver. */
  readonly #open = new Map<number, OpenBatch>();

  constructor(parts: FreshChunksParts) {
    this.#parts = parts;
  }

  /** Whether a chunk of about this size is to be written with `keepsLines`, and added. */
  wants(tenant: string, lineBytes: number): boolean {
    return lineBytes >= MIN_LINE_BYTES && this.#parts.receiverOf(tenant) !== undefined;
  }

  /** Copies a chunk that is stored. It need not be committed: no query looks for it before that. */
  add(record: ChunkRecord, { bytes, parts, lines }: WrittenChunk): void {
    const receiver = this.#parts.receiverOf(record.tenant);
    if (receiver === undefined) return;
    const batch = this.#batchFor(receiver, bytes + record.lineBytes);
    if (batch === undefined) return;
    // The footer is part of a slab of Node.js. Each message on the way would copy the whole slab, 64 KiB.
    batch.chunks.push({ record: { ...record, footer: undefined }, at: batch.usedBytes });
    for (const part of [...parts, ...lines]) {
      copyBytes(part, batch.memory, batch.usedBytes);
      batch.usedBytes += part.length;
    }
  }

  /** Returns a batch with space for these bytes, or undefined if too many are under way. */
  #batchFor(receiver: number, bytes: number): OpenBatch | undefined {
    const open = this.#open.get(receiver);
    if (open !== undefined && open.usedBytes + bytes <= open.memory.length) return open;
    if (open !== undefined) this.#send(receiver, open);
    const memory = this.#bodies.take(Math.max(bytes, BATCH_BYTES));
    if (memory === undefined) return undefined;
    const batch = { memory, chunks: [], usedBytes: 0 };
    this.#open.set(receiver, batch);
    void this.#parts.clock.sleep(WAIT_MS).then(() => {
      if (this.#open.get(receiver) === batch) this.#send(receiver, batch);
    });
    return batch;
  }

  #send(receiver: number, { memory, chunks }: OpenBatch): void {
    this.#open.delete(receiver);
    this.#parts.send(receiver, { memory, chunks, sentMs: this.#parts.clock.nowMs() });
  }
}

/** Returns the chunks of a batch; none if it is too late to read them. Call `releaseBatch` after their last use. */
export function chunksOf({ memory, sentMs, chunks }: FreshBatch, nowMs: number): FreshChunk[] {
  if (Math.abs(nowMs - sentMs) > MAX_AGE_MS) return [];
  return chunks.map(({ record, at }) => {
    const end = at + record.storedBytes;
    return {
      record,
      object: bufferOf(memory, at, end),
      lines: bufferOf(memory, end, end + record.lineBytes),
    };
  });
}

/** Releases the memory of a batch that was received, or cannot be delivered. */
export function releaseBatch({ memory }: FreshBatch): void {
  releaseBody(memory);
}

function bufferOf({ buffer, byteOffset }: Uint8Array, from: number, to: number): Buffer {
  return Buffer.from(buffer, byteOffset + from, to - from);
}
