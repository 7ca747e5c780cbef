/**
 * Where the captures of a pattern stand in lines as stored, for who needs no row (`pattern-samples.ts`).
 *
 *     if (captures.enterPage(page) && captures.enterRow(row) && captures.locate(2)) ... captures.start, captures.end
 *
 * What a reader would get wrong: a capture that is empty is set all the same; one behind a literal that the line lacks is not.
 */
import type { LineSplitter } from '../../base/kernels/line-splitter.ts';
import type { PageRows } from '../../base/model/page.ts';

export interface CapturesParts {
  /** Number of each capture's label, -1 for one without a name. */
  readonly names: readonly number[];
  /** What lines begin with. */
  readonly lead: Buffer | undefined;
  /** Literal i ends capture i; the last capture may have none. */
  readonly literals: readonly Buffer[];
  /** Of the literals, behind the lead. */
  readonly splitter: LineSplitter;
}

export class PatternCaptures {
  /** Number of each capture's label, -1 for one without a name. */
  readonly names: readonly number[];
  readonly #lead: Buffer | undefined;
  readonly #lengths: Uint32Array;
  readonly #splitter: LineSplitter;
  #page: PageRows | undefined;
  #offsets: Uint32Array = new Uint32Array(0);
  #source: Buffer = Buffer.alloc(0);
  // Of the row at hand.
  #place = 0;
  #first = 0;
  #lineEnd = 0;
  // Of the capture that was located.
  start = 0;
  end = 0;

  constructor({ names, lead, literals, splitter }: CapturesParts) {
    this.names = names;
    this.#lead = lead;
    this.#lengths = Uint32Array.from(literals, ({ length }) => length);
    this.#splitter = splitter;
  }

  /** The capture that sets a label, -1 where none does. Of several with one name the first counts. */
  captureOf(name: number): number {
    return this.names.indexOf(name);
  }

  /** Bytes that `start` and `end` are places of. */
  get source(): Buffer {
    return this.#source;
  }

  /** Before rows of a page that no stage has changed. False where its lines cannot be looked at so. */
  enterPage(page: PageRows): boolean {
    this.#page = page;
    this.#source = page.lines;
    this.#offsets = page.lineOffsets;
    return page.rows > 0 && this.#splitter.find(page, this.#source, 0) >= 0;
  }

  /** False where the line has none of the captures. */
  enterRow(row: number): boolean {
    const source = this.#source;
    const start = this.#offsets[row];
    const end = this.#offsets[row + 1];
    if (start === end) return false;
    const lead = this.#lead;
    const first = lead === undefined ? start : start + lead.length;
    if (lead !== undefined) {
      if (first > end) return false;
      for (let i = 0; i < lead.length; i++) if (source[start + i] !== lead[i]) return false;
    }
    this.#first = first;
    this.#lineEnd = end;
    this.#place = this.#splitter.find(this.#page!, source, row);
    return true;
  }

  /** True where the row has the capture, and then sets where it stands. */
  locate(capture: number): boolean {
    const { stops, base } = this.#splitter;
    const place = this.#place + capture;
    if (capture === 0) this.start = this.#first;
    else {
      const before = stops[place - 1];
      if (before < 0) return false;
      this.start = before - base + this.#lengths[capture - 1];
    }
    const stop = capture < this.#lengths.length ? stops[place] : -1;
    this.end = stop < 0 ? this.#lineEnd : stop - base;
    return true;
  }
}
