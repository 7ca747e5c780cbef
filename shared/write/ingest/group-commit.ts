/**
 * Combines pushes that arrive within a few milliseconds into one object and one durable write, then
 * acknowledges all of them. Nothing is acknowledged before object and record are durable, and no buffer ever
 * holds acknowledged data.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { INVARIANTS, mustHold } from '../../base/model/invariants.ts';
import type { Pace } from '../../base/model/steps.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { AscendingChunkIds, MAX_COMMIT_MS } from '../../storage/catalog/chunk-id.ts';
import { storeChunk } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { FreshChunks } from '../../storage/catalog/fresh-chunks.ts';
import type { ChunkIndexer } from '../../storage/chunk/chunk-indexer.ts';
import { INDEXED_PUSH_BYTES, pageBytesOfPush } from '../../storage/chunk/format.ts';
import { releaseLines } from '../../storage/chunk/page-writer.ts';
import type { ChunkRows } from '../../storage/chunk/rows.ts';
import { writeChunk } from '../../storage/chunk/writer.ts';
import { type Compression, PUSH_COMPRESSION } from '../../storage/codec/compression.ts';
import { chunkIndexers } from '../../upkeep/indexing/index-chunk.ts';
import { withPatterns } from '../../upkeep/pattern-mining/pattern-indexer.ts';
import type { AcceptedPush } from './push-columns.ts';
import { RecordPartitions } from './record-partitions.ts';
import { type DayRows, MAX_GROUPED_PUSHES, segmentsOf } from './segment.ts';

interface GroupCommitOptions {
  /** Maximum time that a push waits for others, ms. */
  readonly waitMs: number;
  /**
   * Whether a group over a distant store always waits for `waitMs`, even if no other push is being read. Fewer and
   * larger objects are then worth the wait. Default: false.
   */
  readonly gathers?: boolean;
  /** Line bytes from which on a group is written at once. */
  readonly maxGroupBytes: number;
  /** Maximum stored bytes of an inline chunk. */
  readonly inlineMaxBytes: number;
  readonly compression: Compression;
  /** Whether large chunks get patterns. */
  readonly minesPatterns?: boolean;
}

export const DEFAULT_GROUP_COMMIT: GroupCommitOptions = {
  // Shorter than an fsync on most disks, so that waiting never dominates the time to acknowledge.
  waitMs: 2,
  maxGroupBytes: 4 * 1024 * 1024,
  // Size at which the write units of record and deletion cost as much as an object put and get
  // (docs/dev/cost-model.md).
  inlineMaxBytes: 4096,
  compression: PUSH_COMPRESSION,
};

/** Groups of one tenant written at once: one compresses while the other waits for the disk. */
const WRITES_AT_ONCE = 3;
/**
 * Minimum milliseconds between the starts of two groups of a tenant over a distant store, if the first is still being
 * written. Pushes wait half of it on average, and share the requests of their group. The number of groups that are
 * written at once follows from the latency of the store: a slower one gets no less work.
 */
const DISTANT_SPACING_MS = 5;
/** Over a slower store than this number of spacings, groups become larger. */
const MAX_DISTANT_WRITES_AT_ONCE = 16;

