/**
 * Counts entries and bytes by stream, detected level and minute. Volumes, statistics and counts on
 * minute-aligned windows use them instead of reading pages. Rows may arrive in several batches and pages.
 */
import type { MetadataColumn, PageRows } from '../../base/model/page.ts';
import type { Steps } from '../../base/model/steps.ts';
import { NS_OF_MINUTE } from '../../base/model/time-units.ts';
import { LEVEL_NAME, type LevelCounts, MAX_COUNTED_LEVELS, OTHER_LEVELS, type PageMeta } from './format.ts';
import type { ChunkRows } from './rows.ts';

/** Returns the bucket of a time of day: m with `(m-1) min < time <= m min`. */
export function minuteOf(timeOfDay: number): number {
  return Math.ceil(timeOfDay / NS_OF_MINUTE);
}

interface Counts {
  readonly levels: readonly string[];
  readonly counts: readonly (readonly LevelCounts[])[];
  readonly metadataBytes: number;
}

interface GrowingCounts {
  level: number;
  minutes: number[];
  entries: number[];
  lineBytes: number[];
  metadataBytes: number[];
}

/** Lookup data for the rows of a batch. */
interface OfBatch {
  /** Index of the level's metadata name; -1 if no row has one. */
  readonly levelName: number;
  readonly nameBytes: Uint32Array;
  readonly valueBytes: Uint32Array;
  /** Level of each value, or -1 if the value was not used as a level yet. */
  readonly levelOfValue: Int32Array;
  /** Number in the chunk of each stream of the batch. */
  readonly numbers: ArrayLike<number>;
}

/** Rows per step: a few tenths of a ms. */
const ROWS_A_STEP = 8192;
/** Rows without a level, the counted levels, and all other levels together. */
const MAX_LEVELS = MAX_COUNTED_LEVELS + 2;

export class RowCounter {
  readonly #levels: string[] = [''];
  readonly #counts: GrowingCounts[][] = [];
  #metadataBytes = 0;

  /**
   * Counts the rows of a batch, in steps.
   * @param numbers Number in the chunk of each stream of the batch
   */
  *add(input: ChunkRows, numbers: ArrayLike<number>): Steps<void> {
    const { names, values } = input;
    const counts = this.#counts;
    for (let i = 0; i < numbers.length; i++) while (counts.length <= numbers[i]) counts.push([]);
    const ofBatch: OfBatch = {
      levelName: names.indexOf(LEVEL_NAME),
      nameBytes: Uint32Array.from(names, name => Buffer.byteLength(name)),
      valueBytes: Uint32Array.from(values, value => value.length),
      levelOfValue: new Int32Array(values.length).fill(-1),
      numbers,
    };
    for (let row = 0; row < input.rows; row += ROWS_A_STEP) {
      this.#addRows(input, ofBatch, row, Math.min(input.rows, row + ROWS_A_STEP));
      if (row + ROWS_A_STEP < input.rows) yield;
    }
  }

