/**
 * Offsets in a column at which the statistics of its bytes change, so that zstd uses a table for each part: numbers begin with the
 * lowest bytes of all values, which are noise, and end with the highest, which repeat. The heads of affixes are not like their texts.
 */
import { NO_INDEXES, OWN_TEXT } from '../columns/numbered-texts.ts';
import { SPLIT_NUMBER, SPLIT_NUMBERED, type SplitRecord } from '../columns/split-frame.ts';

/** Minimum bytes of a part. A table takes 20 to 80 bytes. */
const MIN_PART_BYTES = 256;
/** Bytes of the head of affixes, and the offset of their form in it. */
const HEAD_BYTES = 5;
const FORM = 4;

/** Returns `start`, and the ends of `planes` parts of equal size after it, but for that of the last one. */
function planeEnds(start: number, size: number, planes: number): number[] {
  if (size < MIN_PART_BYTES || planes === 0) return [];
  const ends = start === 0 ? [] : [start];
  for (let plane = 1; plane < planes; plane++) ends.push(start + plane * size);
  return ends;
}

/** Returns the ends of the parts of a column of split lines. */
export function partEnds(record: SplitRecord, bytes: Uint8Array): number[] {
  const { type, detail, width, count } = record;
  if (type === SPLIT_NUMBER) return planeEnds(0, count, width);
  if (type !== SPLIT_NUMBERED || count < MIN_PART_BYTES) return [];
  const hasIndexes = (record.mode & NO_INDEXES) === 0;
  const numbers = hasIndexes ? numbersOf(bytes, count) : count;
  const planes = planeEnds(bytes.length - numbers * width, numbers, width);
  if (!hasIndexes) return planes;
  const headsEnd = count + HEAD_BYTES * detail;
  return [count, headsEnd, ...planes.filter(end => end > headsEnd)];
}

/** Counts the values whose affixes have a number. */
function numbersOf(bytes: Uint8Array, count: number): number {
  const counts = new Uint32Array(OWN_TEXT + 1);
  for (let i = 0; i < count; i++) counts[bytes[i]]++;
  let numbers = 0;
  for (let index = 0; index < OWN_TEXT; index++)
    if (counts[index] > 0 && bytes[count + HEAD_BYTES * index + FORM] !== 0) numbers += counts[index];
  return numbers;
}
