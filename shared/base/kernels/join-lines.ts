/**
 * Host side of assembly/join-lines.ts: joins lines of a page from templates and columns. If the target is
 * line memory (line-memory.ts), lines are joined in place, because kernels work next to it. Otherwise they
 * are joined in a separate memory and copied. The join area next to the lines contains
 *
 *     digits | page: frame, columns | memory of the reader | times | marks of rows | offsets | last lines
 *
 * The last lines are joined apart: in place, the kernel would write past the end of the target.
 */
import { type BytePattern, rarestOffsets } from '../model/byte-pattern.ts';
import { createLineMemory, type JoinArea, joinAreaOf, MAX_JOINED_BYTES } from './line-memory.ts';

/** Padding after texts, because loads and stores run past their end. */
const SLACK_BYTES = 128;
/** Maximum number of bytes that a join writes past the end of its last line. */
const OVER_BYTES = 80;

/** Memory for lines that are joined elsewhere and copied. */
let ownLines: Buffer | undefined;

/** Times of the rows of a page, for lines that show them. */
export interface RowTimes {
  /** Time of day to which `offsets` are relative, ns. */
  readonly base: number;
  /** For each row, ns. */
  readonly offsets: Float64Array;
}

/**
 * Memory for a split page: its frame, then its columns. Fill it immediately, then open it:
 *
 *     page.open(rows, times) && page.join(offsets)              all lines
 *     page.markRows(patterns); page.join(offsets, true)         lines that may contain one of the patterns
 *     page.pack()                                               lines whose lengths are not known
 */
export class SplitPage {
  readonly bytes: Buffer;
  readonly #lines: Buffer;
  readonly #target: Buffer;
  readonly #area: JoinArea;
  #rows = 0;
  /** Address after the memory of the reader and the times. */
  #freeAt = 0;

  /**
   * @param bytes Size of frame and columns, up to MAX_JOINED_BYTES
   * @param lines Target for all lines and nothing else, up to MAX_JOINED_BYTES
   */
  constructor(bytes: number, lines: Buffer) {
    let target = lines;
    let area = joinAreaOf(target);
    if (area === undefined) {
      ownLines ??= createLineMemory(MAX_JOINED_BYTES);
      target = ownLines.subarray(0, lines.length);
      area = joinAreaOf(ownLines)!;
    }
    this.#lines = lines;
    this.#target = target;
    this.#area = area;
    const at = area.at + area.code.DIGITS_BYTES.value;
    this.bytes = area.memory.subarray(at, at + bytes);
  }

  /** Reads the page. Returns false if it is corrupt, or if its lines show the times of its rows and those are missing. */
  open(rows: number, times?: RowTimes): boolean {
    const { code, memory, end: areaEnd } = this.#area;
    const at = this.bytes.byteOffset;
    const end = at + this.bytes.length;
    const needed = code.openSplit(at, end, rows);
    const readerAt = aligned(end + SLACK_BYTES);
    this.#rows = rows;
    const timesAt = aligned(readerAt + needed);
    this.#freeAt = times === undefined ? timesAt : timesAt + 8 * rows;
    if (needed === 0 || this.#freeAt + rows + SLACK_BYTES > areaEnd) return false;
    if (times === undefined) return code.laySplit(readerAt, 0, 0) !== 0;
    new Float64Array(memory.buffer, timesAt, rows).set(times.offsets);
    return code.laySplit(readerAt, timesAt, times.base) !== 0;
  }

  /** A byte for each row, not 0 if it is marked. Valid until another page is opened. */
  get marks(): Buffer {
    return this.#area.memory.subarray(this.#freeAt, this.#freeAt + this.#rows);
  }

  /**
   * Marks at least the rows whose line contains one of the patterns, before any row is joined. A pattern has at least 2 bytes.
   * Returns false if the page is too large to search.
   */
  markRows(patterns: readonly BytePattern[]): boolean {
    const { memory, code, end } = this.#area;
    const most = code.MAX_SOUGHT.value;
    const textAt = this.#offsetsAt;
    const othersAt = textAt + code.SOUGHT_OTHERS.value;
    const searchAt = textAt + code.SOUGHT_BYTES.value;
    if (searchAt + code.searchBytes() + SLACK_BYTES > end) return false;
    this.marks.fill(0);
    for (const pattern of patterns) {
      const bytes = pattern.bytes.subarray(0, most);
      const others = pattern.others.subarray(0, most);
      memory.set(bytes, textAt);
      memory.set(others, othersAt);
      code.seek(textAt, bytes.length, ...rarestOffsets({ bytes, others }));
      code.markRows(this.#freeAt, searchAt);
    }
    return true;
  }

  /**
   * Writes the lines one behind the other, and up to 79 bytes past the last one. Returns `rows + 1` offsets, valid until another page is
   * opened, or undefined if the page is corrupt, or if the target is too short or no line memory.
   */
  pack(): Uint32Array | undefined {
    const { memory, code, end } = this.#area;
    const offsetsAt = this.#offsetsAt;
    const offsetsEnd = offsetsAt + 4 * (this.#rows + 1);
    if (this.#target !== this.#lines || offsetsEnd > end) return undefined;
    const from = this.#target.byteOffset;
    if (code.packLines(offsetsAt, from, from + this.#target.length) === 0) return undefined;
    return new Uint32Array(memory.buffer, offsetsAt, this.#rows + 1);
  }

  get #offsetsAt(): number {
    return aligned(this.#freeAt + this.#rows + SLACK_BYTES);
  }

  /**
   * Writes the lines. Returns false if the page is corrupt; the target may then contain arbitrary bytes.
   * @param offsets `rows + 1` offsets, ascending from 0 to the size of all lines
   * @param onlyMarked Whether to write zeros instead of the lines of rows without a mark
   */
  join(offsets: Uint32Array, onlyMarked = false): boolean {
    const { memory, code, end: areaEnd } = this.#area;
    const rows = this.#rows;
    const total = this.#lines.length;
    if (offsets[rows] !== total) return false;
    const offsetsAt = this.#offsetsAt;
    const tailAt = aligned(offsetsAt + 4 * (rows + 1));
    let last = rows;
    while (last > 0 && offsets[last] + OVER_BYTES > total) last--;
    const tailEnd = tailAt + total - offsets[last];
    if (tailEnd + SLACK_BYTES > areaEnd) return false;
    const wanted = onlyMarked ? this.#freeAt : 0;
    new Uint32Array(memory.buffer, offsetsAt, rows + 1).set(offsets.subarray(0, rows + 1));
    if (code.joinLines(0, last, offsetsAt, this.#target.byteOffset, wanted) === 0) return false;
    // Offset the target so that the first of these lines starts at `tailAt`.
    if (code.joinLines(last, rows, offsetsAt, tailAt - offsets[last], wanted) === 0) return false;
    memory.copy(this.#target, offsets[last], tailAt, tailEnd);
    if (this.#target !== this.#lines) this.#target.copy(this.#lines);
    return true;
  }
}

function aligned(at: number): number {
  return (at + 7) & ~7;
}
