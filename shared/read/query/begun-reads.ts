/**
 * Reads of the days behind the one that is scanned, over a distant store: as many days as have few bytes, so that thirty days of
 * a page each are one round trip and not thirty.
 */
import type { PlannedPage } from './day-plan.ts';
import type { PageReads } from './scan.ts';
import { costOf } from './tasks/plan-tasks.ts';

/** Stored bytes of days that have begun and are not scanned: of a query that may end early at first, and at most. */
const FIRST_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;

export class BegunReads {
  readonly #waiting: PageReads[] = [];
  readonly #begun = new Set<PageReads>();
  #maxBytes: number;
  /** What may still be scanned here rather than by workers, see costOf. */
  #costLeft: number;
  #bytes = 0;
  #linesAreNeeded = false;
  #isOver = false;

  /** @param maxCost of pages that are scanned here; default: all are */
  constructor({ endsEarly, maxCost = Infinity }: { readonly endsEarly: boolean; readonly maxCost?: number }) {
    this.#maxBytes = endsEarly ? FIRST_BYTES : MAX_BYTES;
    this.#costLeft = maxCost;
  }

  /** Begins reads of these pages, now or when others have been scanned; undefined where they may not be scanned here. */
  begin(pages: readonly PlannedPage[], reads: () => PageReads): PageReads | undefined {
    if (this.#isOver || pages.length === 0) return undefined;
    for (const page of pages) this.#costLeft -= costOf(page, true);
    if (this.#costLeft < 0) return undefined;
    const begun = reads();
    begun.linesAreNeeded = this.#linesAreNeeded;
    begun.onLines = () => {
      // As with the pages behind it: where one day needs lines, the next do too.
      this.#linesAreNeeded = true;
      for (const other of this.#begun) other.complete();
      for (const other of this.#waiting) other.linesAreNeeded = true;
    };
    this.#waiting.push(begun);
    this.#beginWaiting();
    return begun;
  }

  /** These are scanned now, or not at all: others may begin. Returns those that are scanned. */
  take(reads: PageReads | undefined, isScanned: boolean): PageReads | undefined {
    if (reads === undefined) return undefined;
    if (this.#begun.delete(reads)) this.#bytes -= reads.storedBytes;
    const place = this.#waiting.indexOf(reads);
    if (place >= 0) this.#waiting.splice(place, 1);
    this.#maxBytes = Math.min(MAX_BYTES, 2 * this.#maxBytes);
    this.#beginWaiting();
    if (isScanned) return reads;
    reads.end();
    return undefined;
  }

  /** To be called however the query ends. */
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
