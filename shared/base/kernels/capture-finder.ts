/**
 * Finds the captures of a pattern in lines as stored.
 *
 *     const finder = CaptureFinder.of({ lead, literals, captures });
 *     if (finder.enterPage(page)) finder.numbersFrom(row) ... finder.bytesOf(0, row)
 *
 * Pitfall: an empty capture is still set. A capture after a literal that the line lacks is not set.
 */
import type { PageRows } from '../model/page.ts';
import type { CaptureNumbers, CaptureWants, PageCaptures } from '../model/page-captures.ts';
import type { ValueBytes } from '../model/page-fields.ts';
import { LiteralFinder, type NumberedTexts } from './literal-finder.ts';

/** Lines, and the offset of each and of the end of the last one. */
export type PageLines = Pick<PageRows, 'rows' | 'lines' | 'lineOffsets'>;

type FinderParts = Omit<CaptureWants, 'text'>;

export class CaptureFinder implements PageCaptures {
  readonly #wants: FinderParts;
  readonly #finder: LiteralFinder;
  #page: PageLines | undefined;
  readonly #found: ValueBytes = { source: Buffer.alloc(0), start: 0, end: 0 };

  private constructor(wants: FinderParts, finder: LiteralFinder) {
    this.#wants = wants;
    this.#finder = finder;
  }

  /** Returns undefined if the literals are too many or too long. */
  static of(wants: FinderParts): CaptureFinder | undefined {
    const { lead, literals, captures } = wants;
    const numbered = captures.map(capture => ({
      capture,
      before: capture > 0 ? literals[capture - 1].length : 0,
    }));
    const finder = LiteralFinder.of(literals, lead.length, numbered);
    return finder && new CaptureFinder(wants, finder);
  }

  /** Begins rows of a page that no stage has changed. Returns false if this method cannot read its lines. */
  enterPage(page: PageLines): boolean {
    this.#page = page;
    this.#found.source = page.lines;
    return page.rows > 0 && this.#finder.find(page, this.#found.source, 0) >= 0;
  }

  numbersFrom(row: number): CaptureNumbers {
    this.#finder.find(this.#page!, this.#found.source, row);
    const found = this.#finder.numbersOf();
    if (this.#wants.lead.length > 0) this.#clearWithoutLead(found);
    return found;
  }

  /** The kernel skips the lead without reading it. */
  #clearWithoutLead({ first, end, numbers, stride }: CaptureNumbers): void {
    for (let row = first; row < end; row++) {
      if (this.#hasLead(row)) continue;
      for (let at = row - first; at < numbers.length; at += stride) numbers[at] = 0;
    }
  }

  #hasLead(row: number): boolean {
    const { lead } = this.#wants;
    const { source } = this.#found;
    const { lineOffsets } = this.#page!;
    const start = lineOffsets[row];
    if (start + lead.length > lineOffsets[row + 1]) return false;
    for (let i = 0; i < lead.length; i++) if (source[start + i] !== lead[i]) return false;
    return true;
  }

  /**
   * Begins the lines of a page like `enterPage`, with numbers from 1 on. `texts` then returns their texts.
   */
  restart(page: PageLines): boolean {
    this.#finder.restartNumbers();
    return this.enterPage(page);
  }

  /**
   * Whether a line has the first `count` literals, one behind the other, and not the next one.
   * @param row Row of the latest `numbersFrom`, or near it
   */
  hasLiterals(row: number, count: number): boolean {
    const first = this.#finder.find(this.#page!, this.#found.source, row);
    const { stops } = this.#finder;
    if (count > 0 && stops[first + count - 1] < 0) return false;
    return count === this.#wants.literals.length || stops[first + count] < 0;
  }

  /** Returns the texts that have numbers since `restart`, number 1 first, as copies. */
  texts(): NumberedTexts {
    return this.#finder.numberedTexts();
  }

  bytesOf(i: number, row: number): ValueBytes {
    const found = this.#found;
    const { lead, literals, captures } = this.#wants;
    const { lineOffsets } = this.#page!;
    const capture = captures[i];
    const firstStop = this.#finder.find(this.#page!, found.source, row);
    const { stops, base } = this.#finder;
    if (capture === 0) found.start = lineOffsets[row] + lead.length;
    else found.start = stops[firstStop + capture - 1] - base + literals[capture - 1].length;
    const stop = capture < literals.length ? stops[firstStop + capture] : -1;
    found.end = stop < 0 ? lineOffsets[row + 1] : stop - base;
    return found;
  }
}
