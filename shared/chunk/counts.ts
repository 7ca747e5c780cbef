/**
 * Entries and bytes by stream, detected level and minute: what volume, statistics and counts on minute-aligned
 * windows are answered from without reading a page.
 */
import { LEVEL_NAME, type LevelCounts, MAX_COUNTED_LEVELS, NS_OF_MINUTE, OTHER_LEVELS } from './format.ts';
import type { ChunkRows } from './rows.ts';

/** Bucket of a time of day: m where `(m-1) min < time <= m min`. */
export function minuteOf(timeOfDay: number): number {
  return Math.ceil(timeOfDay / NS_OF_MINUTE);
}

export interface Counts {
  readonly levels: readonly string[];
  readonly counts: readonly (readonly LevelCounts[])[];
  readonly metadataBytes: number;
}

interface Growing {
  level: number;
  minutes: number[];
  entries: number[];
  lineBytes: number[];
  metadataBytes: number[];
}

export function countRows(input: ChunkRows): Counts {
  const { rows, streamOf, times, lineStart, lineEnd, firstPair, pairName, pairValue, names, values } = input;
  const levelName = names.indexOf(LEVEL_NAME);
  const nameBytes = names.map(name => Buffer.byteLength(name));
  const levels: string[] = [''];
  const levelOfValue = new Int32Array(values.length).fill(-1);
  const counts: Growing[][] = input.streams.map(() => []);
  let total = 0;
  for (let row = 0; row < rows; row++) {
    let level = 0;
    let metadataBytes = 0;
    for (let p = firstPair[row]; p < firstPair[row + 1]; p++) {
      const value = pairValue[p];
      metadataBytes += nameBytes[pairName[p]] + values[value].length;
      if (pairName[p] !== levelName) continue;
      if (levelOfValue[value] < 0) levelOfValue[value] = levelId(levels, values[value].toString('utf8'));
      level = levelOfValue[value];
    }
    total += metadataBytes;
    const ofStream = counts[streamOf[row]];
    let bucket: Growing | undefined;
    for (let i = 0; i < ofStream.length; i++) if (ofStream[i].level === level) bucket = ofStream[i];
    if (bucket === undefined) {
      bucket = { level, minutes: [], entries: [], lineBytes: [], metadataBytes: [] };
      ofStream.push(bucket);
    }
    const minute = minuteOf(times[row]);
    const lineBytes = lineEnd[row] - lineStart[row];
    const at = bucket.minutes.length - 1;
    if (at >= 0 && bucket.minutes[at] === minute) {
      bucket.entries[at]++;
      bucket.lineBytes[at] += lineBytes;
      bucket.metadataBytes[at] += metadataBytes;
    } else {
      bucket.minutes.push(minute);
      bucket.entries.push(1);
      bucket.lineBytes.push(lineBytes);
      bucket.metadataBytes.push(metadataBytes);
    }
  }
  return { levels, counts, metadataBytes: total };
}

function levelId(levels: string[], value: string): number {
  const known = levels.indexOf(value);
  if (known >= 0) return known;
  if (levels.length <= MAX_COUNTED_LEVELS) return levels.push(value) - 1;
  const other = levels.indexOf(OTHER_LEVELS);
  return other >= 0 ? other : levels.push(OTHER_LEVELS) - 1;
}
