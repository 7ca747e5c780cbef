/**
 * Which of a day's entries are stored: of equal ones (stream, timestamp, line and metadata) the first. Only entries of one
 * stream and time can be equal, and sorted they lie side by side.
 */
import { type PairColumns, samePairs } from '../chunk/rows.ts';
import { equalRange } from '../model/bytes.ts';
import type { AcceptedPush } from './push-columns.ts';
import type { Refs, SortedRows } from './sorted-rows.ts';

/** Ties up to this many are compared pair by pair; above it a map of lines finds the equal ones. */
const COMPARED_TIES = 8;

/** 1 for each row to keep: of equal entries the first. Undefined where all are kept. */
export function withoutDuplicates(
  pushes: readonly AcceptedPush[],
  { starts, refs, times, pairs }: SortedRows,
): Uint8Array | undefined {
  let keep: Uint8Array | undefined;
  for (let s = 0; s + 1 < starts.length; s++) {
    const end = starts[s + 1];
    let tie = starts[s];
    for (let i = tie + 1; i <= end; i++) {
      if (i < end && times[i] === times[tie]) continue;
      if (i - tie > 1) {
        keep ??= new Uint8Array(times.length).fill(1);
        const drop = i - tie > COMPARED_TIES ? dropEqualInMap : dropEqualInPairs;
        drop(pushes, refs, pairs, tie, i, keep);
      }
      tie = i;
    }
  }
  return keep === undefined || !keep.includes(0) ? undefined : keep;
}

function dropEqualInPairs(
  pushes: readonly AcceptedPush[],
  refs: Refs,
  pairs: PairColumns,
  from: number,
  to: number,
  keep: Uint8Array,
): void {
  for (let i = from + 1; i < to; i++) {
    for (let j = from; j < i; j++) {
      if (keep[j] === 1 && sameLine(pushes, refs, i, j) && samePairs(pairs, i, j)) {
        keep[i] = 0;
        break;
      }
    }
  }
}

function sameLine(pushes: readonly AcceptedPush[], refs: Refs, i: number, j: number): boolean {
  const a = pushes[refs.push[i]].columns;
  const b = pushes[refs.push[j]].columns;
  const x = refs.entry[i];
  const y = refs.entry[j];
  return equalRange(a.bytes, a.lineStart[x], a.lineEnd[x], b.bytes, b.lineStart[y], b.lineEnd[y]);
}

function dropEqualInMap(
  pushes: readonly AcceptedPush[],
  refs: Refs,
  pairs: PairColumns,
  from: number,
  to: number,
  keep: Uint8Array,
): void {
  const seen = new Set<string>();
  for (let i = from; i < to; i++) {
    const { columns } = pushes[refs.push[i]];
    const e = refs.entry[i];
    const parts: string[] = [];
    for (let x = pairs.first[i]; x < pairs.first[i + 1]; x++)
      parts.push(`${pairs.name[x]}=${pairs.value[x]}`);
    // The pairs hold digits only, so the first space ends them and the line may hold anything.
    const key = `${parts.sort().join()} ${columns.bytes.latin1Slice(columns.lineStart[e], columns.lineEnd[e])}`;
    if (seen.has(key)) keep[i] = 0;
    else seen.add(key);
  }
}
