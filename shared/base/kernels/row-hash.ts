/**
 * Host side of assembly/row-hash.ts: hashes the rows of a page. Lines in line memory are hashed in place,
 * others are copied to the join area of the line space, which contains
 *
 *     hashes | times | offsets | lines, unless they are hashed in place
 */
import type { PageRows } from '../model/page.ts';
import { endOfCall } from './kernels.ts';
import { type JoinArea, joinAreaOf, lineSpace } from './line-memory.ts';

/** Maximum number of lines of one call, and of their bytes. */
const MAX_ROWS = 65_536;
const MAX_BYTES = 1024 * 1024;

type HashedColumns = Pick<PageRows, 'baseNs' | 'times' | 'lines' | 'lineOffsets' | 'rows'>;

/**
 * Replaces each row's seed by its hash, which depends only on the seed, and on the timestamp and the bytes of
 * the line.
 *
 * @param hashes Two words for each row
 */
export function hashLines(hashes: Uint32Array, page: HashedColumns): void {
  const { lineOffsets, rows } = page;
  const limits = { maxRows: MAX_ROWS, maxBytes: MAX_BYTES };
  for (let row = 0; row < rows; ) {
    const first = row;
    row = endOfCall(lineOffsets, first, rows, limits);
    if (row > first) {
      hashBatch(hashes, page, first, lineOffsets.subarray(first, row + 1));
      continue;
    }
    // A longer line is added in parts, which are cut at the same offsets in every page.
    const end = lineOffsets[++row];
    for (let at = lineOffsets[first]; at < end; at += MAX_BYTES) {
      hashBatch(hashes, page, first, Uint32Array.of(at, Math.min(at + MAX_BYTES, end)));
    }
  }
}

/** @param offsets Starts of the lines of a batch, and its end */
function hashBatch(
  hashes: Uint32Array,
  { baseNs, times, lines }: HashedColumns,
  first: number,
  offsets: Uint32Array,
): void {
  const inPlace = joinAreaOf(lines);
  const { code, memory, at } = inPlace ?? (joinAreaOf(lineSpace()) as JoinArea);
  const rows = offsets.length - 1;
  const words = new Uint32Array(memory.buffer, at, 2 * rows);
  const timesAt = at + 8 * rows;
  const offsetsAt = timesAt + 8 * rows;
  words.set(hashes.subarray(2 * first, 2 * (first + rows)));
  new Float64Array(memory.buffer, timesAt).set(times.subarray(first, first + rows));
  new Uint32Array(memory.buffer, offsetsAt).set(offsets);
  let linesAt = lines.byteOffset;
  if (inPlace === undefined) {
    const copyAt = offsetsAt + 4 * (rows + 1);
    memory.set(lines.subarray(offsets[0], offsets[rows]), copyAt);
    linesAt = copyAt - offsets[0];
  }
  code.hashLines(rows, linesAt, offsetsAt, timesAt, at, baseNs);
  hashes.set(words, 2 * first);
}
