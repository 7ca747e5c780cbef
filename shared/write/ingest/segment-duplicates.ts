/**
 * Removes duplicates from a day's entries: of equal ones (stream, timestamp, line and metadata) the first is
 * stored. Only entries of one stream and time can be equal. Sorted, they are adjacent.
 */

import { hash as digestOf } from 'node:crypto';
import { equalRange } from '../../base/model/bytes.ts';
import type { Steps } from '../../base/model/steps.ts';
import { type PairColumns, samePairs } from '../../storage/chunk/rows.ts';
import type { AcceptedPush } from './push-columns.ts';
import type { Refs, SortedRows } from './sorted-rows.ts';

/** Maximum ties that are compared in pairs. Above this, a map of lines finds the equal ones. */
const COMPARED_TIES = 8;
const MAX_LINE_KEY_BYTES = 256;
/** Longer lines are compared by a native function. */
const MAX_COMPARED_BYTES = 1024;
/** Entries per step: 0.3 ms. */
const ENTRIES_A_STEP = 16_384;
const BYTES_A_STEP = 256 * 1024;
/** Cost of an entry and of each of its pairs, in bytes of lines. */
const ENTRY_BYTES = 256;

/** Returns 1 for each row to keep: of equal entries the first. Undefined if all are kept. */
export function* withoutDuplicates(
  pushes: readonly AcceptedPush[],
  { starts, refs, times, pairs }: SortedRows,
): Steps<Uint8Array | undefined> {
  let keep: Uint8Array | undefined;
  let stop = ENTRIES_A_STEP;
  for (let s = 0; s + 1 < starts.length; s++) {
    const end = starts[s + 1];
    let tie = starts[s];
    for (let i = tie + 1; i <= end; i++) {
      if (i >= stop) {
        stop = i + ENTRIES_A_STEP;
        yield;
      }
      if (i < end && times[i] === times[tie]) continue;
      if (i - tie > 1) {
        keep ??= new Uint8Array(times.length).fill(1);
        if (i - tie > COMPARED_TIES) yield* dropEqualInMap(pushes, refs, pairs, tie, i, keep);
        else if (dropEqualInPairs(pushes, refs, pairs, tie, i, keep) > BYTES_A_STEP) yield;
      }
      tie = i;
    }
  }
  return keep === undefined || !keep.includes(0) ? undefined : keep;
}

/**
 * Returns a line as characters. A long one becomes its digest, so that a push with equal times does not need
 * its memory twice.
 */
function lineKey(bytes: Buffer, start: number, end: number): string {
  if (end - start <= MAX_LINE_KEY_BYTES) return `=${bytes.latin1Slice(start, end)}`;
  return `#${digestOf('sha256', bytes.subarray(start, end), 'base64')}`;
}

/** Compares all pairs. Returns the number of bytes that it may have read. */
function dropEqualInPairs(
  pushes: readonly AcceptedPush[],
  refs: Refs,
  pairs: PairColumns,
  from: number,
  to: number,
  keep: Uint8Array,
): number {
  let bytes = 0;
  for (let i = from + 1; i < to; i++) {
    const { lineStart, lineEnd } = pushes[refs.push[i]].columns;
    bytes += (i - from) * (lineEnd[refs.entry[i]] - lineStart[refs.entry[i]]);
    for (let j = from; j < i; j++) {
      if (keep[j] === 1 && sameLine(pushes, refs, i, j) && samePairs(pairs, i, j)) {
        keep[i] = 0;
        break;
      }
    }
  }
  return bytes;
}

function sameLine(pushes: readonly AcceptedPush[], refs: Refs, i: number, j: number): boolean {
  const a = pushes[refs.push[i]].columns;
  const b = pushes[refs.push[j]].columns;
  const x = refs.entry[i];
  const y = refs.entry[j];
  const length = a.lineEnd[x] - a.lineStart[x];
  if (length > MAX_COMPARED_BYTES && length === b.lineEnd[y] - b.lineStart[y]) {
    return a.bytes
      .subarray(a.lineStart[x], a.lineEnd[x])
      .equals(b.bytes.subarray(b.lineStart[y], b.lineEnd[y]));
  }
  return equalRange(a.bytes, a.lineStart[x], a.lineEnd[x], b.bytes, b.lineStart[y], b.lineEnd[y]);
}

function* dropEqualInMap(
  pushes: readonly AcceptedPush[],
  refs: Refs,
  pairs: PairColumns,
  from: number,
  to: number,
  keep: Uint8Array,
): Steps<void> {
  const seen = new Set<string>();
  let bytes = 0;
  for (let i = from; i < to; i++) {
    if (bytes >= BYTES_A_STEP) {
      bytes = 0;
      yield;
    }
    const { columns } = pushes[refs.push[i]];
    const e = refs.entry[i];
    const parts: string[] = [];
    for (let x = pairs.first[i]; x < pairs.first[i + 1]; x++)
      parts.push(`${pairs.name[x]}=${pairs.value[x]}`);
    // The pairs contain only digits, so the first space ends them and the line may contain anything.
    const key = `${parts.sort().join()} ${lineKey(columns.bytes, columns.lineStart[e], columns.lineEnd[e])}`;
    bytes += ENTRY_BYTES * (parts.length + 1) + columns.lineEnd[e] - columns.lineStart[e];
    if (seen.has(key)) keep[i] = 0;
    else seen.add(key);
  }
}
