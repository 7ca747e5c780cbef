/**
 * Compaction of one tenant whose pushes never pause: the program's own planner, crew (merge-crew.ts) and leases of
 * parts (part-lease.ts) decide what is merged where and when it is published. Merges, swaps and reading the day take
 * their measured times.
 *
 *     pushes --> chunks of the day --planMerges--> merges of N functions at once --swap--> chunks of the day
 */

import { MAX_FAILURES } from '../../../shared/aws/lambda-invoker.ts';
import { invariant } from '../../../shared/base/model/errors.ts';
import { MS_PER_DAY, NS_OF_MS } from '../../../shared/base/model/time-units.ts';
import { seededIds } from '../../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import type { Table } from '../../../shared/base/ports/table.ts';
import { DEFAULT_CONFIG } from '../../../shared/server/admin/config-fields.ts';
import { compareChunks } from '../../../shared/storage/catalog/chunk-order.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../../shared/storage/catalog/day-snapshot.ts';
import { Leases } from '../../../shared/storage/catalog/leases.ts';
import { ALL_STREAMS, commonPart, partBits } from '../../../shared/storage/catalog/stream-part.ts';
import { MAX_SWAPPED_CHUNKS, SWAP_REST_MS, type Swap } from '../../../shared/storage/catalog/swap.ts';
import { LEASE_MS } from '../../../shared/upkeep/compaction/compactor.ts';
import { CREW_RUN_MS, functionsFor, mergeTogether } from '../../../shared/upkeep/compaction/merge-crew.ts';
import { FINAL_LEVEL } from '../../../shared/upkeep/compaction/merge-sizes.ts';
import type { MergeAnswer, MergeHelpers, MergeTask } from '../../../shared/upkeep/compaction/merge-task.ts';
import { underPartLease } from '../../../shared/upkeep/compaction/part-lease.ts';
import {
  DISTANT_SETTLE_MS,
  type PlannedMerge,
  planMerges,
} from '../../../shared/upkeep/compaction/plan-merges.ts';
import { outputBits } from '../../../shared/upkeep/compaction/window-parts.ts';
import { Dice } from '../dice.ts';
import { VirtualTime } from '../virtual-time.ts';
import { CHUNK, LATENCY, RECORD, WORKER } from './figures.ts';
import { addMerge, addRun, addSwap, type MergeRequests, SyncedIndexes } from './merge-requests.ts';
import { TENANT } from './synthetic-catalog.ts';

interface FleetCompaction {
  readonly bytesPerDay: number;
  readonly minutes: number;
  /** Raw bytes of a push. */
  readonly pushBytes: number;
  /** `max_compaction_functions`: maximum number of concurrent merges. */
  readonly functions: number;
  /** Part of the calls of functions that are lost. Default 0. */
  readonly lostShare?: number;
  /** Part of the merges that are called a second time while they run, as a repeated call may be. Default 0. */
  readonly calledTwiceShare?: number;
  /** Interval between losses of the function that holds the day. Default: it is never lost. */
  readonly holderLostEveryMs?: number;
}

interface CompactionOutcome {
  readonly pushedBytes: number;
  readonly pushes: number;
  readonly mergedBytes: number;
  readonly merges: number;
  readonly swaps: number;
  /** Time of all functions, that of the holder of the day included, ms. */
  readonly functionMs: number;
  /** Maximum number of functions that merged concurrently. */
  readonly atOnce: number;
  readonly lost: number;
  readonly calledTwice: number;
  /** Writes of leases of parts. */
  readonly leaseWrites: number;
  /** Of merging and indexing, without those of leases of parts. */
  readonly requests: Readonly<MergeRequests>;
  readonly holdersLost: number;
  /** Maximum number of parts of the streams that a merge wrote or had. */
  readonly parts: number;
  /** Merges of chunks that all have one part of the streams. */
  readonly mergesOfParts: number;
  /** Age of the oldest push that fills a merge and is in none, at the end, ms. */
  readonly backlogMs: number;
  /** Chunks of the day at the end, and of each number of parts of the streams. */
  readonly chunks: number;
  readonly chunksByParts: Readonly<Record<number, number>>;
  /** Rows are neither lost nor doubled. */
  readonly rowsPushed: number;
  readonly rowsStored: number;
}

