/**
 * Finds successive literals in many lines with one call, as the pattern parser needs them for each line.
 *
 *     const finder = LiteralFinder.of(literals, lead.length);
 *     const first = finder.find(page, source, row);   // -1: not in line memory, search in JavaScript
 *     finder.stops[first + i] - finder.base;        // offset of literal i in `source`
 *
 * Pitfall: the search for literal i starts after literal i - 1. If a literal is missing, its stop and all
 * later ones are negative. Stops are valid until the next `find`.
 *
 * If the caller names captures, each text of theirs gets a number (`numbersOf`). The caller then looks up each distinct text
 * once, not once a line.
 */
import type { PageRows } from '../model/page.ts';
import type { CaptureNumbers } from '../model/page-captures.ts';
import { SCRATCH_BYTES, type Scratch, scratchOf } from './line-memory.ts';

// A program step is a literal, and its length in a word after the space for the longest literal
// (kernels/assembly/line-split.ts).
const MAX_LITERAL_BYTES = 32;
const STEP_BYTES = 36;
/** Maximum number of literals; patterns have about ten. The caller handles longer ones. */
const MAX_STEPS = 32;
/**
 * Maximum lines per call. A call costs as much as splitting a few lines, and its output must fit in the CPU
 * cache.
 */
export const MAX_ROWS = 256;
/** Lines per call if the query reads only some lines of a page. */
const MIN_ROWS = 4;
/** Maximum number of skipped lines for which access still counts as sequential. */
const GAP_ROWS = 4;

const PROGRAM_BYTES = MAX_STEPS * STEP_BYTES;
const ROWS_AT = PROGRAM_BYTES;
const OUT_AT = ROWS_AT + 4 * (MAX_ROWS + 4);
/** Numbers of one capture, at the end of the scratch area. */
const NUMBERS_AT = SCRATCH_BYTES - 4 * MAX_ROWS;

type LineOffsets = Pick<PageRows, 'rows' | 'lineOffsets'>;

/** Bytes of a line between two literals. */
interface Capture {
  /** Literal i ends capture i. */
  readonly capture: number;
  /** Length of the literal before it, 0 if there is none. */
  readonly before: number;
}

const NOTHING_NOTED = new Int32Array(0);

/** Texts, concatenated. */
export interface NumberedTexts {
  readonly texts: Buffer;
  /** Start of each text, and the end of the last one. */
  readonly starts: Uint32Array;
}

export class LiteralFinder {
  readonly #program: Uint8Array;
  readonly #steps: number;
  readonly #lead: number;
  readonly #maxRows: number;
  #source: Buffer | undefined;
  #first = 0;
  #end = 0;
  #rows = MIN_ROWS;
  readonly #numbered: readonly Capture[];
  readonly #numbers: Int32Array;
  /** Identifies this finder in tables, without keeping it. */
  readonly #owner = {};
  /** For each memory, what the caller stores for each number of its table. */
  readonly #notedBy = new WeakMap<Scratch, Int32Array<ArrayBuffer>>();
  #noted = new Int32Array(0);
  #restarts = false;
  readonly stops: Int32Array;
  /** Difference between stops and offsets in the source. */
  base = 0;

  /**
   * Creates a finder. Returns undefined if there are too many literals, or too long ones.
   * @param lead Number of bytes to skip at the start of each line
   * @param numbered Captures that get numbers
   */
  static of(
    literals: readonly Buffer[],
    lead: number,
    numbered: readonly Capture[] = [],
  ): LiteralFinder | undefined {
    const fits = literals.every(({ length }) => length > 0 && length <= MAX_LITERAL_BYTES);
    if (!fits || literals.length > MAX_STEPS) return undefined;
    return new LiteralFinder(literals, lead, numbered);
  }

