/** What a query may scan in the thread that planned it, where that has a bound. */
import type { PlannedPage } from './day-plan.ts';
import { costOf } from './tasks/plan-tasks.ts';

/** Thrown from within a query; the engine asks elsewhere then. */
export class TooLargeHere extends Error {}

/** Of one query. */
export class RoomLeft {
  private bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /** Throws TooLargeHere where the pages do not fit. */
  take(pages: readonly PlannedPage[], readsLines: boolean): void {
    if (this.fitting(pages, readsLines) < pages.length) throw new TooLargeHere();
  }

  /** How many of the pages, from the first on, begin within the room; they take theirs. */
  fitting(pages: readonly PlannedPage[], readsLines: boolean): number {
    let count = 0;
    while (count < pages.length && this.bytes > 0) this.bytes -= costOf(pages[count++], readsLines);
    return count;
  }
}
