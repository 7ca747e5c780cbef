/**
 * Answers with a part of the data, and says how much that is. Only for clients that show warnings
 * (http/dashboard-client.ts); the others get the error. A part is missing if
 *
 * - the time is up: the query ends shortly before its deadline.
 *
 *       |------------------ reads ------------------|-- evaluate, encode --|
 *       0                                          cut                  deadline
 *
 * - the worker of a task failed, also when the task was repeated. The query continues without the task.
 */
import type { Clock } from '../../base/ports/clock.ts';
import { InvokerError } from '../../base/ports/invoker.ts';
import { formatByteQuantity } from './byte-quantity.ts';
import type { DayRecords, PlannedPage } from './day-plan.ts';

/** Part of the time that is left for the response, and its minimum. */
const RESERVED_SHARE = 0.05;
const MIN_RESERVED_MS = 250;
/** Maximum number of tasks that a query continues without. With more, the workers are broken, and the query fails. */
const MAX_SKIPPED_TASKS = 16;
const REPEAT = 'repeat the query; the log of the store has the reason';

export class PartialAnswer {
  readonly #cut = new AbortController();
  readonly #ended = new AbortController();
  /** Bytes of lines of the chunks in the range, and of those that the result covers. */
  #bytes = 0;
  #coveredBytes = 0;
  #isOutOfTime = false;
  /** Failures of skipped tasks. */
  readonly #failures: Error[] = [];
  readonly #onSkippedTask: ((error: Error) => void) | undefined;

  /**
   * @param deadlineMs Unix ms at which the query must have been answered
   * @param onSkippedTask called with the failure of each task that the query continues without
   */
  constructor(clock: Clock, deadlineMs: number, onSkippedTask?: (error: Error) => void) {
    this.#onSkippedTask = onSkippedTask;
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
    this.#failures.length = 0;
  }

  /** Call it when the query ends. */
  end(): void {
    this.#ended.abort();
  }

  /** Throws the failure of a task if every task failed. Call it when the query has its result. */
  check(): void {
    const [failure] = this.#failures;
    if (failure !== undefined && this.#coveredBytes === 0) throw failure;
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
    this.#isOutOfTime = true;
    return true;
  }

  /** Whether the query continues without a task that failed. Otherwise it must fail. */
  skips(error: unknown): boolean {
    if (!(error instanceof InvokerError) || this.#failures.length === MAX_SKIPPED_TASKS) return false;
    this.#failures.push(error);
    this.#onSkippedTask?.(error);
    return true;
  }

  /** Whether something is missing in the result. */
  get isUsed(): boolean {
    return this.#isOutOfTime || this.#failures.length > 0;
  }

  /** Undefined if nothing is missing. */
  get warning(): string | undefined {
    if (!this.isUsed) return undefined;
    const share = this.#bytes === 0 ? 0 : this.#coveredBytes / this.#bytes;
    const percent = Math.min(99, Math.floor(100 * share));
    const covered = `${percent}% of ${formatByteQuantity(this.#bytes)} of lines in its range`;
    if (this.#isOutOfTime)
      return `the query ran out of time; the result covers ${covered}; narrow the range or the selector`;
    const failures = this.#failures.length;
    if (failures === 1) return `a part of the query failed; the result covers ${covered}; ${REPEAT}`;
    return `${failures} parts of the query failed; the result covers ${covered}; ${REPEAT}`;
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
