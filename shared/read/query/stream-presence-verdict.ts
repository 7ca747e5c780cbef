/**
 * Decides whether a stream has an entry in an interval of a day, as far as bounds and minutes show it without
 * timestamps. The verdict is never wrong, but may be open. All times are ns since the start of the day, and
 * the interval is `from <= time < to`.
 */

import { binaryFirst } from '../../base/model/binary-search.ts';
import { NS_OF_MINUTE } from '../../base/model/time-units.ts';
import type { LevelCounts } from '../../storage/chunk/format.ts';

export interface DayInterval {
  readonly from: number;
  readonly to: number;
}

export const Verdict = {
  absent: 0,
  present: 1,
  /** Entries are on both sides of the interval. Only timestamps show whether one is inside. */
  open: 2,
} as const;

export type Verdict = (typeof Verdict)[keyof typeof Verdict];

/** Decides by the earliest and the latest of some entries of the stream, which are themselves entries. */
export function boundsVerdict(first: number, last: number, from: number, to: number): Verdict {
  if (last < from || first >= to) return Verdict.absent;
  return first >= from || last < to ? Verdict.present : Verdict.open;
}

/** Decides by entries per minute of one chunk. */
export function minutesVerdict(counts: readonly LevelCounts[], { from, to }: DayInterval): Verdict {
  let verdict: Verdict = Verdict.absent;
  for (const { minutes, entries } of counts) {
    const first = binaryFirst(minutes.length, i => minutes[i] * NS_OF_MINUTE >= from);
    for (let i = first; i < minutes.length; i++) {
      // Bucket m holds the times from (m - 1) min + 1 ns to m min.
      const earliest = (minutes[i] - 1) * NS_OF_MINUTE + 1;
      const latest = minutes[i] * NS_OF_MINUTE;
      if (earliest >= to) break;
      if (entries[i] === 0) continue;
      if (earliest >= from && latest < to) return Verdict.present;
      verdict = Verdict.open;
    }
  }
  return verdict;
}