interface WaitingPush {
  readonly push: AcceptedPush;
  readonly bytes: number;
  /** Unix ms. */
  readonly sinceMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Above this total body size, each write step of a group runs in its own time slice. */
const LONG_GROUP_BYTES = 96 * 1024;

interface TenantQueue {
  waiting: WaitingPush[];
  waitingBytes: number;
  writing: number;
  /** Start of the last group, Unix ms. */
  startedMs: number;
  /** Announced pushes that are being read. */
  coming: number;
  /** The running wait for more pushes. A wait that was replaced starts no write. */
  wait: Promise<void> | undefined;
}

/** Figures of a chunk for metrics. */
type ChunkFigures = Pick<ChunkRecord, 'storedBytes' | 'lineBytes' | 'rows' | 'first' | 'last'>;

/** A group of pushes that became durable. */
export interface WrittenGroup {
  readonly records: readonly ChunkFigures[];
  /** Seconds since the start of its write. */
  readonly seconds: number;
  /** Whether the group had reached its maximum size. */
  readonly isFull: boolean;
}

export interface GroupCommitParts {
  readonly store: ObjectStore;
  readonly catalog: Pick<Catalog, 'addChunks'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly options?: GroupCommitOptions;
  /** Returns the bytes per second that all processes receive for a tenant, if they exchange that. */
  readonly demandOf?: ((tenant: string) => number | undefined) | undefined;
  /** Called for each group. Must not throw. */
  readonly onWritten?: (group: WrittenGroup) => void;
  /** Scheduler of the thread. Each step of a large group is a time slice. */
  readonly scheduler?: FairScheduler;
  /** Hands chunks over to threads that query them. Default: they are read from the store. */
  readonly fresh?: Pick<FreshChunks, 'wants' | 'add'> | undefined;
}

export class GroupCommitter {
  readonly #queues = new Map<string, TenantQueue>();
  readonly #store: ObjectStore;
  readonly #catalog: GroupCommitParts['catalog'];
  readonly #clock: Clock;
  readonly #ids: AscendingChunkIds;
  readonly #options: GroupCommitOptions;
  readonly #onWritten: GroupCommitParts['onWritten'];
  readonly #demandOf: GroupCommitParts['demandOf'];
  readonly #fresh: GroupCommitParts['fresh'];
  readonly #partitions = new RecordPartitions();
  /** Announced pushes of all tenants. */
  #coming = 0;
  /** Pushes of the last group of any tenant. */
  #lastPushes = 0;
  protected readonly scheduler: FairScheduler;

  constructor(parts: GroupCommitParts) {
    const { store, catalog, clock, ids, options = DEFAULT_GROUP_COMMIT, onWritten } = parts;
    this.scheduler = parts.scheduler ?? new FairScheduler();
    this.#onWritten = onWritten;
    this.#demandOf = parts.demandOf;
    this.#fresh = parts.fresh;
    this.#store = store;
    this.#catalog = catalog;
    this.#clock = clock;
    this.#ids = new AscendingChunkIds(clock, ids);
    this.#options = options;
  }

  /** Number of groups that are being written, and that wait. */
  get load(): { readonly writing: number; readonly waiting: number } {
    let writing = 0;
    let waiting = 0;
    for (const queue of this.#queues.values()) {
      writing += queue.writing;
      if (queue.waiting.length > 0) waiting++;
    }
    return { writing, waiting };
  }

  /**
   * Announces a push that is being read, for which a group may wait. Call the returned function before `commit`,
   * or when the push has failed. Further calls do nothing.
   */
  announce(tenant: string): () => void {
    const queue = this.#queueOf(tenant);
    queue.coming++;
    this.#coming++;
    let isComing = true;
    return () => {
      if (!isComing) return;
      isComing = false;
      queue.coming--;
      this.#coming--;
      this.#dropIfEmpty(tenant, queue);
    };
  }

  /** Resolves when every entry of the push is durable and visible. */
  commit(tenant: string, push: AcceptedPush): Promise<void> {
    const queue = this.#queueOf(tenant);
    return new Promise((resolve, reject) => {
      const bytes = push.columns.bytes.length;
      queue.waiting.push({ push, bytes, sinceMs: this.#clock.nowMs(), resolve, reject });
      queue.waitingBytes += bytes;
      this.#consider(tenant, queue);
    });
  }

  #queueOf(tenant: string): TenantQueue {
    let queue = this.#queues.get(tenant);
    if (queue === undefined) {
      queue = { waiting: [], waitingBytes: 0, writing: 0, startedMs: 0, coming: 0, wait: undefined };
      this.#queues.set(tenant, queue);
    }
    return queue;
  }

  #dropIfEmpty(tenant: string, { waiting, writing, coming }: TenantQueue): void {
    if (waiting.length === 0 && writing === 0 && coming === 0) this.#queues.delete(tenant);
  }

  get #isDistant(): boolean {
    return this.#store.isDistant === true;
  }

