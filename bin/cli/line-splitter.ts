/**
 * Bytes of a text file to lines, as they arrive. A line ends with LF or CR LF; the last one may end without. A line
 * inside one piece of input is handed on in place; only one that crosses pieces is copied.
 */
import { CommandError } from './command-error.ts';

/**
 * No store takes such a line (the default limit is 256 KiB), but its refusal should come from the store; beyond
 * this the input is no text, and holding its only line would take all memory.
 */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const LF = 10;
const CR = 13;

/** A line: `source[start, end)`, without its end mark. Valid until the next piece. */
export type OnLine = (source: Buffer, start: number, end: number) => void;

export class LineSplitter {
  readonly #onLine: OnLine;
  readonly #maxLineBytes: number;
  #open: Buffer[] = [];
  #openBytes = 0;
  /** Of the pieces before the one at hand. */
  #fedBytes = 0;
  /** Bytes of input up to the end of the newest line, its end mark included. */
  endBytes = 0;
  #lines = 0;

  constructor(onLine: OnLine, { maxLineBytes = MAX_LINE_BYTES } = {}) {
    this.#onLine = onLine;
    this.#maxLineBytes = maxLineBytes;
  }

  /** Throws CommandError where a line is longer than any may be. */
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

  /** A last line without an end mark is a line too. */
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
