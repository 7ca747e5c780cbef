/**
 * The function that a query runs in: one thread, a memory size, a number of connections. Work queues for the
 * thread; held data counts until the query ends, and more than the memory ends the function.
 */
import type { Clock } from '../../../shared/base/ports/clock.ts';
import { type ChunkRecord, objectKey } from '../../../shared/storage/catalog/chunk-record.ts';
import type { Dice } from '../dice.ts';
import { LATENCY, PREFIX_READS_PER_MS, QUERY_FUNCTION } from './figures.ts';
import { tailedMs } from './random-times.ts';
import { throttle } from './throttled-requests.ts';

export class OutOfMemoryError extends Error {
  constructor(bytes: number) {
    super(`the query function needs ${Math.round(bytes / 1e6)} MB`);
    this.name = 'OutOfMemoryError';
  }
}

export class QueryFunction {
  heapBytes: number = QUERY_FUNCTION.idleHeapBytes;
  peakHeapBytes: number = QUERY_FUNCTION.idleHeapBytes;
  /** Reads of objects, and reads of the table, including repeated ones. */
  objectReads = 0;
  tableReads = 0;
  readonly #clock: Clock;
  readonly #dice: Dice;
  readonly #throttledShare: number;
  #freeAtMs = 0;
  /** Times by the first characters of keys. */
  readonly #prefixFreeAtMs = new Map<string, number>();
  #reading = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param throttledShare of requests to S3 and DynamoDB */
  constructor(clock: Clock, dice: Dice, throttledShare = 0) {
    this.#throttledShare = throttledShare;
    this.#clock = clock;
    this.#dice = dice;
  }

  /** Throws OutOfMemoryError. */
  hold(bytes: number): void {
    this.heapBytes += bytes;
    if (this.heapBytes > this.peakHeapBytes) this.peakHeapBytes = this.heapBytes;
    if (this.heapBytes > QUERY_FUNCTION.memoryBytes) throw new OutOfMemoryError(this.heapBytes);
  }

  /** Work on the one thread, behind all that came before it. */
  async work(ms: number): Promise<void> {
    const nowMs = this.#clock.nowMs();
    this.#freeAtMs = Math.max(nowMs, this.#freeAtMs) + ms;
    // The clock has whole milliseconds; parts of one add up until they are one.
    if (this.#freeAtMs - nowMs >= 1) await this.#clock.sleep(this.#freeAtMs - nowMs);
  }

  /**
   * Wait of the given number of reads, the same number per chunk, for the prefixes of their keys, which all
   * workers share, ms.
   */
  waitForPrefixes(records: readonly ChunkRecord[], reads: number): number {
    const nowMs = this.#clock.nowMs();
    let waitMs = 0;
    for (const record of records) {
      // With hashed keys, there is a prefix for each hash, otherwise one for the tenant's day.
      const [prefix] = objectKey(record).split('/', 1);
      const freeAtMs = Math.max(nowMs, this.#prefixFreeAtMs.get(prefix) ?? 0);
      const endMs = freeAtMs + reads / records.length / PREFIX_READS_PER_MS;
      this.#prefixFreeAtMs.set(prefix, endMs);
      waitMs = Math.max(waitMs, endMs - nowMs);
    }
    return waitMs;
  }

  async readObject(record: ChunkRecord, bytes: number): Promise<void> {
    if (this.#reading < QUERY_FUNCTION.connections) this.#reading++;
    else await new Promise<void>(resolve => this.#waiting.push(resolve));
    const throttled = throttle(this.#dice, 1, this.#throttledShare);
    this.objectReads += 1 + throttled.repeats;
    const waitMs = throttled.waitMs + this.waitForPrefixes([record], 1 + throttled.repeats);
    const firstByteMs = tailedMs(this.#dice, { ...LATENCY, medianMs: LATENCY.objectReadMs });
    await this.#clock.sleep(waitMs + firstByteMs + bytes / LATENCY.objectBytesPerMs);
    const next = this.#waiting.shift();
    if (next === undefined) this.#reading--;
    else next();
  }

  /** Reads of the table, one after the other. */
  async readTable(requests: number): Promise<void> {
    this.tableReads += requests;
    for (let i = 0; i < requests; i++) {
      const throttled = throttle(this.#dice, 1, this.#throttledShare);
      this.tableReads += throttled.repeats;
      await this.#clock.sleep(throttled.waitMs);
      await this.#clock.sleep(tailedMs(this.#dice, { ...LATENCY, medianMs: LATENCY.tableReadMs }));
    }
  }
}