  /**
   * Adds counts of another chunk for a stream.
   * @param levels Levels of the other chunk
   */
  addCounts(stream: number, levels: readonly string[], ofStream: readonly LevelCounts[]): void {
    const counts = this.#counts;
    while (counts.length <= stream) counts.push([]);
    for (const { level, minutes, entries, lineBytes, metadataBytes } of ofStream) {
      const bucket = bucketOf(counts[stream], levelId(this.#levels, levels[level]));
      for (let i = 0; i < minutes.length; i++) {
        addToMinute(bucket, minutes[i], entries[i], lineBytes[i], metadataBytes[i]);
        this.#metadataBytes += metadataBytes[i];
      }
    }
  }

  /**
   * Subtracts the rows of a page, which were counted before.
   * @param page Its rows, with line lengths and all metadata
   * @param runs Its runs, with the number of each stream
   */
  subtractPage(page: PageRows, { base, runs }: Pick<PageMeta, 'base' | 'runs'>): void {
    const { times, lineOffsets, metadata } = page;
    const counts = this.#counts;
    const metadataBytes = metadataBytesOf(page);
    const column = metadata.find(({ name }) => name === LEVEL_NAME);
    const levels = new Int32Array((column?.count ?? 0) + 1).fill(-1);
    levels[0] = 0;
    for (const { stream, firstRow, rows } of runs) {
      while (counts.length <= stream) counts.push([]);
      for (let row = firstRow; row < firstRow + rows; row++) {
        const id = column === undefined ? 0 : column.ids[row];
        if (levels[id] < 0) levels[id] = levelId(this.#levels, column!.valueAt(id - 1));
        const bucket = bucketOf(counts[stream], levels[id]);
        const lineBytes = lineOffsets[row + 1] - lineOffsets[row];
        addToMinute(bucket, minuteOf(base + times[row]), -1, -lineBytes, -metadataBytes[row]);
        this.#metadataBytes -= metadataBytes[row];
      }
    }
  }

  /** Sums the rows of each stream, minute and level first: a lookup of the bucket for each row takes longer. */
  #addRows(input: ChunkRows, ofBatch: OfBatch, from: number, to: number): void {
    const { streamOf, times, lineStart, lineEnd, firstPair, pairName, pairValue, values } = input;
    const { levelName, nameBytes, valueBytes, levelOfValue, numbers } = ofBatch;
    const { entries, lineBytes, metadataBytes, found } = SUMS;
    const levels = this.#levels;
    let total = 0;
    let stream = -1;
    let minute = 0;
    let minuteEnd = 0;
    for (let row = from; row < to; row++) {
      const time = times[row];
      if (streamOf[row] !== stream || time > minuteEnd) {
        if (found.length > 0) addSums(this.#counts[numbers[stream]], minute);
        stream = streamOf[row];
        minute = minuteOf(time);
        minuteEnd = minute * NS_OF_MINUTE;
      }
      let level = 0;
      let bytes = 0;
      for (let p = firstPair[row]; p < firstPair[row + 1]; p++) {
        const value = pairValue[p];
        bytes += nameBytes[pairName[p]] + valueBytes[value];
        if (pairName[p] !== levelName) continue;
        if (levelOfValue[value] < 0) levelOfValue[value] = levelId(levels, values[value].toString('utf8'));
        level = levelOfValue[value];
      }
      total += bytes;
      if (entries[level] === 0) found.push(level);
      entries[level]++;
      lineBytes[level] += lineEnd[row] - lineStart[row];
      metadataBytes[level] += bytes;
    }
    if (found.length > 0) addSums(this.#counts[numbers[stream]], minute);
    this.#metadataBytes += total;
  }

  /** @param order For each number of a stream, its index in the result. Default: they are the same */
  finish(order?: Uint32Array): Counts {
    const counts: GrowingCounts[][] = [];
    for (let number = 0; number < this.#counts.length; number++) {
      const ofStream = this.#counts[number];
      for (const bucket of ofStream) sumMinutes(bucket);
      counts[order === undefined ? number : order[number]] = ofStream.every(hasMinutes)
        ? ofStream
        : ofStream.filter(hasMinutes);
    }
    return { levels: this.#levels, counts, metadataBytes: this.#metadataBytes };
  }
}

function hasMinutes({ minutes }: GrowingCounts): boolean {
  return minutes.length > 0;
}

/** Sorts the minutes of a bucket, sums those that occur twice, and removes those that have nothing. */
function sumMinutes(bucket: GrowingCounts): void {
  const { minutes, entries, lineBytes, metadataBytes } = bucket;
  if (minutes.every((minute, i) => entries[i] > 0 && (i === 0 || minutes[i - 1] < minute))) return;
  const sorted = minutes.map((_, i) => i).sort((a, b) => minutes[a] - minutes[b]);
  const summed: GrowingCounts = { level: 0, minutes: [], entries: [], lineBytes: [], metadataBytes: [] };
  for (const i of sorted) addToMinute(summed, minutes[i], entries[i], lineBytes[i], metadataBytes[i]);
  const isLeft = (_: number, i: number) =>
    summed.entries[i] !== 0 || summed.lineBytes[i] !== 0 || summed.metadataBytes[i] !== 0;
  bucket.minutes = summed.minutes.filter(isLeft);
  bucket.lineBytes = summed.lineBytes.filter(isLeft);
  bucket.metadataBytes = summed.metadataBytes.filter(isLeft);
  bucket.entries = summed.entries.filter(isLeft);
}

/**
 * Sums of rows of one stream and minute by level, and the levels that have rows, by their first row. Empty between two
 * uses.
 */
const SUMS = {
  entries: new Float64Array(MAX_LEVELS),
  lineBytes: new Float64Array(MAX_LEVELS),
  metadataBytes: new Float64Array(MAX_LEVELS),
  found: [] as number[],
};

/** Moves the sums to the buckets of their stream. */
function addSums(ofStream: GrowingCounts[], minute: number): void {
  const { entries, lineBytes, metadataBytes, found } = SUMS;
  for (const level of found) {
    const bucket = bucketOf(ofStream, level);
    addToMinute(bucket, minute, entries[level], lineBytes[level], metadataBytes[level]);
    entries[level] = 0;
    lineBytes[level] = 0;
    metadataBytes[level] = 0;
  }
  found.length = 0;
}

/** Adds to the last minute of the bucket, or appends one. */
function addToMinute(
  bucket: GrowingCounts,
  minute: number,
  entries: number,
  lineBytes: number,
  metadataBytes: number,
): void {
  const at = bucket.minutes.length - 1;
  if (at >= 0 && bucket.minutes[at] === minute) {
    bucket.entries[at] += entries;
    bucket.lineBytes[at] += lineBytes;
    bucket.metadataBytes[at] += metadataBytes;
    return;
  }
  bucket.minutes.push(minute);
  bucket.entries.push(entries);
  bucket.lineBytes.push(lineBytes);
  bucket.metadataBytes.push(metadataBytes);
}

/** Returns the bytes of metadata names and values of each row. */
function metadataBytesOf({ rows, metadata }: PageRows): Float64Array {
  const bytes = new Float64Array(rows);
  for (const column of metadata) addBytes(bytes, column);
  return bytes;
}

function addBytes(bytes: Float64Array, column: MetadataColumn): void {
  const { name, ids, count } = column;
  const nameBytes = Buffer.byteLength(name);
  const ofValue = new Float64Array(count + 1);
  for (let value = 0; value < count; value++)
    ofValue[value + 1] = nameBytes + Buffer.byteLength(column.valueAt(value));
  for (let row = 0; row < bytes.length; row++) bytes[row] += ofValue[ids[row]];
}

function bucketOf(ofStream: GrowingCounts[], level: number): GrowingCounts {
  for (let i = 0; i < ofStream.length; i++) if (ofStream[i].level === level) return ofStream[i];
  const bucket: GrowingCounts = { level, minutes: [], entries: [], lineBytes: [], metadataBytes: [] };
  ofStream.push(bucket);
  return bucket;
}

function levelId(levels: string[], value: string): number {
  const known = levels.indexOf(value);
  if (known >= 0) return known;
  if (levels.length <= MAX_COUNTED_LEVELS) return levels.push(value) - 1;
  const other = levels.indexOf(OTHER_LEVELS);
  return other >= 0 ? other : levels.push(OTHER_LEVELS) - 1;
}