  /** Starts a write if one is due, or the wait that will start it. */
  #consider(tenant: string, queue: TenantQueue): void {
    const maxWriting = this.#isDistant ? MAX_DISTANT_WRITES_AT_ONCE : WRITES_AT_ONCE;
    if (queue.waiting.length === 0 || queue.writing >= maxWriting) return;
    const full =
      queue.waitingBytes >= this.#options.maxGroupBytes || queue.waiting.length >= MAX_GROUPED_PUSHES;
    if (full || this.#isDue(queue)) this.#start(tenant, queue);
    else queue.wait ??= this.#waitThenStart(tenant, queue);
  }

  /**
   * Whether a group is written without a wait: it is not too early, and no other push is expected or its first push has
   * waited long enough. Agents notice a further wait.
   */
  #isDue(queue: TenantQueue): boolean {
    if (this.#earlyMs(queue) > 0) return false;
    if (!this.#expectsMore(queue)) return true;
    const waitedMs = this.#clock.nowMs() - queue.waiting[0].sinceMs;
    return waitedMs > 0 && waitedMs >= this.#options.waitMs;
  }

  #expectsMore({ coming, writing }: TenantQueue): boolean {
    if (coming > 0 || this.#options.gathers === true) return true;
    // On a disk, a wait saves syncs if pushes overlap.
    return !this.#isDistant && (writing > 0 || this.#lastPushes > 1);
  }

  /** Milliseconds until another group may be written, next to those that are being written. */
  #earlyMs({ writing, startedMs }: TenantQueue): number {
    if (writing === 0 || !this.#isDistant) return 0;
    const sinceMs = this.#clock.nowMs() - startedMs;
    // A clock that was set back delays no group.
    return sinceMs < 0 ? 0 : Math.max(0, DISTANT_SPACING_MS - sinceMs);
  }

  #waitThenStart(tenant: string, queue: TenantQueue): Promise<void> {
    const waitMs = Math.max(this.#earlyMs(queue), this.#expectsMore(queue) ? this.#options.waitMs : 0);
    const wait = this.#clock.sleep(waitMs).then(() => {
      if (queue.wait === wait) this.#start(tenant, queue);
    });
    return wait;
  }

  #start(tenant: string, queue: TenantQueue): void {
    queue.wait = undefined;
    const group = this.#take(queue);
    if (group.length === 0) return;
    this.#lastPushes = group.length;
    queue.writing++;
    queue.startedMs = this.#clock.nowMs();
    void this.#write(tenant, group).finally(() => {
      queue.writing--;
      this.#consider(tenant, queue);
      this.#dropIfEmpty(tenant, queue);
    });
  }

  #take(queue: TenantQueue): WaitingPush[] {
    let bytes = 0;
    let count = 0;
    while (count < queue.waiting.length && count < MAX_GROUPED_PUSHES) {
      if (count > 0 && bytes + queue.waiting[count].bytes > this.#options.maxGroupBytes) break;
      bytes += queue.waiting[count].bytes;
      count++;
    }
    queue.waitingBytes -= bytes;
    return queue.waiting.splice(0, count);
  }

  async #write(tenant: string, group: readonly WaitingPush[]): Promise<void> {
    try {
      await this.#storeGroup(tenant, group);
      for (const waiting of group) waiting.resolve();
    } catch (error) {
      if (group.length === 1) return group[0].reject(error);
      // One push must not fail its neighbors: each gets its own write and result.
      for (const waiting of group) await this.#write(tenant, [waiting]);
    }
  }

  async #storeSegment(
    { tenant, id, createdMs, pace }: ChunkToStore,
    { day, rows }: DayRows,
  ): Promise<ChunkRecord> {
    const head = { id, tenant, day, level: 0, createdMs, inputs: [] };
    const indexer = isLarge(rows) ? this.#indexer() : undefined;
    const isHanded = this.#fresh?.wants(tenant, sourceBytesOf(rows)) === true;
    const options = {
      pace,
      keepsLines: isHanded,
      isAlone: this.#coming === 0 && this.scheduler.waiting === 0,
      ...(indexer === undefined && { pageBytes: pageBytesOfPush(sourceBytesOf(rows)) }),
    };
    const chunk = await writeChunk(head, rows, this.#options.compression, indexer, options);
    const record = await storeChunk(this.#store, chunk, this.#options.inlineMaxBytes);
    if (isHanded) this.#fresh!.add(record, chunk);
    releaseLines(chunk.lines);
    return record;
  }

  #indexer(): ChunkIndexer {
    const indexer = chunkIndexers()();
    return this.#options.minesPatterns === true ? withPatterns(indexer) : indexer;
  }

  async #storeGroup(tenant: string, group: readonly WaitingPush[]): Promise<void> {
    // Assigned before the first wait: IDs order the entries of groups that are written concurrently.
    const ids = this.#ids.group();
    const records: ChunkRecord[] = [];
    const startedMs = this.#clock.nowMs();
    const isLong = group.reduce((sum, { bytes }) => sum + bytes, 0) >= LONG_GROUP_BYTES;
    const pace = this.scheduler.pace(tenant);
    let duplicates = 0;
    for await (const segment of paced(segmentsOf(group.map(waiting => waiting.push)), pace)) {
      // Grouping the rows took a few milliseconds, and so does encoding them.
      if (isLong) await this.scheduler.acquire(tenant, { isLaterStage: true });
      // Small chunks wait for nothing. A push with thousands of days must not delay other pushes.
      else if (records.length > 0) await nextTurn();
      duplicates += segment.duplicates;
      const chunk = { tenant, id: ids.next(), createdMs: startedMs, pace };
      records.push(await this.#storeSegment(chunk, segment));
    }
    // Garbage collection deletes an older object that no record names.
    if (this.#clock.nowMs() - startedMs > MAX_COMMIT_MS) {
      throw new ThrottledError(`writing a group of pushes took over ${MAX_COMMIT_MS} ms; retry`);
    }
    const stored = records.reduce((sum, record) => sum + record.rows, 0);
    const pushed = group.reduce((sum, { push }) => sum + push.entries.length, 0);
    mustHold(
      INVARIANTS.acknowledgedIsFound,
      stored + duplicates === pushed,
      `${stored} rows and ${duplicates} duplicates of ${pushed} in chunks`,
    );
    const bytes = group.reduce((sum, waiting) => sum + waiting.bytes, 0);
    // A table on this machine has no partitions to spread over.
    const partitions =
      this.#isDistant && this.#demandOf !== undefined
        ? this.#partitions.wanted(tenant, { bytes, records }, this.#demandOf(tenant))
        : undefined;
    await this.#catalog.addChunks(records, { partitions });
    if (this.#onWritten === undefined) return;
    this.#onWritten({
      records,
      seconds: (this.#clock.nowMs() - startedMs) / 1000,
      isFull: bytes >= this.#options.maxGroupBytes || group.length === MAX_GROUPED_PUSHES,
    });
  }
}

