/**
 * Host side of assembly/line-words.ts: splits lines into words and the text between them (gaps). Words vary
 * from line to line, gaps are the line's structure: two lines can share a pattern only if all gaps are equal.
 *
 *     GET /cart?id=7 took 12 ms        words GET, /cart?id=7, took, 12, ms; gaps '', ' ', ' ', ' ', ' ', ''
 *     {"ts":1,"msg":"job 7 done"}      words *, msg, job, 7, done, *; the first and the last * stand for the text around
 *
 * For JSON and logfmt lines with a message, only the message is split, because their other fields vary in
 * presence. A long text in quotes or brackets is one word, and so is the text after the limits.
 */
import { type Constant, endOfCall, KernelInstance } from './kernels.ts';

/** Kind of words that are compared as text. */
export const WORD_TEXT = 0;
/** Kind of words that are expected to vary: they contain a digit, or are a path with a query. */
export const WORD_VALUE = 1;
/** Kind of words that are always a placeholder. */
export const WORD_ANY = 2;

/** Size above which the memory is dropped after its page; only a long line needs more. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** Padding after the lines, because loads of 64 bytes may begin at the last byte. */
const SLACK_BYTES = 128;
const PRIME = 0x01000193;

interface WordKernel {
  readonly MAX_LIST_WORDS: Constant;
  readonly MAX_WORD_BYTES: Constant;
  readonly MAX_WORD_ROWS: Constant;
  readonly WORD_ENDS: Constant;
  readonly WORD_FIRST: Constant;
  readonly WORD_HASHES: Constant;
  readonly WORD_KINDS: Constant;
  readonly WORD_LINES: Constant;
  readonly WORD_OFFSETS: Constant;
  readonly WORD_REPEATED: Constant;
  readonly WORD_SHAPES: Constant;
  readonly WORD_SKELETONS: Constant;
  readonly WORD_STARTS: Constant;
  readonly WORD_VARIED: Constant;
  hashLineOfWords(row: number, first: number, count: number, from: number, to: number): void;
  readLineWords(rows: number): number;
}

const NO_BYTES = Buffer.alloc(0);
const NO_WORDS = new Uint32Array(0);

/**
 * Words of one line at a time; word i has the index `first + i` in the columns.
 *
 *     words.begin(lines, lineOffsets);
 *     words.enter(row);
 *
 * Pitfall: lines, words and columns are valid until another line is entered.
 */
export class LineWords {
  /** Buffer that the offsets of the line refer to. */
  source: Buffer = NO_BYTES;
  from = 0;
  to = 0;
  first = 0;
  count = 0;
  start: Uint32Array = NO_WORDS;
  end: Uint32Array = NO_WORDS;
  /** Hash of each text word; 0 for other words. */
  hash: Uint32Array = NO_WORDS;
  /** Kind of each word: WORD_TEXT, WORD_VALUE or WORD_ANY. */
  kind: Uint8Array = NO_BYTES;
  /** Group of the line. Lines of different groups share no cluster. */
  group = 0;
  /** Hash of gaps and group. */
  skeleton = 0;
  /** Hash of gaps, group and text words. */
  shape = 0;
  #kernel: KernelInstance<WordKernel> | undefined;
  #lines: Uint8Array = NO_BYTES;
  #lineOffsets: Uint32Array = NO_WORDS;
  /** Lines whose words are in the columns, and the current line among them. */
  #firstRow = 0;
  #endRow = 0;
  #own = 0;
  #words: Uint32Array = NO_WORDS;
  #linesAt = 0;
  #offsetsAt = 0;
  #firstAt = 0;
  #skeletonsAt = 0;
  #shapesAt = 0;
  #repeatedAt = 0;
  #variedAt = 0;

  /**
   * Begins a page.
   * @param lineOffsets Line i is between offsets i and i + 1
   */
  begin(lines: Uint8Array, lineOffsets: Uint32Array): void {
    if (this.source.length > MAX_KEPT_BYTES) this.#kernel = undefined;
    this.#lines = lines;
    this.#lineOffsets = lineOffsets;
    this.#firstRow = this.#endRow = 0;
  }

  /** Returns the memory that the kernel uses for this many bytes of lines, bytes. */
  memoryBytes(lineBytes: number): number {
    return this.#kernelOfPage().run.WORD_LINES.value + lineBytes + SLACK_BYTES;
  }

