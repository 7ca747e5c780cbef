/**
 * Splits a long range into parts in list order. Lines of the first part are shown while the next is searched.
 * Each part is four times as long as all before it. So a search makes at most four requests, and all parts
 * but the last cover a quarter of the range.
 */
import { NS_PER_HOUR } from '../../../shared/base/model/time-units.ts';
import type { LogPageRequest } from './next-page.ts';

export type NsRange = Pick<LogPageRequest, 'startNs' | 'endNs'>;

/** Shorter ranges are one part, because the store searches them faster than several requests take. */
const MIN_RANGE_NS = NS_PER_HOUR;
/** Divisors of the range that give the ends of the parts. */
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

/** Share of a range that is searched after a part, 0 to 1. */
export function searchedShare(range: NsRange, part: NsRange, newestFirst: boolean): number {
  const length = Number(BigInt(range.endNs) - BigInt(range.startNs));
  const searched = newestFirst
    ? BigInt(range.endNs) - BigInt(part.startNs)
    : BigInt(part.endNs) - BigInt(range.startNs);
  return Number(searched) / length;
}
