/**
 * Host side of assembly/file-rows.ts: writes rows as bytes of a file. The caller collects lines where the
 * kernel reads them. After all rows are known, columns and label texts are written behind the lines.
 *
 *     escapes | addresses | output | lines | order, times, starts, ends, labels | label offsets | label texts, head, tail
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { type Constant, KernelInstance } from './kernels.ts';

/** Columns of rows by number; lines are ranges of the collected bytes. */
export interface FileRows {
  readonly count: number;
  /** Row numbers in the order of the file. */
  readonly order: Uint32Array;
  /** Nanoseconds since midnight, less than a day. */
  readonly times: Float64Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** Indexes into the labels of the format. */
  readonly labels: Uint32Array;
}

export interface FileFormat {
  readonly kind: 'text' | 'json' | 'csv';
  /** Text before `hh:mm:ss.nnnnnnnnn`. */
  readonly head: string;
  /** Text between the time and the line, by label set. */
  readonly labels: readonly string[];
  /** Text after the line. */
  readonly tail: string;
}

interface FileKernel {
  readonly FILE_ESCAPES: Constant;
  readonly FILE_ADDRESSES: Constant;
  readonly FILE_SLACK: Constant;
  readonly FILE_MAX_HEAD: Constant;
  openFile(kind: number, rows: number): void;
  fileBytes(): number;
  writeFileRows(from: number, limit: number): number;
}

const KINDS = ['text', 'json', 'csv'];
/** Output per call: 1 MiB, which takes 1 ms. Other work can run between two calls. */
const PIECE_BYTES = 1024 * 1024;
/** Padding after texts, because loads run past their end. */
const SLACK_BYTES = 64;
const FIRST_CONTINUATION = 0x80;
const LAST_CONTINUATION = 0xbf;

/** Buffer for lines, and their writer. One file at a time. */
export class FileWriter {
  readonly #kernel = new KernelInstance<FileKernel>();
  readonly #pieceAt: number;
  readonly #linesAt: number;
  /** Kind of the escape table in memory. */
  #kind = '';
  /** End of the input in memory, for tests. */
  laidBytes = 0;

  constructor() {
    const { FILE_ADDRESSES, FILE_SLACK } = this.#kernel.run;
    this.#pieceAt = aligned(FILE_ADDRESSES.value + 12 * 4);
    this.#linesAt = aligned(this.#pieceAt + PIECE_BYTES + FILE_SLACK.value);
  }

  /** Total memory, bytes. */
  get bytes(): number {
    return this.#kernel.bytes.length;
  }

  /**
   * Returns memory for lines of at least this size, which preserves earlier lines. Valid until the next call.
   */
  lines(bytes: number): Buffer {
    this.#kernel.reserve(this.#linesAt + bytes + SLACK_BYTES);
    return this.#kernel.bytes.subarray(this.#linesAt);
  }

