/** Detected levels as numbers. They are part of the section's format, so only append new ones. */

import type { MetadataColumn } from '../../base/model/page.ts';
import { LEVEL_NAME } from '../../storage/chunk/format.ts';
import type { ChunkRows } from '../../storage/chunk/rows.ts';

/** The first is for entries without a level, and with a level that is not in this list. */
export const LEVELS = ['unknown', 'trace', 'debug', 'info', 'warn', 'error', 'critical', 'fatal'] as const;
/** Bits of a level. */
export const LEVEL_BITS = 3;

/** Levels of the rows from `from` on. */
export function levelsOfRows(input: ChunkRows, from: number, rows: number): Uint8Array {
  const levels = new Uint8Array(rows);
  const name = input.names.indexOf(LEVEL_NAME);
  if (name < 0) return levels;
  const { firstPair, pairName, pairValue, values } = input;
  const known = new Map<number, number>();
  for (let row = 0; row < rows; row++) {
    const end = firstPair[from + row + 1];
    for (let pair = firstPair[from + row]; pair < end; pair++) {
      if (pairName[pair] !== name) continue;
      const value = pairValue[pair];
      let level = known.get(value);
      if (level === undefined) {
        level = levelNumber(values[value].toString());
        known.set(value, level);
      }
      levels[row] = level;
    }
  }
  return levels;
}

/** Levels of the rows of a page that was read. */
export function levelsOfPage(metadata: readonly MetadataColumn[], rows: number): Uint8Array {
  const levels = new Uint8Array(rows);
  const column = metadata.find(({ name }) => name === LEVEL_NAME);
  if (column === undefined) return levels;
  const { ids } = column;
  const known = Uint8Array.from({ length: column.count }, (_, i) => levelNumber(column.valueAt(i)));
  for (let row = 0; row < rows; row++) if (ids[row] > 0) levels[row] = known[ids[row] - 1];
  return levels;
}

function levelNumber(value: string): number {
  return Math.max(0, LEVELS.indexOf(value as (typeof LEVELS)[number]));
}