  /** Moves to a line; adjacent lines should follow each other. */
  enter(row: number, group = 0): void {
    if (row < this.#firstRow || row >= this.#endRow) this.#read(row);
    const own = row - this.#firstRow;
    this.#own = own;
    this.from = this.#linesAt + this.#words[this.#offsetsAt + own];
    this.to = this.#linesAt + this.#words[this.#offsetsAt + own + 1];
    this.first = this.#words[this.#firstAt + own];
    this.count = this.#words[this.#firstAt + own + 1] - this.first;
    this.group = group;
    this.#takeHashes();
  }

  /**
   * Returns the earlier row whose line this one repeats, or the row itself: all gaps and words of text are equal. Groups
   * do not count. Rows should ascend.
   */
  repeatedRow(row: number): number {
    if (row < this.#firstRow || row >= this.#endRow) this.#read(row);
    return this.#firstRow + this.#words[this.#repeatedAt + row - this.#firstRow];
  }

  /** Returns the shape of a row that `repeatedRow` has read. */
  shapeOf(row: number, group: number): number {
    return Math.imul(this.#words[this.#shapesAt + row - this.#firstRow] ^ group, PRIME);
  }

  /** Writes 0 for each word, by its number in the line, that differs from that of the repeated row. */
  clearVaried(row: number, fixed: Uint8Array): void {
    const at = this.#variedAt + 2 * (row - this.#firstRow);
    for (let bits = this.#words[at]; bits !== 0; bits &= bits - 1) fixed[31 - Math.clz32(bits & -bits)] = 0;
    for (let bits = this.#words[at + 1]; bits !== 0; bits &= bits - 1)
      fixed[63 - Math.clz32(bits & -bits)] = 0;
  }

  /** Merges all words after the first `words` into one placeholder. */
  cut(words: number): void {
    if (this.count <= words) return;
    const last = this.first + words;
    this.end[last] = this.to;
    this.hash[last] = 0;
    this.kind[last] = WORD_ANY;
    this.count = words + 1;
    this.#kernelOfPage().run.hashLineOfWords(this.#own, this.first, this.count, this.from, this.to);
    this.#takeHashes();
  }

  #takeHashes(): void {
    this.skeleton = Math.imul(this.#words[this.#skeletonsAt + this.#own] ^ this.group, PRIME);
    this.shape = Math.imul(this.#words[this.#shapesAt + this.#own] ^ this.group, PRIME);
  }

  #kernelOfPage(): KernelInstance<WordKernel> {
    this.#kernel ??= new KernelInstance();
    return this.#kernel;
  }

  /** Splits the line, and as many of the next lines as fit into the memory. */
  #read(row: number): void {
    const kernel = this.#kernelOfPage();
    const { run } = kernel;
    const offsets = this.#lineOffsets;
    const base = offsets[row];
    const limits = { maxRows: run.MAX_WORD_ROWS.value, maxBytes: run.MAX_WORD_BYTES.value };
    const end = Math.max(row + 1, endOfCall(offsets, row, offsets.length - 1, limits));
    kernel.reserve(this.memoryBytes(offsets[end] - base));
    this.#layOut(kernel);
    kernel.bytes.set(this.#lines.subarray(base, offsets[end]), this.#linesAt);
    for (let i = row; i <= end; i++) this.#words[this.#offsetsAt + i - row] = offsets[i] - base;
    this.#firstRow = row;
    this.#endRow = row + run.readLineWords(end - row);
  }

  #layOut({ run, bytes, words }: KernelInstance<WordKernel>): void {
    const capacity = run.MAX_LIST_WORDS.value;
    const column = ({ value }: Constant) => words.subarray(value >>> 2, (value >>> 2) + capacity);
    this.source = bytes;
    this.#words = words;
    this.#linesAt = run.WORD_LINES.value;
    this.#offsetsAt = run.WORD_OFFSETS.value >>> 2;
    this.#firstAt = run.WORD_FIRST.value >>> 2;
    this.#skeletonsAt = run.WORD_SKELETONS.value >>> 2;
    this.#shapesAt = run.WORD_SHAPES.value >>> 2;
    this.#repeatedAt = run.WORD_REPEATED.value >>> 2;
    this.#variedAt = run.WORD_VARIED.value >>> 2;
    this.start = column(run.WORD_STARTS);
    this.end = column(run.WORD_ENDS);
    this.hash = column(run.WORD_HASHES);
    this.kind = bytes.subarray(run.WORD_KINDS.value, run.WORD_KINDS.value + capacity);
  }
}

let ofThread: LineWords | undefined;

/**
 * Returns the LineWords that all code of this thread shares. Each user begins its page, and finishes before
 * it awaits anything.
 */
export function lineWordsOfThread(): LineWords {
  ofThread ??= new LineWords();
  return ofThread;
}
