/**
 * Lines of a page from templates and columns: the host's side of assembly/join-lines.ts. Lines are joined where they are to be, if that is
 * memory for lines (line-memory.ts), whose kernels work beside them; else they are copied there. The room beside lines holds
 *
 *     digits | page: frame, columns | what reading takes | offsets | lines at the end
 *
 * The lines at the end are those behind which the kernel would write into what follows.
 */
import { createLineMemory, type JoinRoom, joinRoomBeside, MAX_JOINED_BYTES } from './line-memory.ts';

/** Behind texts: loads and stores run past the end. */
const SLACK_BYTES = 128;
/** A join writes up to so many bytes past the end of its last line. */
const OVER_BYTES = 80;

/** Lines that are joined to be copied. */
let own: Buffer | undefined;

/** Memory to lay a split page down in, its frame and then its columns. To be filled at once, then `join` is called. */
export class SplitPage {
  readonly bytes: Buffer;
  readonly #lines: Buffer;
  readonly #target: Buffer;
  readonly #room: JoinRoom;

  /**
   * @param bytes of frame and columns, up to MAX_JOINED_BYTES
   * @param lines where all lines go and nothing else, up to as many bytes
   */
  constructor(bytes: number, lines: Buffer) {
    let target = lines;
    let room = joinRoomBeside(target);
    if (room === undefined) {
      own ??= createLineMemory(MAX_JOINED_BYTES);
      target = own.subarray(0, lines.length);
      room = joinRoomBeside(own)!;
    }
    this.#lines = lines;
    this.#target = target;
    this.#room = room;
    const at = room.at + room.code.DIGITS_BYTES.value;
    this.bytes = room.memory.subarray(at, at + bytes);
  }

  /**
   * Writes the lines. False where the bytes cannot be right; then any bytes may be where the lines should.
   * @param offsets `rows + 1` of them, ascending from 0 to the bytes of all lines
   */
  join(offsets: Uint32Array, rows: number): boolean {
    const { memory, code, end: roomEnd } = this.#room;
    const total = this.#lines.length;
    if (offsets[rows] !== total) return false;
    const at = this.bytes.byteOffset;
    const end = at + this.bytes.length;
    const needed = code.openSplit(at, end, rows);
    if (needed === 0) return false;
    const room = aligned(end + SLACK_BYTES);
    const offsetsAt = aligned(room + needed);
    const tailAt = aligned(offsetsAt + 4 * (rows + 1));
    let last = rows;
    while (last > 0 && offsets[last] + OVER_BYTES > total) last--;
    const tailEnd = tailAt + total - offsets[last];
    if (tailEnd + SLACK_BYTES > roomEnd || code.laySplit(room) === 0) return false;
    new Uint32Array(memory.buffer, offsetsAt, rows + 1).set(offsets.subarray(0, rows + 1));
    if (code.joinLines(last, offsetsAt, this.#target.byteOffset) === 0) return false;
    // Before its memory, so that the first of these lines is at its beginning.
    if (code.joinLines(rows, offsetsAt, tailAt - offsets[last]) === 0) return false;
    memory.copy(this.#target, offsets[last], tailAt, tailEnd);
    if (this.#target !== this.#lines) this.#target.copy(this.#lines);
    return true;
  }
}

function aligned(at: number): number {
  return (at + 7) & ~7;
}