  /**
   * Writes the input. Returns the size of the file that `next` writes, bytes.
   * @param lineBytes Size of all lines, bytes
   */
  begin(rows: FileRows, lineBytes: number, { kind, head, labels, tail }: FileFormat): number {
    const { run } = this.#kernel;
    this.#layEscapes(kind);
    const { starts, ends, end } =
      kind === 'text' ? { ...rows, end: this.#linesAt + lineBytes } : this.#asUtf8(rows, lineBytes);
    const { count } = rows;
    const [order, times, startsAt, endsAt, labelsAt, offsetsAt, texts] = addressesFrom(end + SLACK_BYTES, [
      4 * count,
      8 * count,
      4 * count,
      4 * count,
      4 * count,
      4 * (labels.length + 1),
    ]);
    // UTF-8 needs up to three bytes per code unit.
    const textBytes = labels.reduce((sum, { length }) => sum + 3 * length, 0);
    const otherBytes = 3 * (head.length + tail.length);
    this.#kernel.reserve(texts + textBytes + otherBytes + 3 * SLACK_BYTES);
    const { bytes, words } = this.#kernel;
    words.set(rows.order.subarray(0, count), order >> 2);
    new Float64Array(bytes.buffer, times, count).set(rows.times.subarray(0, count));
    words.set(starts.subarray(0, count), startsAt >> 2);
    words.set(ends.subarray(0, count), endsAt >> 2);
    words.set(rows.labels.subarray(0, count), labelsAt >> 2);
    let at = texts;
    for (const [i, text] of labels.entries()) {
      words[(offsetsAt >> 2) + i] = at - texts;
      at += bytes.write(text, at);
    }
    words[(offsetsAt >> 2) + labels.length] = at - texts;
    const headAt = at + SLACK_BYTES;
    const headEnd = headAt + bytes.write(head, headAt);
    const tailAt = headEnd + SLACK_BYTES;
    const tailEnd = tailAt + bytes.write(tail, tailAt);
    const addresses = [order, times, startsAt, endsAt, labelsAt, offsetsAt, texts, this.#linesAt];
    words.set([...addresses, headAt, headEnd, tailAt, tailEnd], run.FILE_ADDRESSES.value >> 2);
    this.laidBytes = tailEnd + SLACK_BYTES;
    run.openFile(KINDS.indexOf(kind), count);
    return run.fileBytes();
  }

  /** Writes the next bytes of the file into `output` at `at`. Returns their number, 0 at the end. */
  next(output: Buffer, at: number): number {
    return this.nextPiece().copy(output, at);
  }

  /** Returns the next bytes of the file, about 1 MiB, none at the end. They are valid until the next call of any method. */
  nextPiece(): Buffer {
    const { run, bytes } = this.#kernel;
    const end = run.writeFileRows(this.#pieceAt, this.#pieceAt + PIECE_BYTES);
    return bytes.subarray(this.#pieceAt, end);
  }

  #layEscapes(kind: FileFormat['kind']): void {
    if (this.#kind === kind || kind === 'text') return;
    this.#kind = kind;
    const { bytes, run } = this.#kernel;
    for (let byte = 0; byte < 256; byte++) {
      const text = kind === 'json' ? jsonEscape(byte) : byte === 0x22 ? '""' : '';
      const at = run.FILE_ESCAPES.value + 8 * byte;
      bytes.fill(0, at, at + 8);
      bytes[at + 7] = bytes.write(text, at, 'latin1');
    }
  }

  /** Replaces lines that are not UTF-8 by their displayed text, appended after the other lines. */
  #asUtf8({ count, starts, ends }: FileRows, lineBytes: number) {
    const all = this.lines(lineBytes).subarray(0, lineBytes);
    let end = this.#linesAt + lineBytes;
    if (isAscii(all) || (isUtf8(all) && !startsInside(all, starts, count))) return { starts, ends, end };
    const [newStarts, newEnds] = [starts.slice(0, count), ends.slice(0, count)];
    for (let row = 0; row < count; row++) {
      const line = this.#kernel.bytes.subarray(this.#linesAt + starts[row], this.#linesAt + ends[row]);
      if (isUtf8(line)) continue;
      const text = line.toString('utf8');
      this.#kernel.reserve(end + 3 * text.length + SLACK_BYTES);
      newStarts[row] = end - this.#linesAt;
      end += this.#kernel.bytes.write(text, end);
      newEnds[row] = end - this.#linesAt;
    }
    return { starts: newStarts, ends: newEnds, end };
  }
}

/**
 * Returns whether a line begins within a character: each line is then invalid UTF-8, even if the whole is
 * valid.
 */
function startsInside(lines: Buffer, starts: Uint32Array, count: number): boolean {
  for (let row = 0; row < count; row++) {
    const byte = lines[starts[row]];
    if (byte >= FIRST_CONTINUATION && byte <= LAST_CONTINUATION) return true;
  }
  return false;
}

function jsonEscape(byte: number): string {
  if (byte >= 0x80) return '';
  const text = JSON.stringify(String.fromCharCode(byte)).slice(1, -1);
  return text.length === 1 ? '' : text;
}

/** Returns the aligned starts of ranges of these sizes, and the aligned end of the last. */
function addressesFrom(start: number, sizes: readonly number[]): number[] {
  const addresses = [aligned(start)];
  for (const size of sizes) addresses.push(aligned(addresses[addresses.length - 1] + size));
  return addresses;
}

function aligned(at: number): number {
  return (at + 15) & ~15;
}
