/**
 * Starts reads of the days after the current one, over a distant store. It covers as many days as fit in a
 * byte limit, so that thirty days of a page each take one round trip instead of thirty.
 */
import type { PlannedPage } from './day-plan.ts';
import type { PageReads } from './scan.ts';
import { costOfPage } from './tasks/task-cost.ts';

/**
 * Stored bytes of days whose reads have started and that are not scanned yet: initially, for a query that may
 * end early, and at most.
 */
const FIRST_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;

export class BegunReads {
  readonly #waiting: PageReads[] = [];
  readonly #begun = new Set<PageReads>();
  #maxBytes: number;
  /** Cost left for inline scans, before workers take over; see costOfPage. */
  #costLeft: number;
  #bytes = 0;
  #linesAreNeeded = false;
  #isOver = false;

  /** @param maxCost of pages that are scanned inline; default: no limit */
  constructor({ endsEarly, maxCost = Infinity }: { readonly endsEarly: boolean; readonly maxCost?: number }) {
    this.#maxBytes = endsEarly ? FIRST_BYTES : MAX_BYTES;
    this.#costLeft = maxCost;
  }

  /**
   * Starts reads of these pages, now or when others have been scanned. Returns undefined if workers may have
   * to scan them.
   */
  begin(pages: readonly PlannedPage[], reads: () => PageReads): PageReads | undefined {
    if (this.#isOver || pages.length === 0) return undefined;
    for (const page of pages) this.#costLeft -= costOfPage(page, true);
    if (this.#costLeft < 0) return undefined;
    const begun = reads();
    begun.linesAreNeeded = this.#linesAreNeeded;
    begun.onLines = () => {
      // As with the pages after it: if one day needs lines, the next ones do too.
      this.#linesAreNeeded = true;
      for (const other of this.#begun) other.complete();
      for (const other of this.#waiting) other.linesAreNeeded = true;
    };
    this.#waiting.push(begun);
    this.#beginWaiting();
    return begun;
  }

  /** Marks these pages as scanned or skipped, so that others may start. Returns the reads to scan. */
  take(reads: PageReads | undefined, isScanned: boolean): PageReads | undefined {
    if (reads === undefined) return undefined;
    if (this.#begun.delete(reads)) this.#bytes -= reads.storedBytes;
    const index = this.#waiting.indexOf(reads);
    if (index >= 0) this.#waiting.splice(index, 1);
    this.#maxBytes = Math.min(MAX_BYTES, 2 * this.#maxBytes);
    this.#beginWaiting();
    if (isScanned) return reads;
    reads.end();
    return undefined;
  }

  /** Call it however the query ends. */
  end(): void {
    this.#isOver = true;
    for (const reads of this.#begun) reads.end();
    this.#begun.clear();
    this.#waiting.length = 0;
  }

  #beginWaiting(): void {
    while (this.#waiting.length > 0 && this.#bytes < this.#maxBytes) {
      const reads = this.#waiting.shift()!;
      this.#begun.add(reads);
      this.#bytes += reads.storedBytes;
      reads.begin();
    }
  }
}