  private constructor(literals: readonly Buffer[], lead: number, numbered: readonly Capture[]) {
    this.#numbered = numbered;
    this.#numbers = new Int32Array(numbered.length * MAX_ROWS);
    this.#steps = literals.length;
    this.#lead = lead;
    this.#program = new Uint8Array(literals.length * STEP_BYTES);
    const lengths = new DataView(this.#program.buffer);
    for (const [i, literal] of literals.entries()) {
      this.#program.set(literal, i * STEP_BYTES);
      lengths.setInt32(i * STEP_BYTES + MAX_LITERAL_BYTES, literal.length, true);
    }
    const stopBytes = 4 * Math.max(1, literals.length);
    this.#maxRows = Math.min(MAX_ROWS, Math.floor((NUMBERS_AT - OUT_AT) / stopBytes));
    this.stops = new Int32Array(this.#maxRows * literals.length);
  }

  /**
   * Returns the index of a row's first stop, or -1 if the lines are not in line memory. `source` holds the
   * page's lines.
   */
  find(page: LineOffsets, source: Buffer, row: number): number {
    const isKnown = source === this.#source && row >= this.#first && row < this.#end;
    if (!isKnown && !this.#split(page, source, row)) return -1;
    return (row - this.#first) * this.#steps;
  }

  /** Returns the numbers of the captures in the lines of the latest call, valid until the next one. */
  numbersOf(): CaptureNumbers {
    return {
      first: this.#first,
      end: this.#end,
      numbers: this.#numbers,
      stride: MAX_ROWS,
      noted: this.#noted,
    };
  }

  /** Begins with number 1 again. The caller can note nothing for the numbers that follow. */
  restartNumbers(): void {
    this.#restarts = true;
    this.#source = undefined;
  }

  /** Returns the texts that have numbers, number 1 first, as copies. */
  numberedTexts(): NumberedTexts {
    const { code, at, words, capturesAt } = scratchOf(this.#source!)!;
    const count = code.captureStarts(capturesAt, at + OUT_AT);
    const starts = new Uint32Array(words.subarray(OUT_AT / 4, OUT_AT / 4 + count + 1));
    const from = capturesAt + code.CAPTURE_TEXTS.value;
    const texts = Buffer.copyBytesFrom(new Uint8Array(words.buffer, from, starts[count]));
    return { texts, starts };
  }

  #split({ lineOffsets, rows: pageRows }: LineOffsets, source: Buffer, row: number): boolean {
    const scratch = scratchOf(source);
    if (scratch === undefined) return false;
    if (source === this.#source) {
      const follows = row >= this.#end && row - this.#end <= GAP_ROWS;
      this.#rows = follows ? Math.min(2 * this.#rows, this.#maxRows) : MIN_ROWS;
    }
    const rows = Math.min(this.#rows, pageRows - row);
    const base = source.byteOffset;
    const { code, at, bytes, words } = scratch;
    bytes.set(this.#program);
    for (let i = 0; i <= rows; i++) words[ROWS_AT / 4 + i] = base + lineOffsets[row + i];
    const rowsAt = at + ROWS_AT;
    code.splitLines(rowsAt, rowsAt + 4 * rows, this.#lead, at, at + this.#program.length, at + OUT_AT);
    this.stops.set(words.subarray(OUT_AT / 4, OUT_AT / 4 + rows * this.#steps));
    if (this.#numbered.length > 0) this.#number(scratch, rows);
    this.#source = source;
    this.#first = row;
    this.#end = row + rows;
    this.base = base;
    return true;
  }

  /** Numbers the captures of the lines that were just split. */
  #number(scratch: Scratch, rows: number): void {
    const { code, at, words, capturesAt } = scratch;
    // The table may have been cleared by another finder. The list of the latest call remains right for its numbers.
    if (scratch.captures !== this.#owner || this.#restarts) {
      scratch.captures = this.#owner;
      code.clearCaptures(capturesAt);
      const noted = this.#restarts ? NOTHING_NOTED : new Int32Array(code.MAX_CAPTURE_NUMBERS.value + 1);
      this.#notedBy.set(scratch, noted);
      this.#restarts = false;
    }
    this.#noted = this.#notedBy.get(scratch)!;
    const rowsAt = at + ROWS_AT;
    const rowsEnd = rowsAt + 4 * rows;
    const stops = at + OUT_AT;
    const out = at + NUMBERS_AT;
    for (let i = 0; i < this.#numbered.length; i++) {
      const { capture, before } = this.#numbered[i];
      code.numberCaptures(rowsAt, rowsEnd, this.#lead, stops, this.#steps, capture, before, capturesAt, out);
      this.#numbers.set(words.subarray(NUMBERS_AT / 4, NUMBERS_AT / 4 + rows), i * MAX_ROWS);
    }
  }
}
