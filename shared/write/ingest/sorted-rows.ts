/**
 * Entries of one day before they become rows: grouped by stream, sorted by time, metadata numbered. Few
 * pushes contain an entry twice. Rows are selected only in that case; otherwise the rows use these arrays.
 */

import type { Stream } from '../../base/model/page.ts';
import type { PairColumns } from '../../storage/chunk/rows.ts';

/** References to entries by push and index, as parallel arrays. */
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
  /** Start of the entries of each stream, followed by their total number. */
  readonly starts: Uint32Array;
  readonly refs: Refs;
  /** Nanoseconds since the start of the day. */
  readonly times: Float64Array;
  readonly pairs: InternedPairs;
}

/** Selects the rows with `keep[i] === 1`. Every stream keeps at least one. */
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
