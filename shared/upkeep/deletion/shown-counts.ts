/**
 * Counts of a stream in a footer, without its hidden rows. Omits empty results: a minute without entries
 * produces no sample, and a level without minutes no series.
 */

import { lowerBound } from '../../base/model/binary-search.ts';
import { invariant } from '../../base/model/errors.ts';
import { type LevelCounts, OTHER_LEVELS } from '../../storage/chunk/format.ts';

/** A hidden row, with the values by which its footer counted it. */
export interface HiddenRow {
  readonly minute: number;
  /** Value of detected_level. */
  readonly level: string;
  readonly lineBytes: number;
}

/** Excludes metadata bytes, which queries do not count and which still include hidden rows. */
type ShownCounts = Omit<LevelCounts, 'metadataBytes'>;

/**
 * @param levels levels of the footer
 * @param hidden hidden rows of this stream, without duplicates
 */
export function shownCounts(
  counts: readonly LevelCounts[],
  levels: readonly string[],
  hidden: readonly HiddenRow[],
): readonly ShownCounts[] {
  if (hidden.length === 0) return counts;
  const byLevel = new Map<number, HiddenRow[]>();
  for (const row of hidden) {
    const known = levels.indexOf(row.level);
    const level = known >= 0 ? known : levels.indexOf(OTHER_LEVELS);
    const ofLevel = byLevel.get(level);
    if (ofLevel === undefined) byLevel.set(level, [row]);
    else ofLevel.push(row);
  }
  const shown = counts.map(ofLevel => {
    const rows = byLevel.get(ofLevel.level);
    byLevel.delete(ofLevel.level);
    return rows === undefined ? ofLevel : without(ofLevel, rows);
  });
  invariant(byLevel.size === 0, 'a footer counts the levels of its entries');
  return shown.filter(({ minutes }) => minutes.length > 0);
}

function without(
  { level, minutes, entries, lineBytes }: LevelCounts,
  rows: readonly HiddenRow[],
): ShownCounts {
  const entriesLeft = entries.slice();
  const bytesLeft = lineBytes.slice();
  for (const row of rows) {
    const at = lowerBound(minutes, 0, minutes.length, row.minute);
    invariant(
      minutes[at] === row.minute && entriesLeft[at] > 0 && bytesLeft[at] >= row.lineBytes,
      `a footer counts the entries of minute ${row.minute}`,
    );
    entriesLeft[at]--;
    bytesLeft[at] -= row.lineBytes;
  }
  const isLeft = (_: number, at: number) => entriesLeft[at] > 0;
  return {
    level,
    minutes: minutes.filter(isLeft),
    entries: entriesLeft.filter(isLeft),
    lineBytes: bytesLeft.filter(isLeft),
  };
}
