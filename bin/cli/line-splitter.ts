/**
 * Splits the bytes of a text file into lines as they arrive. A line ends with LF or CR LF; the last one may
 * have no end mark. Only a line that crosses two inputs is copied.
 */
import { CommandError } from './command-error.ts';

/**
 * Maximum line size. No store accepts such a line (the default limit is 256 KiB), but the store should report
 * that. Beyond this size the input is not text, and holding the line would exhaust memory.
 */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const LF = 10;
const CR = 13;

/** Receives a line: `source[start, end)`, without its end mark. Valid until the next call of `feed`. */
type OnLine = (source: Buffer, start: number, end: number) => void;

export class LineSplitter {
  readonly #onLine: OnLine;
  readonly #maxLineBytes: number;
  #open: Buffer[] = [];
  #openBytes = 0;
  /** Bytes fed before the current buffer. */
  #fedBytes = 0;
  /** Input offset after the newest line and its end mark. */
  endBytes = 0;
  #lines = 0;

  constructor(onLine: OnLine, { maxLineBytes = MAX_LINE_BYTES } = {}) {
    this.#onLine = onLine;
    this.#maxLineBytes = maxLineBytes;
  }

  /** Throws CommandError if a line exceeds MAX_LINE_BYTES. */
  feed(piece: Buffer): void {
    let start = 0;
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, start)) {
      this.endBytes = this.#fedBytes + at + 1;
      if (this.#openBytes > 0) this.#close(piece.subarray(start, at));
      else this.#emit(piece, start, at);
      start = at + 1;
    }
    this.#fedBytes += piece.length;
    if (start === piece.length) return;
    this.#open.push(piece.subarray(start));
    this.#openBytes += piece.length - start;
    if (this.#openBytes > this.#maxLineBytes) {
      throw new CommandError(
        `line ${this.#lines + 1} is longer than ${this.#maxLineBytes} bytes; is the input a text file?`,
      );
    }
  }

  /** Emits a last line that has no end mark. */
  finish(): void {
    this.endBytes = this.#fedBytes;
    if (this.#openBytes > 0) this.#close(Buffer.alloc(0));
  }

  #close(rest: Buffer): void {
    const line = Buffer.concat([...this.#open, rest]);
    this.#open = [];
    this.#openBytes = 0;
    this.#emit(line, 0, line.length);
  }

  #emit(source: Buffer, start: number, end: number): void {
    this.#lines++;
    this.#onLine(source, start, end > start && source[end - 1] === CR ? end - 1 : end);
  }
}
