/** How much of a day one answer of an export takes: from its start to the time by which so many bytes are estimated. */
import type { PlannedPage } from './day-plan.ts';

/** A day has 2^47 ns. */
const MAX_STEPS = 47;

/**
 * The end of the window that begins at `from` and has about `maxBytes` of lines and metadata, as if each run had its bytes evenly over its
 * time. At least one nanosecond, at most up to `to`.
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

/** Bytes of the pages between `from` and the time that it is asked for. */
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
