/**
 * Host side of assembly/join-lines.ts: joins lines of a page from templates and columns. If the target is
 * line memory (line-memory.ts), lines are joined in place, because kernels work next to it. Otherwise they
 * are joined in a separate memory and copied. The join area next to the lines contains
 *
 *     digits | page: frame, columns | memory of the reader | offsets | last lines
 *
 * The last lines are joined apart: in place, the kernel would write past the end of the target.
 */
import { createLineMemory, type JoinArea, joinAreaOf, MAX_JOINED_BYTES } from './line-memory.ts';

/** Padding after texts, because loads and stores run past their end. */
const SLACK_BYTES = 128;
/** Maximum number of bytes that a join writes past the end of its last line. */
const OVER_BYTES = 80;

/** Memory for lines that are joined elsewhere and copied. */
let ownLines: Buffer | undefined;

/** Memory for a split page: its frame, then its columns. Fill it immediately, then call `join`. */
export class SplitPage {
  readonly bytes: Buffer;
  readonly #lines: Buffer;
  readonly #target: Buffer;
  readonly #area: JoinArea;

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

  /**
   * Writes the lines. Returns false if the page is corrupt; the target may then contain arbitrary bytes.
   * @param offsets `rows + 1` offsets, ascending from 0 to the size of all lines
   */
  join(offsets: Uint32Array, rows: number): boolean {
    const { memory, code, end: areaEnd } = this.#area;
    const total = this.#lines.length;
    if (offsets[rows] !== total) return false;
    const at = this.bytes.byteOffset;
    const end = at + this.bytes.length;
    const needed = code.openSplit(at, end, rows);
    if (needed === 0) return false;
    const readerAt = aligned(end + SLACK_BYTES);
    const offsetsAt = aligned(readerAt + needed);
    const tailAt = aligned(offsetsAt + 4 * (rows + 1));
    let last = rows;
    while (last > 0 && offsets[last] + OVER_BYTES > total) last--;
    const tailEnd = tailAt + total - offsets[last];
    if (tailEnd + SLACK_BYTES > areaEnd || code.laySplit(readerAt) === 0) return false;
    new Uint32Array(memory.buffer, offsetsAt, rows + 1).set(offsets.subarray(0, rows + 1));
    if (code.joinLines(last, offsetsAt, this.#target.byteOffset) === 0) return false;
    // Offset the target so that the first of these lines starts at `tailAt`.
    if (code.joinLines(rows, offsetsAt, tailAt - offsets[last]) === 0) return false;
    memory.copy(this.#target, offsets[last], tailAt, tailEnd);
    if (this.#target !== this.#lines) this.#target.copy(this.#lines);
    return true;
  }
}

function aligned(at: number): number {
  return (at + 7) & ~7;
}
