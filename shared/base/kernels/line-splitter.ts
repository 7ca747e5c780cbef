/**
 * Where literals stand in lines, one behind the other, for many lines by one call: what the pattern parser asks of each line.
 *
 *     const splitter = LineSplitter.of(literals, lead.length);
 *     const place = splitter.find(page, source, row);   // -1: the lines lie elsewhere, look for yourself
 *     splitter.stops[place + i] - splitter.base;        // where literal i stands in `source`
 *
 * What a reader would get wrong: literal i is sought behind literal i - 1 and never before; where one is not there, its stop
 * and all behind it are below 0. Stops are valid until the next `find`.
 */
import type { PageRows } from '../model/page.ts';
import { SCRATCH_BYTES, scratchBeside } from './line-memory.ts';

// A step of a program is a literal, and its length as a word behind the longest one (kernels/assembly/line-split.ts).
const MAX_LITERAL_BYTES = 32;
const STEP_BYTES = 36;
/** More are left to the caller: patterns have some ten. */
const MAX_STEPS = 32;
/** Lines looked at by one call: a call costs as much as some lines, and what it writes stays near. */
const MAX_ROWS = 256;
/** The same where only some lines of a page are asked for. */
const MIN_ROWS = 4;
/** Lines left out up to this many still count as one behind the other. */
const GAP_ROWS = 4;

const PROGRAM_BYTES = MAX_STEPS * STEP_BYTES;
const ROWS_AT = PROGRAM_BYTES;
const OUT_AT = ROWS_AT + 4 * (MAX_ROWS + 4);

export class LineSplitter {
  readonly #program: Uint8Array;
  readonly #steps: number;
  readonly #lead: number;
  readonly #maxRows: number;
  #source: Buffer | undefined;
  #first = 0;
  #end = 0;
  #rows = MIN_ROWS;
  readonly stops: Int32Array;
  /** What stops are more than places of the source. */
  base = 0;

  /**
   * Undefined where there are no literals, or too many or too long ones.
   * @param lead bytes of each line that are passed over
   */
  static of(literals: readonly Buffer[], lead: number): LineSplitter | undefined {
    const fits = literals.every(({ length }) => length > 0 && length <= MAX_LITERAL_BYTES);
    if (!fits || literals.length === 0 || literals.length > MAX_STEPS) return undefined;
    return new LineSplitter(literals, lead);
  }

  private constructor(literals: readonly Buffer[], lead: number) {
    this.#steps = literals.length;
    this.#lead = lead;
    this.#program = new Uint8Array(literals.length * STEP_BYTES);
    const lengths = new DataView(this.#program.buffer);
    for (const [i, literal] of literals.entries()) {
      this.#program.set(literal, i * STEP_BYTES);
      lengths.setInt32(i * STEP_BYTES + MAX_LITERAL_BYTES, literal.length, true);
    }
    this.#maxRows = Math.min(MAX_ROWS, Math.floor((SCRATCH_BYTES - OUT_AT) / (4 * literals.length)));
    this.stops = new Int32Array(this.#maxRows * literals.length);
  }

  /** Place of a row's first stop, -1 where lines do not lie in memory for lines. `source` holds the page's lines. */
  find(page: PageRows, source: Buffer, row: number): number {
    const isKnown = source === this.#source && row >= this.#first && row < this.#end;
    if (!isKnown && !this.#split(page, source, row)) return -1;
    return (row - this.#first) * this.#steps;
  }

  #split({ lineOffsets, rows: pageRows }: PageRows, source: Buffer, row: number): boolean {
    const scratch = scratchBeside(source);
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
    this.#source = source;
    this.#first = row;
    this.#end = row + rows;
    this.base = base;
    return true;
  }
}
