/**
 * The function that a query runs in: one thread, so much memory, so many connections. Work takes its turn on the thread; what is held
 * counts until the query ends, and more than the memory ends the function.
 */
import type { Clock } from '../../../shared/base/ports/clock.ts';
import type { Dice } from '../dice.ts';
import { LATENCY, PREFIX_READS_PER_MS, QUERY_FUNCTION } from './figures.ts';
import { tailedMs } from './random-times.ts';

export class OutOfMemoryError extends Error {
  constructor(bytes: number) {
    super(`the query function needs ${Math.round(bytes / 1e6)} MB`);
    this.name = 'OutOfMemoryError';
  }
}

export class QueryFunction {
  heapBytes: number = QUERY_FUNCTION.idleHeapBytes;
  peakHeapBytes: number = QUERY_FUNCTION.idleHeapBytes;
  /** Of objects and of the table. */
  objectReads = 0;
  tableReads = 0;
  private readonly clock: Clock;
  private readonly dice: Dice;
  private freeAtMs = 0;
  private prefixFreeAtMs = 0;
  private reading = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(clock: Clock, dice: Dice) {
    this.clock = clock;
    this.dice = dice;
  }

  /** Throws OutOfMemoryError. */
  hold(bytes: number): void {
    this.heapBytes += bytes;
    if (this.heapBytes > this.peakHeapBytes) this.peakHeapBytes = this.heapBytes;
    if (this.heapBytes > QUERY_FUNCTION.memoryBytes) throw new OutOfMemoryError(this.heapBytes);
  }

  /** Work on the one thread, behind all that came before it. */
  async work(ms: number): Promise<void> {
    const nowMs = this.clock.nowMs();
    this.freeAtMs = Math.max(nowMs, this.freeAtMs) + ms;
    // The clock has whole milliseconds; parts of one add up until they are one.
    if (this.freeAtMs - nowMs >= 1) await this.clock.sleep(this.freeAtMs - nowMs);
  }

  /** How long so many reads wait for the prefix of the tenant's day, which workers share, ms. */
  waitForPrefix(reads: number): number {
    const nowMs = this.clock.nowMs();
    this.prefixFreeAtMs = Math.max(nowMs, this.prefixFreeAtMs) + reads / PREFIX_READS_PER_MS;
    return this.prefixFreeAtMs - nowMs;
  }

  async readObject(bytes: number): Promise<void> {
    if (this.reading < QUERY_FUNCTION.connections) this.reading++;
    else await new Promise<void>(resolve => this.waiting.push(resolve));
    this.objectReads++;
    const waitMs = this.waitForPrefix(1);
    const firstByteMs = tailedMs(this.dice, { ...LATENCY, medianMs: LATENCY.objectReadMs });
    await this.clock.sleep(waitMs + firstByteMs + bytes / LATENCY.objectBytesPerMs);
    const next = this.waiting.shift();
    if (next === undefined) this.reading--;
    else next();
  }

  /** Reads of the table, one after the other. */
  async readTable(requests: number): Promise<void> {
    this.tableReads += requests;
    for (let i = 0; i < requests; i++) {
      await this.clock.sleep(tailedMs(this.dice, { ...LATENCY, medianMs: LATENCY.tableReadMs }));
    }
  }
}
