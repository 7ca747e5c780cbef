/**
 * Current row: its labels and its line. The line is a range of the page's bytes until a stage changes it. A
 * changed line is text first, and bytes when a parser needs them. Lines and their lengths are read only when
 * a stage needs them, because the page may have neither. Every row-wise stage compiles to a `RowStage`.
 */
import { bytesOfText, textOfBytes } from '../../base/model/byte-text.ts';
import type { PageRows } from '../../base/model/page.ts';
import { RowLabels, type WantedNames } from './row-labels.ts';

/** Runs one stage on the current row. Returns false to drop the row. */
export type RowStage = (row: Row) => boolean;

const NO_LINE = Buffer.alloc(0);

export class Row {
  readonly labels: RowLabels;
  #page: PageRows | undefined;
  #row = 0;
  #lines: Buffer | undefined;
  #source: Buffer = NO_LINE;
  #start = 0;
  #end = 0;
  /** Line as text; undefined while only its bytes are known or no stage requested it. */
  #text: string | undefined;
  #bytesKnown = false;
  /** Whether a stage replaced the line, so that it is no longer a range of the page. */
  changed = false;

  constructor(wanted?: WantedNames) {
    this.labels = new RowLabels(wanted);
  }

  enterPage(page: PageRows): void {
    this.#page = page;
    this.#lines = undefined;
    this.labels.enterPage(page);
  }

  /** Enters a row. Call it after `enterPage`, and after `labels.enterRun` for the run of the row. */
  enter(row: number): void {
    this.#row = row;
    this.#text = undefined;
    this.#bytesKnown = false;
    this.changed = false;
    this.labels.enterRow(row);
  }

  /** Page of the row. */
  get page(): PageRows {
    return this.#page!;
  }

  /** Unix time of the entry, ns. */
  get timestampNs(): bigint {
    return this.#page!.baseNs + BigInt(this.#page!.times[this.#row]);
  }

  /** Buffer of the current line, which is at `start` to `end`. */
  get source(): Buffer {
    if (!this.#bytesKnown) this.#findBytes();
    return this.#source;
  }

  get start(): number {
    if (!this.#bytesKnown) this.#findBytes();
    return this.#start;
  }

  get end(): number {
    if (!this.#bytesKnown) this.#findBytes();
    return this.#end;
  }

  /** Length of the current line, bytes. */
  get byteLength(): number {
    if (this.changed) return this.end - this.start;
    const { lineOffsets } = this.#page!;
    return lineOffsets[this.#row + 1] - lineOffsets[this.#row];
  }

  line(): string {
    this.#text ??= textOfBytes(this.source, this.start, this.end);
    return this.#text;
  }

  setLine(text: string): void {
    this.#text = text;
    this.#bytesKnown = false;
    this.changed = true;
  }

  #findBytes(): void {
    this.#bytesKnown = true;
    if (this.changed) {
      this.#source = bytesOfText(this.#text!);
      this.#start = 0;
      this.#end = this.#source.length;
      return;
    }
    const { lineOffsets } = this.#page!;
    this.#lines ??= this.#page!.lines;
    this.#source = this.#lines;
    this.#start = lineOffsets[this.#row];
    this.#end = lineOffsets[this.#row + 1];
  }
}