const DAY = 20_000;
/** Runs of the job. */
const EVERY_MS = 60_000;
const SYNC_EVERY_MS = DEFAULT_CONFIG.logboom.indexSyncIntervalMs;
/**
 * CPU of merging pushes for a GB of lines, ms. Measured: 23.8 s with text index, field columns and patterns, inputs of 1
 * to 4 MB (`npm run bench -- stages merge`). A function has one thread for it, and reads ahead of it.
 */
const PUSHES_MS_PER_GB = 24_000;
/** The same for final chunks, such as those of 5 minutes that are merged for the hour. Measured: 17.2 s. */
const FINAL_MS_PER_GB = 17_000;
/** The share that writing 8 parts of the streams takes in addition. Measured with 80 MB of lines: 5 to 13%. */
const DIVIDING_SHARE = 0.1;
/** Assumed: a transaction of 97 items of DynamoDB. */
const TRANSACTION_MS = 30;
/** Assumed: a conditional write of one item of DynamoDB. */
const LEASE_WRITE_MS = 10;
/** Interval at which a merge renews its lease if that is due. */
const PAUSE_MS = 5_000;
/** Assumed: reading footers and storing the output. */
const REQUESTS_MS = 100;
const TARGET_BYTES = 128 * 1024 * 1024;
const MAX_WAKES = 20_000_000;

export async function compactFleet(asked: FleetCompaction): Promise<CompactionOutcome> {
  const fleet = new CompactedFleet(asked);
  await fleet.time.run(fleet.work());
  return fleet.outcome();
}

