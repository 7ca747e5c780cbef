/** Host side of assembly/row-hash.ts: hashes the lines of a page. */
import { type Constant, endOfCall, KernelInstance } from './kernels.ts';

interface HashKernel {
  readonly HASH_BYTES: Constant;
  readonly HASH_LINES: Constant;
  readonly HASH_OFFSETS: Constant;
  readonly HASH_ONES: Constant;
  readonly HASH_TWOS: Constant;
  readonly MAX_HASH_BYTES: Constant;
  readonly MAX_HASH_ROWS: Constant;
  hashLines(rows: number, first: number): void;
}

let instance: KernelInstance<HashKernel> | undefined;

/** Returns the memory that the kernel uses, bytes. */
export function hashMemoryBytes(): number {
  return hashKernel().run.HASH_BYTES.value;
}

function hashKernel(): KernelInstance<HashKernel> {
  if (instance === undefined) {
    instance = new KernelInstance();
    instance.reserve(instance.run.HASH_BYTES.value);
  }
  return instance;
}

/** Hash of each row, in two words. */
export interface HashWords {
  readonly one: Uint32Array;
  readonly two: Uint32Array;
}

/**
 * Adds each row's line to its hash. The new hash depends only on the previous hash and on the bytes of the
 * line.
 *
 * @param lineOffsets `rows + 1` offsets in `lines`
 */
export function hashLines(
  hashes: HashWords,
  lines: Uint8Array,
  lineOffsets: Uint32Array,
  rows: number,
): void {
  const { run } = hashKernel();
  const maxBytes = run.MAX_HASH_BYTES.value;
  const limits = { maxRows: run.MAX_HASH_ROWS.value, maxBytes };
  for (let row = 0; row < rows; ) {
    const first = row;
    row = endOfCall(lineOffsets, first, rows, limits);
    if (row > first) {
      hashBatch(hashes, first, lines, lineOffsets.subarray(first, row + 1));
      continue;
    }
    // A longer line is added in parts, which are cut at the same offsets in every page.
    const end = lineOffsets[++row];
    for (let at = lineOffsets[first]; at < end; at += maxBytes) {
      hashBatch(hashes, first, lines, Uint32Array.of(at, Math.min(at + maxBytes, end)));
    }
  }
}

/** @param offsets Starts of the lines of a batch, and its end */
function hashBatch({ one, two }: HashWords, firstRow: number, lines: Uint8Array, offsets: Uint32Array): void {
  const { run, bytes, words } = hashKernel();
  const rows = offsets.length - 1;
  const [onesAt, twosAt] = [run.HASH_ONES.value >>> 2, run.HASH_TWOS.value >>> 2];
  bytes.set(lines.subarray(offsets[0], offsets[rows]), run.HASH_LINES.value);
  words.set(offsets, run.HASH_OFFSETS.value >>> 2);
  words.set(one.subarray(firstRow, firstRow + rows), onesAt);
  words.set(two.subarray(firstRow, firstRow + rows), twosAt);
  run.hashLines(rows, offsets[0]);
  one.set(words.subarray(onesAt, onesAt + rows), firstRow);
  two.set(words.subarray(twosAt, twosAt + rows), firstRow);
}
