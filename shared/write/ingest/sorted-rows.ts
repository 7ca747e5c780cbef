/**
 * The entries of one day on their way into rows: grouped by stream, sorted by time, their metadata numbered. Hardly any
 * push holds an entry twice, so rows are selected only where one does; else these arrays are the rows' own.
 */

import type { Stream } from '../../base/model/page.ts';
import type { PairColumns } from '../../storage/chunk/rows.ts';

/** Entries by push and place: parallel arrays. */
export interface Refs {
  readonly push: Uint16Array;
  readonly entry: Uint32Array;
}

export interface InternedPairs extends PairColumns {
  readonly names: string[];
  readonly values: Buffer[];
}

export interface SortedRows {
  readonly streams: readonly Stream[];
  /** Where the entries of each stream begin, and at the end how many there are. */
  readonly starts: Uint32Array;
  readonly refs: Refs;
  /** Nanoseconds since the day's start. */
  readonly times: Float64Array;
  readonly pairs: InternedPairs;
}

/** Those with `keep[i] === 1`; every stream keeps one at least. */
export function selectRows(
  { streams, starts, refs, times, pairs }: SortedRows,
  keep: Uint8Array,
): SortedRows {
  let rows = 0;
  for (let i = 0; i < keep.length; i++) rows += keep[i];
  const kept = {
    streams,
    starts: new Uint32Array(starts.length),
    refs: { push: new Uint16Array(rows), entry: new Uint32Array(rows) },
    times: new Float64Array(rows),
  };
  const first = new Uint32Array(rows + 1);
  const name = new Uint32Array(pairs.name.length);
  const value = new Uint32Array(pairs.value.length);
  let at = 0;
  let pairAt = 0;
  for (let s = 0; s < streams.length; s++) {
    for (let i = starts[s]; i < starts[s + 1]; i++) {
      if (keep[i] === 0) continue;
      kept.refs.push[at] = refs.push[i];
      kept.refs.entry[at] = refs.entry[i];
      kept.times[at] = times[i];
      for (let x = pairs.first[i]; x < pairs.first[i + 1]; x++) {
        name[pairAt] = pairs.name[x];
        value[pairAt] = pairs.value[x];
        pairAt++;
      }
      at++;
      first[at] = pairAt;
    }
    kept.starts[s + 1] = at;
  }
  return { ...kept, pairs: { names: pairs.names, values: pairs.values, first, name, value } };
}