class CompactedFleet {
  readonly time: VirtualTime;
  readonly #asked: FleetCompaction;
  readonly #dice = new Dice(1);
  readonly #startMs = DAY * MS_PER_DAY;
  readonly #endMs: number;
  readonly #helpers: MergeHelpers;
  #chunks: ChunkRecord[] = [];
  #version = 0;
  #pushed = 0;
  #made = 0;
  #running = 0;
  readonly #leases: Leases;
  /** Chunks that are being merged. */
  readonly #merging = new Set<string>();
  readonly #figures = {
    merges: 0,
    swaps: 0,
    mergedBytes: 0,
    functionMs: 0,
    atOnce: 0,
    lost: 0,
    calledTwice: 0,
    leaseWrites: 0,
    holdersLost: 0,
    parts: 1,
    mergesOfParts: 0,
  };
  /** Ends the function that holds the day. */
  #holder = new AbortController();
  readonly #requests: MergeRequests = { gets: 0, puts: 0, writeUnits: 0 };
  readonly #indexes = new SyncedIndexes();
  #syncedMs = 0;

  constructor(asked: FleetCompaction) {
    this.#asked = asked;
    this.#endMs = this.#startMs + asked.minutes * 60_000;
    this.time = new VirtualTime(this.#startMs, this.#dice.fork(), MAX_WAKES);
    this.#leases = new Leases({ table: this.#leaseTable(), clock: this.time, ids: seededIds(1) });
    this.#helpers = { most: asked.functions, merge: task => this.#mergeElsewhere(task) };
  }

  /** Runs of the job until the end: as Compactor.compactDay works. */
  async work(): Promise<void> {
    const { time } = this;
    void this.#loseHolders();
    while (time.nowMs() < this.#endMs) {
      this.#holder = new AbortController();
      const startedMs = time.nowMs();
      const isLost = await this.#run().then(
        () => false,
        (error: unknown) => {
          if (error !== this.#holder.signal.reason) throw error;
          return true;
        },
      );
      this.#figures.functionMs += time.nowMs() - startedMs;
      addRun(this.#requests);
      this.#syncIndexes();
      if (isLost) {
        this.#figures.holdersLost++;
        // No other function gets the lease before it is over.
        await time.sleep(LEASE_MS);
      }
      await time.sleep(EVERY_MS - ((time.nowMs() - this.#startMs) % EVERY_MS));
    }
  }

  #syncIndexes(): void {
    if (this.time.nowMs() - this.#syncedMs < SYNC_EVERY_MS) return;
    this.#syncedMs = this.time.nowMs();
    this.#indexes.sync(this.#requests, this.#chunks);
  }

  /** Outputs that are not published when the holder is lost are merged again. */
  async #loseHolders(): Promise<void> {
    const { holderLostEveryMs } = this.#asked;
    if (holderLostEveryMs === undefined) return;
    while (this.time.nowMs() < this.#endMs) {
      await this.time.sleep(holderLostEveryMs);
      this.#holder.abort(new Error('the holder of the day is lost'));
    }
  }

  async #run(): Promise<void> {
    const { time } = this;
    const helpers = this.#helpers;
    const failed = new Set<string>();
    const crewUntilMs = Math.min(this.#endMs, time.nowMs() + CREW_RUN_MS);
    let snapshot = await this.#read();
    let planned: readonly PlannedMerge[] = [];
    while (time.nowMs() < this.#endMs) {
      if (planned.length === 0) planned = this.#plan(snapshot, () => true);
      const open = planned.filter(({ inputs }) => inputs.every(({ id }) => !failed.has(id)));
      if (this.#asked.functions > 1 && functionsFor(open, helpers) > 0) {
        planned = [];
        if (!(await this.#mergeTogether(snapshot, failed, crewUntilMs))) return;
        snapshot = await this.#read();
        continue;
      }
      const [merge] = planned;
      if (merge === undefined) return;
      planned = planned.slice(1);
      await time.sleep(REQUESTS_MS + mergeMs(merge));
      await this.#swap({ removed: merge.inputs, added: this.#mergedOf(merge) });
      this.#figures.merges++;
      // The next run finds pushes of the meantime.
      const known = new Set(snapshot.records.map(({ id }) => id));
      const gone = new Set(merge.inputs.map(({ id }) => id));
      const records = this.#chunks.filter(({ id, level }) => known.has(id) || level > 0);
      snapshot = { ...snapshot, records: records.filter(({ id }) => !gone.has(id)) };
    }
  }

  #mergeTogether(snapshot: DaySnapshot, failed: Set<string>, untilMs: number): Promise<boolean> {
    return mergeTogether(
      {
        catalog: {
          day: () => this.#read(),
          swap: async ({ removed, added, day }: Swap) => {
            await this.#swap({ removed, added });
            return { ...day, version: this.#version };
          },
        },
        clock: this.time,
        options: { graceMs: 0 },
        helpers: this.#helpers,
      },
      {
        tenant: TENANT,
        snapshot,
        lease: { name: 'day', token: 1 },
        untilMs,
        signal: this.#holder.signal,
        failed,
        plan: (day, isFree) => this.#plan(day, isFree),
        hold: async () => undefined,
        onMerged: merges => {
          this.#figures.merges += merges;
        },
      },
    );
  }

  #plan({ records }: DaySnapshot, mayMerge: (record: ChunkRecord) => boolean): readonly PlannedMerge[] {
    const nowMs = this.time.nowMs();
    return planMerges(DAY, records, {
      targetBytes: TARGET_BYTES,
      nowMs,
      force: false,
      dividesStreams: true,
      settleMs: DISTANT_SETTLE_MS,
      mayMerge,
    });
  }

  async #read(): Promise<DaySnapshot> {
    this.#pushUntil(this.time.nowMs());
    const records = this.#chunks.toSorted(compareChunks);
    const pages = Math.ceil(records.length / RECORD.perRequest / RECORD.shards);
    await this.time.sleep(pages * LATENCY.tableReadMs + records.length * RECORD.cpuMs);
    return { day: DAY, version: this.#version, indexes: [], partitions: RECORD.shards, records };
  }

  async #mergeElsewhere(task: MergeTask): Promise<MergeAnswer> {
    const { calledTwiceShare = 0 } = this.#asked;
    this.#figures.atOnce = Math.max(this.#figures.atOnce, ++this.#running);
    const startedMs = this.time.nowMs();
    try {
      if (calledTwiceShare > 0 && this.#dice.chance(calledTwiceShare)) {
        this.#figures.calledTwice++;
        void this.#call(task).catch(() => undefined);
      }
      for (let calls = 1; ; calls++) {
        const answer = await this.#call(task);
        if (answer !== undefined) return answer;
        this.#figures.lost++;
        if (calls === MAX_FAILURES) throw new Error('the function is lost');
      }
    } finally {
      this.#figures.functionMs += this.time.nowMs() - startedMs;
      this.#running--;
    }
  }

  /** Merges in another function. Undefined if it is lost, without a release of its lease. */
  async #call(task: MergeTask): Promise<MergeAnswer | undefined> {
    const { time } = this;
    const { lostShare = 0 } = this.#asked;
    const lost = Promise.withResolvers<undefined>();
    await time.sleep(WORKER.callMs);
    const goOn = async () => undefined;
    const merged = underPartLease(this.#leases, task, goOn, async hold => {
      this.#begin(task);
      for (let leftMs = REQUESTS_MS + mergeMs(task); leftMs > 0; leftMs -= PAUSE_MS) {
        await time.sleep(Math.min(leftMs, PAUSE_MS));
        await hold();
      }
      this.#end(task);
      if (lostShare > 0 && this.#dice.chance(lostShare)) {
        lost.resolve(undefined);
        await new Promise(() => undefined);
      }
      const { inputs } = task;
      const added = this.#mergedOf(task);
      const pages = { copied: { pages: 0, bytes: 0 }, encoded: { pages: 0, bytes: 0 } };
      return { inputs, added, duplicates: 0, dropped: 0, mayDrop: false, applied: [], ...pages };
    });
    return Promise.race([merged, lost.promise]);
  }

  /** No chunk is merged by two functions at the same time. */
  #begin({ inputs }: MergeTask): void {
    for (const { id } of inputs) {
      invariant(!this.#merging.has(id), `two functions merge ${id}`);
      this.#merging.add(id);
    }
  }

  #end({ inputs }: MergeTask): void {
    for (const { id } of inputs) this.#merging.delete(id);
  }

  #leaseTable(): Table {
    const table = memoryTable({ clock: this.time });
    const counted = async () => {
      this.#figures.leaseWrites++;
      await this.time.sleep(LEASE_WRITE_MS);
    };
    return {
      ...table,
      put: async (item, condition) => {
        await counted();
        await table.put(item, condition);
      },
      delete: async (key, condition) => {
        await counted();
        await table.delete(key, condition);
      },
    };
  }

  async #swap({ removed, added }: Pick<Swap, 'removed' | 'added'>): Promise<void> {
    const transactions = 2 + Math.ceil(removed.length / MAX_SWAPPED_CHUNKS);
    await this.time.sleep(SWAP_REST_MS + transactions * TRANSACTION_MS);
    const gone = new Set(removed.map(({ id }) => id));
    this.#chunks = this.#chunks.filter(({ id }) => !gone.has(id));
    this.#chunks.push(...added);
    this.#version += 3;
    this.#figures.swaps++;
    addSwap(this.#requests, removed, added);
    for (const { level, lineBytes } of removed) if (level === 0) this.#figures.mergedBytes += lineBytes;
  }

  #pushUntil(ms: number): void {
    const { pushBytes, bytesPerDay } = this.#asked;
    const everyMs = (pushBytes / bytesPerDay) * MS_PER_DAY;
    for (; this.#startMs + this.#pushed * everyMs <= ms; this.#pushed++) {
      const atMs = this.#pushed * everyMs;
      const id = idOf(this.#startMs + atMs, this.#pushed);
      this.#chunks.push(chunkOf(id, { atMs, spanMs: everyMs }, this.#rowsOfPush, pushBytes));
    }
  }

  get #rowsOfPush(): number {
    return Math.max(1, Math.floor(this.#asked.pushBytes / CHUNK.bytesPerLine));
  }

  outcome(): CompactionOutcome {
    this.#pushUntil(this.#endMs);
    const full = planMerges(DAY, this.#chunks.toSorted(compareChunks), {
      targetBytes: TARGET_BYTES,
      nowMs: this.#endMs,
      force: false,
      onlyPushes: true,
    });
    const waiting = full.flatMap(({ inputs }) => inputs.map(({ last }) => last / NS_OF_MS));
    return {
      ...this.#figures,
      pushedBytes: this.#pushed * this.#asked.pushBytes,
      pushes: this.#pushed,
      requests: this.#requests,
      backlogMs: waiting.length === 0 ? 0 : this.#endMs - this.#startMs - leastOf(waiting),
      chunks: this.#chunks.length,
      chunksByParts: Object.fromEntries(
        [...Map.groupBy(this.#chunks, ({ streamPart = ALL_STREAMS }) => 2 ** partBits(streamPart))].map(
          ([parts, { length }]) => [parts, length],
        ),
      ),
      rowsPushed: this.#pushed * this.#rowsOfPush,
      rowsStored: this.#chunks.reduce((sum, { rows }) => sum + rows, 0),
    };
  }

  /** Streams are as large as each other, so outputs are too. */
  #mergedOf({ inputs, level, parts }: PlannedMerge): ChunkRecord[] {
    const common = commonPart(inputs.map(({ streamPart = ALL_STREAMS }) => streamPart));
    const bits = outputBits(inputs, parts);
    if (common !== ALL_STREAMS) this.#figures.mergesOfParts++;
    const count = 2 ** (bits - partBits(common));
    addMerge(this.#requests, inputs, count);
    this.#figures.parts = Math.max(this.#figures.parts, 2 ** bits);
    return Array.from({ length: count }, (_, i) => {
      const streamPart = common * count + i;
      const output = mergedOf(inputs, level, this.#made++);
      const share = (all: number) => Math.floor(((i + 1) * all) / count) - Math.floor((i * all) / count);
      return {
        ...output,
        streamPart: streamPart === ALL_STREAMS ? undefined : streamPart,
        rows: share(output.rows),
        lineBytes: share(output.lineBytes),
        storedBytes: share(output.storedBytes),
      };
    });
  }
}

function mergeMs({ inputs, parts = 1 }: PlannedMerge): number {
  const pushesMsPerGb = PUSHES_MS_PER_GB * (parts > 1 ? 1 + DIVIDING_SHARE : 1);
  let ms = 0;
  for (const { level, lineBytes } of inputs) {
    ms += (lineBytes / 1e9) * (level < FINAL_LEVEL ? pushesMsPerGb : FINAL_MS_PER_GB);
  }
  return ms;
}

function leastOf(list: readonly number[]): number {
  let least = Infinity;
  for (const one of list) if (one < least) least = one;
  return least;
}

/** Form of chunk IDs: the time at which writing began, then a part that makes them unique. */
function idOf(ms: number, number: number): string {
  return `${Math.floor(ms).toString(16).padStart(12, '0')}${number.toString(16).padStart(20, '0')}`;
}

interface ChunkTime {
  /** Time within the day. */
  readonly atMs: number;
  readonly spanMs: number;
}

function chunkOf(id: string, { atMs, spanMs }: ChunkTime, rows: number, lineBytes: number): ChunkRecord {
  return {
    id,
    origin: id,
    tenant: TENANT,
    day: DAY,
    level: 0,
    first: Math.max(0, Math.floor((atMs - spanMs) * NS_OF_MS)),
    last: Math.floor(atMs * NS_OF_MS),
    rows,
    lineBytes,
    metadataBytes: 0,
    asOfMs: 0,
    storedBytes: Math.ceil(lineBytes * CHUNK.storedShare),
    footerBytes: 1,
    pairs: undefined,
    inline: undefined,
    footer: undefined,
  };
}

function mergedOf(inputs: readonly ChunkRecord[], level: number, number: number): ChunkRecord {
  const oldest = inputs.toSorted(compareChunks)[0];
  const sum = (of: (record: ChunkRecord) => number) =>
    inputs.reduce((total, record) => total + of(record), 0);
  return {
    ...oldest,
    id: `${oldest.id.slice(0, 12)}f${number.toString(16).padStart(19, '0')}`,
    level,
    first: Math.min(...inputs.map(({ first }) => first)),
    last: Math.max(...inputs.map(({ last }) => last)),
    rows: sum(({ rows }) => rows),
    lineBytes: sum(({ lineBytes }) => lineBytes),
    storedBytes: sum(({ storedBytes }) => storedBytes),
  };
}
