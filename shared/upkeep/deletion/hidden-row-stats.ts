/**
 * Values by which a footer counted hidden rows: minute, detected level and line length. Queries that count
 * from footers subtract these rows without reading the page. A page with many hidden rows has no stats,
 * because reading it costs no more.
 */

import type { PageRows } from '../../base/model/page.ts';
import { minuteOf } from '../../storage/chunk/counts.ts';
import { LEVEL_NAME } from '../../storage/chunk/format.ts';

/** Hidden rows of a page, as parallel arrays. */
export interface HiddenRowStats {
  /** Ascending, without duplicates. */
  readonly rows: Uint32Array;
  /** Minute of the day, as in LevelCounts. */
  readonly minutes: Uint16Array;
  /** Values of detected_level; '' for rows without a level. */
  readonly levels: readonly string[];
  readonly lineBytes: Uint32Array;
}

/** Stats of this size take 70 KB, less than the page's columns. */
const MAX_ROWS = 4096;
/** Row, minute, length, and the index of a level. */
const ROW_BYTES = 18;
/** Four arrays and their object. */
const STATS_BYTES = 400;

const NONE: HiddenRowStats = Object.freeze({
  rows: new Uint32Array(0),
  minutes: new Uint16Array(0),
  levels: [],
  lineBytes: new Uint32Array(0),
});

/**
 * Returns `undefined` for more than MAX_ROWS rows.
 *
 * @param page page with lines and the metadata column of the level
 * @param base ns from the start of the day to the zero of the page's times
 * @param rows ascending, without duplicates
 */
export function hiddenRowStats(page: PageRows, base: number, rows: Uint32Array): HiddenRowStats | undefined {
  if (rows.length === 0) return NONE;
  if (rows.length > MAX_ROWS) return undefined;
  const { times, lineOffsets, metadata } = page;
  const column = metadata.find(({ name }) => name === LEVEL_NAME);
  const values = new Map<number, string>([[0, '']]);
  const levelOf = (row: number): string => {
    const id = column === undefined ? 0 : column.ids[row];
    let level = values.get(id);
    if (level === undefined) {
      level = column!.valueAt(id - 1);
      values.set(id, level);
    }
    return level;
  };
  return {
    rows: rows.slice(),
    minutes: Uint16Array.from(rows, row => minuteOf(base + times[row])),
    levels: Array.from(rows, levelOf),
    lineBytes: Uint32Array.from(rows, row => lineOffsets[row + 1] - lineOffsets[row]),
  };
}

/** Memory size, for caches. */
export function bytesOfStats({ rows, levels }: HiddenRowStats): number {
  if (rows.length === 0) return 0;
  let bytes = STATS_BYTES + rows.length * ROW_BYTES;
  for (const level of new Set(levels)) bytes += 2 * level.length;
  return bytes;
}
