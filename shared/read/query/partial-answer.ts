/**
 * Ends a query shortly before its deadline, so that it answers with what it has read, and says how much of the
 * data that is. Only for clients that show warnings (http/dashboard-client.ts); the others get the timeout.
 *
 *     |------------------ reads ------------------|-- evaluate, encode --|
 *     0                                          cut                  deadline
 */
import type { Clock } from '../../base/ports/clock.ts';
import { formatByteQuantity } from './byte-quantity.ts';
import type { DayRecords, PlannedPage } from './day-plan.ts';

/** Part of the time that is left for the response, and its minimum. */
const RESERVED_SHARE = 0.05;
const MIN_RESERVED_MS = 250;

export class PartialAnswer {
  readonly #cut = new AbortController();
  readonly #ended = new AbortController();
  /** Bytes of lines of the chunks in the range, and of those that the result covers. */
  #bytes = 0;
  #coveredBytes = 0;
  #isUsed = false;

  /** @param deadlineMs Unix ms at which the query must have been answered */
  constructor(clock: Clock, deadlineMs: number) {
    const leftMs = deadlineMs - clock.nowMs();
    const reservedMs = Math.max(MIN_RESERVED_MS, leftMs * RESERVED_SHARE);
    clock.sleep(Math.max(0, leftMs - reservedMs), this.#ended.signal).then(
      () => this.#cut.abort(new DOMException('the time for reading is over', 'TimeoutError')),
      () => undefined,
    );
  }

  /** Aborts when reading must end. */
  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  /** Call it before the query reads, also if it reads again. */
  begin(): void {
    this.#bytes = 0;
    this.#coveredBytes = 0;
  }

  /** Call it when the query ends. */
  end(): void {
    this.#ended.abort();
  }

  /** Counts the days that a part of the query reads. */
  expect(days: readonly DayRecords[]): void {
    for (const day of days) this.#bytes += bytesOfDay(day);
  }

  /** Counts a share of a day as covered. */
  cover(day: DayRecords, share: number): void {
    this.#coveredBytes += share * bytesOfDay(day);
  }

  /** Whether the error is the end of reading. The query then answers with what it has. */
  takes(error: unknown): boolean {
    const { aborted, reason } = this.#cut.signal;
    const name = error instanceof Error ? error.name : '';
    const isOfCut = error === reason || name === 'AbortError' || name === 'TimeoutError';
    if (!aborted || !isOfCut) return false;
    this.#isUsed = true;
    return true;
  }

  /** Whether something is missing in the result. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Undefined if nothing is missing. */
  get warning(): string | undefined {
    if (!this.#isUsed) return undefined;
    const share = this.#bytes === 0 ? 0 : this.#coveredBytes / this.#bytes;
    const percent = Math.min(99, Math.floor(100 * share));
    return (
      `the query ran out of time; the result covers ${percent}% of ${formatByteQuantity(this.#bytes)} ` +
      'of lines in its range; narrow the range or the selector'
    );
  }
}

function bytesOfDay({ records }: DayRecords): number {
  return records.reduce((sum, { lineBytes }) => sum + lineBytes, 0);
}

/** Share of some pages in all pages that a day reads; 1 if there are none. */
export function shareOfPages(some: readonly PlannedPage[], all: readonly PlannedPage[]): number {
  const bytes = lineBytesOf(all);
  return bytes === 0 ? 1 : lineBytesOf(some) / bytes;
}

export function lineBytesOf(pages: readonly PlannedPage[]): number {
  let bytes = 0;
  for (const { runs } of pages) for (const { lineBytes } of runs) bytes += lineBytes;
  return bytes;
}
