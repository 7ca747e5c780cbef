/**
 * A long range in parts, in the order of the list: lines of the first part are shown while the next one is searched. Each part is
 * four times as long as all before it, so a search makes at most four requests, and the parts of all but the last are a
 * quarter of the range.
 */
import type { PageRequest } from './next-page.ts';

export type NsRange = Pick<PageRequest, 'startNs' | 'endNs'>;

/** Shorter ranges are one part: the store searches them in less time than a few requests take. */
const MIN_RANGE_NS = 6n * 3_600_000_000_000n;
/** Ends of the parts, as shares of the range. */
const DIVISORS = [64n, 16n, 4n, 1n];

export function searchWindows({ startNs, endNs }: NsRange, newestFirst: boolean): readonly NsRange[] {
  const [start, end] = [BigInt(startNs), BigInt(endNs)];
  const length = end - start;
  if (length <= MIN_RANGE_NS) return [{ startNs, endNs }];
  let from = 0n;
  return DIVISORS.map(divisor => {
    const to = length / divisor;
    const part = newestFirst ? [end - to, end - from] : [start + from, start + to];
    from = to;
    return { startNs: String(part[0]), endNs: String(part[1]) };
  });
}

/** How much of a range is searched when a part is, 0 to 1. */
export function searchedShare(range: NsRange, part: NsRange, newestFirst: boolean): number {
  const length = Number(BigInt(range.endNs) - BigInt(range.startNs));
  const searched = newestFirst
    ? BigInt(range.endNs) - BigInt(part.startNs)
    : BigInt(part.endNs) - BigInt(range.startNs);
  return Number(searched) / length;
}
