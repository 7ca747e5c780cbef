/**
 * Writes the values of a column of split lines one behind the other, as lines for searches. The column is joined as a page that has it as
 * its only column, and of which each line is a value (template 0 in docs/dev/format.md#47-split-lines).
 */
import type { PageLines } from './capture-finder.ts';
import { SplitPage } from './join-lines.ts';
import { lineSpace } from './line-memory.ts';
import { HEAD_BYTES } from './row-classes.ts';

// Numbers of a frame's head.
const COLUMNS_AT = 12;
const ROWS_AT = 16;
const WIDTH_AT = 20;

interface SplitColumn {
  /** Record of the column, as in the frame. */
  readonly record: Uint8Array;
  readonly bytes: Uint8Array;
  /** Number of values. */
  readonly count: number;
}

/**
 * Returns the values, in the line space until it has other lines. Undefined if the column is damaged, or longer than
 * `maxBytes`, or if values show the times of their rows.
 */
export function columnLines({ record, bytes, count }: SplitColumn, maxBytes: number): PageLines | undefined {
  const target = lineSpace().subarray(0, maxBytes);
  const recordEnd = HEAD_BYTES + record.length;
  const page = new SplitPage(recordEnd + count + bytes.length, target);
  const split = page.bytes;
  split.fill(0, 0, recordEnd + count);
  split.writeUInt32LE(1, COLUMNS_AT);
  split.writeUInt32LE(count, ROWS_AT);
  split.writeUInt32LE(1, WIDTH_AT);
  split.set(record, HEAD_BYTES);
  split.set(bytes, recordEnd + count);
  if (!page.open(count)) return undefined;
  const lineOffsets = page.pack();
  return lineOffsets && { rows: count, lines: target.subarray(0, lineOffsets[count]), lineOffsets };
}
