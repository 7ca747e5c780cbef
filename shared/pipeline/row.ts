/**
 * The row at hand: its labels and its line. The line is a range of the page's bytes until a stage changes it; a
 * changed line is text first and bytes when a parser asks. `RowStage` is what every row-wise stage compiles to.
 */
import type { PageRows } from '../model/page.ts';
import { RowLabels, type WantedNames } from './row-labels.ts';
import { decodeUtf8 } from './text.ts';

/** One stage on the current row. False drops the row. */
export type RowStage = (row: Row) => boolean;

const NO_LINE = Buffer.alloc(0);

export class Row {
  readonly labels: RowLabels;
  #page: PageRows | undefined;
  #row = 0;
  #source: Buffer = NO_LINE;
  #start = 0;
  #end = 0;
  /** The changed line; undefined while only its bytes are known. */
  #text: string | undefined;
  #bytesKnown = false;
  /** True where a stage replaced the line: it is no longer a range of the page. */
  changed = false;

  constructor(wanted?: WantedNames) {
    this.labels = new RowLabels(wanted);
  }

  enterPage(page: PageRows): void {
    this.#page = page;
    this.labels.enterPage(page);
  }

  /** Only after `enterPage`, and `labels.enterRun` for the run that holds the row. */
  enter(row: number): void {
    const page = this.#page!;
    this.#row = row;
    this.#source = page.lines;
    this.#start = page.lineOffsets[row];
    this.#end = page.lineOffsets[row + 1];
    this.#text = undefined;
    this.#bytesKnown = true;
    this.changed = false;
    this.labels.enterRow(row);
  }

  /** Unix time of the entry, ns. */
  get timestampNs(): bigint {
    return this.#page!.baseNs + BigInt(this.#page!.times[this.#row]);
  }

  /** Bytes that hold the current line, from `start` to `end`. */
  get source(): Buffer {
    if (!this.#bytesKnown) this.#encode();
    return this.#source;
  }

  get start(): number {
    if (!this.#bytesKnown) this.#encode();
    return this.#start;
  }

  get end(): number {
    if (!this.#bytesKnown) this.#encode();
    return this.#end;
  }

  /** Length of the current line, bytes. */
  get byteLength(): number {
    if (!this.#bytesKnown) this.#encode();
    return this.#end - this.#start;
  }

  line(): string {
    this.#text ??= decodeUtf8(this.#source, this.#start, this.#end);
    return this.#text;
  }

  setLine(text: string): void {
    this.#text = text;
    this.#bytesKnown = false;
    this.changed = true;
  }

  #encode(): void {
    this.#source = Buffer.from(this.#text!);
    this.#start = 0;
    this.#end = this.#source.length;
    this.#bytesKnown = true;
  }
}