/** Inputs of a chunk that a group becomes. */
interface ChunkToStore {
  readonly tenant: string;
  readonly id: string;
  /** Unix ms. */
  readonly createdMs: number;
  readonly pace: Pace;
}

/** Yields the results of the steps, in time slices. The work waits between two results. */
async function* paced<T>(
  steps: Generator<T | undefined, void, undefined>,
  pace: Pace,
): AsyncGenerator<T, void, undefined> {
  pace.resume();
  for (;;) {
    const { done, value } = steps.next();
    if (done) break;
    if (value !== undefined) {
      pace.pause();
      yield value;
      pace.resume();
    } else if (pace.due()) await pace.yieldIfDue();
  }
  pace.pause();
}

/** Bytes of the lines, and of others if the pushes have several days. */
function sourceBytesOf({ sources }: ChunkRows): number {
  return sources.reduce((sum, source) => sum + source.length, 0);
}

function isLarge(input: ChunkRows): boolean {
  if (sourceBytesOf(input) < INDEXED_PUSH_BYTES) return false;
  const { lineStart, lineEnd, rows } = input;
  let bytes = 0;
  for (let row = 0; row < rows; row++) bytes += lineEnd[row] - lineStart[row];
  return bytes >= INDEXED_PUSH_BYTES;
}
