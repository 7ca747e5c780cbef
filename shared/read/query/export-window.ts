/**
 * Computes how much of a day one export response covers: from its start to the time at which the byte target
 * is estimated to be reached.
 */
import type { PlannedPage } from './day-plan.ts';

/** A day has 2^47 ns. */
const MAX_STEPS = 47;

/**
 * Returns the end of the window that starts at `from` and has about `maxBytes` of lines and metadata. The
 * estimate spreads the bytes of a run evenly over its time. The window has at least 1 ns and ends at or
 * before `to`.
 */
export function windowEnd(
  pages: readonly PlannedPage[],
  { from, to, maxBytes }: { readonly from: number; readonly to: number; readonly maxBytes: number },
): number {
  const bytesUntil = estimate(pages, from);
  if (bytesUntil(to) <= maxBytes) return to;
  let low = from + 1;
  let high = to;
  for (let step = 0; step < MAX_STEPS && low < high; step++) {
    const middle = Math.ceil((low + high) / 2);
    if (bytesUntil(middle) <= maxBytes) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns a function that estimates the bytes of the pages between `from` and a time. */
function estimate(pages: readonly PlannedPage[], from: number): (time: number) => number {
  const runs = pages.flatMap(page => page.runs);
  return time => {
    let bytes = 0;
    for (const { first, last, lineBytes, metadataBytes } of runs) {
      const start = Math.max(first, from);
      const end = Math.min(last + 1, time);
      if (end > start) bytes += ((lineBytes + metadataBytes) * (end - start)) / (last + 1 - first);
    }
    return bytes;
  };
}
