/**
 * Finds the captures of a pattern in lines as stored, for code that processes no rows (`pattern-samples.ts`).
 *
 *     if (captures.enterPage(page) && captures.enterRow(row) && captures.locate(2)) ... captures.start, captures.end
 *
 * Pitfall: an empty capture is still set. A capture after a literal that the line lacks is not set.
 */
import { type CaptureNumbers, LiteralFinder } from '../../base/kernels/literal-finder.ts';
import type { PageRows } from '../../base/model/page.ts';

interface CapturesParts {
  /** Number of each capture's label, -1 for a capture without a name. */
  readonly names: readonly number[];
  /** Text at the start of each line. */
  readonly lead: Buffer | undefined;
  /** Literal i ends capture i; the last capture may have no literal. */
  readonly literals: readonly Buffer[];
}

export class PatternCaptures {
  /** Number of each capture's label, -1 for a capture without a name. */
  readonly names: readonly number[];
  readonly #lead: Buffer | undefined;
  readonly #lengths: Uint32Array;
  readonly #literals: readonly Buffer[];
  #finder: LiteralFinder;
  #page: PageRows | undefined;
  #offsets: Uint32Array = new Uint32Array(0);
  #source: Buffer = Buffer.alloc(0);
  // State of the current row.
  #firstStop = 0;
  #first = 0;
  #lineEnd = 0;
  // Range of the capture that was located.
  start = 0;
  end = 0;

  private constructor({ names, lead, literals }: CapturesParts, finder: LiteralFinder) {
    this.names = names;
    this.#lead = lead;
    this.#lengths = Uint32Array.from(literals, ({ length }) => length);
    this.#literals = literals;
    this.#finder = finder;
  }

  /** Returns undefined if the literals are too many or too long. */
  static of(parts: CapturesParts): PatternCaptures | undefined {
    const finder = LiteralFinder.of(parts.literals, parts.lead?.length ?? 0);
    return finder && new PatternCaptures(parts, finder);
  }

  /** Gives numbers to the texts of these captures from now on (`numbersFrom`). */
  numberCaptures(captures: readonly number[]): void {
    const numbered = captures.map(capture => ({
      capture,
      before: capture > 0 ? this.#lengths[capture - 1] : 0,
    }));
    this.#finder = LiteralFinder.of(this.#literals, this.#lead?.length ?? 0, numbered)!;
  }

  /** Returns the numbers for a row and some that follow. Captures of a line that `hasLead` refuses have none. */
  numbersFrom(row: number): CaptureNumbers {
    this.#finder.find(this.#page!, this.#source, row);
    return this.#finder.numbersOf();
  }

  /** Whether the line begins with the text before the first capture. */
  hasLead(row: number): boolean {
    const lead = this.#lead;
    if (lead === undefined) return true;
    const source = this.#source;
    const start = this.#offsets[row];
    if (start + lead.length > this.#offsets[row + 1]) return false;
    for (let i = 0; i < lead.length; i++) if (source[start + i] !== lead[i]) return false;
    return true;
  }

  /** Returns the capture that sets a label, or -1. If several have the name, the first counts. */
  captureOf(name: number): number {
    return this.names.indexOf(name);
  }

  /** Buffer to which `start` and `end` refer. */
  get source(): Buffer {
    return this.#source;
  }

  /** Begins rows of a page that no stage has changed. Returns false if this method cannot read its lines. */
  enterPage(page: PageRows): boolean {
    this.#page = page;
    this.#source = page.lines;
    this.#offsets = page.lineOffsets;
    return page.rows > 0 && this.#finder.find(page, this.#source, 0) >= 0;
  }

  /** Returns false if the line has none of the captures. */
  enterRow(row: number): boolean {
    const source = this.#source;
    const start = this.#offsets[row];
    const end = this.#offsets[row + 1];
    if (start === end || !this.hasLead(row)) return false;
    this.#first = start + (this.#lead?.length ?? 0);
    this.#lineEnd = end;
    this.#firstStop = this.#finder.find(this.#page!, source, row);
    return true;
  }

  /** Returns whether the row has the capture, and sets its range. */
  locate(capture: number): boolean {
    const { stops, base } = this.#finder;
    const stopIndex = this.#firstStop + capture;
    if (capture === 0) this.start = this.#first;
    else {
      const before = stops[stopIndex - 1];
      if (before < 0) return false;
      this.start = before - base + this.#lengths[capture - 1];
    }
    const stop = capture < this.#lengths.length ? stops[stopIndex] : -1;
    this.end = stop < 0 ? this.#lineEnd : stop - base;
    return true;
  }
}
