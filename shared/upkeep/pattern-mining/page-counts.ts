/**
 * Counts the lines of a page by pattern, level and time. The pattern of a cluster is known after the last page of the chunk, so
 * until then each row has a number of one or two bytes, which stands for its cluster and level in this page:
 *
 *     keys     [-, cluster 7 info, cluster 9 error]        rows  1 1 2 1 | 2 2        buckets  12:00:10, 12:00:20
 */
import { NS_OF_SECOND } from '../../base/model/time-units.ts';
import type { ByteWriter } from '../../storage/codec/byte-io.ts';
import { COARSE_BUCKET_S, COARSE_FROM_NS, FINE_BUCKET_S } from './bounds.ts';
import type { NumberedRows, RowNumbers } from './page-clusters.ts';
import { writeRunHead } from './section-codec.ts';

/** Rows of one stream in a page. */
interface PageRun {
  readonly firstRow: number;
  readonly rows: number;
}

export interface TimedRows {
  readonly runs: readonly PageRun[];
  /** Time of each row, ns of the day minus `base`; ascending inside a run. */
  readonly times: Float64Array;
  readonly base: number;
}

/** Rows of a page whose patterns are not known yet. */
export interface UncountedRows {
  readonly runs: readonly PageRun[];
  /** Width of the buckets of each run, seconds. */
  readonly widths: readonly number[];
  /** Number of each bucket: time of day divided by the width. The buckets of a run follow those of the run before. */
  readonly buckets: Uint32Array;
  /** Row behind the last one of each bucket. */
  readonly bucketEnds: Uint32Array;
  /** Number of each row; 0 for rows that do not count. */
  readonly numbers: RowNumbers;
  /** `cluster << LEVEL_BITS | level` of each number. The first is not used. */
  readonly keys: readonly number[];
}

/** Group of a number that is not known yet, and of lines that are not written. */
const UNKNOWN = 0;
const DROPPED = 1;

/** Returns the memory of the rows, bytes. */
export function bytesOfRows({ runs, buckets, numbers, keys }: UncountedRows): number {
  return 24 * runs.length + 2 * buckets.byteLength + numbers.byteLength + 8 * keys.length;
}

/** Returns what counting the rows of a page needs later. */
export function uncountedRows(
  { runs, times, base }: TimedRows,
  { numbers, keys }: NumberedRows,
): UncountedRows {
  const widths: number[] = [];
  const buckets: number[] = [];
  const ends: number[] = [];
  for (const { firstRow, rows: own } of runs) {
    const end = firstRow + own;
    const isLong = times[end - 1] - times[firstRow] >= COARSE_FROM_NS;
    const widthS = isLong ? COARSE_BUCKET_S : FINE_BUCKET_S;
    const bucketNs = widthS * NS_OF_SECOND;
    widths.push(widthS);
    for (let row = firstRow; row < end; ) {
      const bucket = Math.floor((base + times[row]) / bucketNs);
      const stop = (bucket + 1) * bucketNs;
      do row++;
      while (row < end && base + times[row] < stop);
      buckets.push(bucket);
      ends.push(row);
    }
  }
  return {
    runs,
    widths,
    buckets: Uint32Array.from(buckets),
    bucketEnds: Uint32Array.from(ends),
    numbers,
    keys,
  };
}

/** Memory of `writeCounts`, which grows and is used for many pages. */
export class CountMemory {
  /** Group of each number of the page, in the current run. */
  groupOf = new Uint32Array(256);
  /** Lines of each group in the current bucket, and its entries in the current run. */
  lines = new Uint32Array(256);
  sizes = new Uint32Array(256);
  /** Groups with lines in the current bucket. */
  touched = new Uint32Array(256);
  /** Group, bucket and lines of the entries of the current run; then their order by group. */
  entries = new Uint32Array(3 * 1024);
  order = new Uint32Array(1024);

  reserveGroups(groups: number): void {
    if (groups <= this.lines.length) return;
    this.groupOf = new Uint32Array(2 * groups);
    this.lines = new Uint32Array(2 * groups);
    this.sizes = new Uint32Array(2 * groups);
    this.touched = new Uint32Array(2 * groups);
  }

  reserveEntries(entries: number): void {
    if (entries <= this.order.length) return;
    this.entries = new Uint32Array(6 * entries);
    this.order = new Uint32Array(2 * entries);
  }
}

/**
 * Writes the counts of a page.
 * @param keyOf returns `template << LEVEL_BITS | level` for the same of a cluster, or -1 if its lines are not written. It is called
 *   in the order of the written groups.
 */
export function writeCounts(
  writer: ByteWriter,
  { runs, widths, buckets, bucketEnds, numbers, keys }: UncountedRows,
  keyOf: (key: number) => number,
  memory: CountMemory,
): void {
  memory.reserveGroups(keys.length + 2);
  const { groupOf, lines, sizes, touched } = memory;
  let written = 0;
  let bucket = 0;
  for (let run = 0; run < runs.length; run++) {
    const { firstRow, rows } = runs[run];
    const end = firstRow + rows;
    memory.reserveEntries(rows);
    const { entries, order } = memory;
    /** Key of each group, and group of each key. */
    const groups = [-1, -1];
    const groupOfKey = new Map<number, number>([[-1, DROPPED]]);
    groupOf.fill(UNKNOWN, 0, keys.length);
    groupOf[0] = DROPPED;
    let count = 0;
    for (let row = firstRow; row < end; bucket++) {
      const stop = bucketEnds[bucket];
      let some = 0;
      for (; row < stop; row++) {
        const number = numbers[row];
        let group = groupOf[number];
        if (group === UNKNOWN) {
          const key = keyOf(keys[number]);
          group = groupOfKey.get(key) ?? groups.push(key) - 1;
          groupOfKey.set(key, group);
          groupOf[number] = group;
        }
        if (lines[group]++ === 0) touched[some++] = group;
      }
      for (let i = 0; i < some; i++) {
        const group = touched[i];
        entries[count] = group;
        entries[count + 1] = buckets[bucket];
        entries[count + 2] = lines[group];
        count += 3;
        lines[group] = 0;
        sizes[group]++;
      }
    }
    sortEntries(entries, count, sizes, groups.length, order);
    let at = sizes[DROPPED];
    sizes[DROPPED] = 0;
    if (groups.length === 2) continue;
    writeRunHead(writer, run - written, widths[run], groups.length - 2);
    written = run;
    for (let group = DROPPED + 1; group < groups.length; group++) {
      writer.varint(groups[group]);
      const own = sizes[group];
      sizes[group] = 0;
      writer.varint(own);
      let before = 0;
      for (const to = at + own; at < to; at++) {
        const entry = order[at];
        writer.varint(entries[entry + 1] - before);
        writer.varint(entries[entry + 2]);
        before = entries[entry + 1];
      }
    }
  }
}

/** Sorts the entries by group with a counting sort, which keeps the order of buckets. `sizes` becomes what it was. */
function sortEntries(
  entries: Uint32Array,
  count: number,
  sizes: Uint32Array,
  groups: number,
  order: Uint32Array,
): void {
  let total = 0;
  for (let group = DROPPED; group < groups; group++) {
    const own = sizes[group];
    sizes[group] = total;
    total += own;
  }
  for (let entry = 0; entry < count; entry += 3) order[sizes[entries[entry]]++] = entry;
  for (let group = groups - 1; group > DROPPED; group--) sizes[group] -= sizes[group - 1];
}
