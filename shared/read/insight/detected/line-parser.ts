/**
 * Parses a line as JSON, or if that fails as logfmt, with the pipeline's own parsers. logfmt never fails, so
 * every line has a parser, often without a field.
 */
import type { PageRows } from '../../../base/model/page.ts';
import { compileJson } from '../../../execution/pipeline/json.ts';
import { compileLogfmt } from '../../../execution/pipeline/logfmt.ts';
import { Row, type RowStage } from '../../../execution/pipeline/row.ts';
import type { RowLabels } from '../../../execution/pipeline/row-labels.ts';
import { MAX_CACHED_NAME_CHARACTERS, MAX_LINE_NAME_BYTES, UNCHECKED_LINE_BYTES } from './bounds.ts';
import { jsonNamesFit } from './json-names.ts';

export type LineParserName = 'json' | 'logfmt';

const LENIENT = { strict: false, keepEmpty: false } as const;

export class LineParser {
  #row = new Row();
  #json: RowStage = compileJson(this.#row.labels);
  #logfmt: RowStage = compileLogfmt(this.#row.labels, LENIENT);
  #page: PageRows | undefined;
  /** Generation of the row's names, the number counted, and their total length. */
  #generation = 0;
  #names = 0;
  #nameCharacters = 0;
  /** Increased when the numbers of names start over: data stored under old ones is void. */
  epoch = 0;

  /** The row's values after `parse`, in `valueNames`, `valueKinds` and so on up to `valueCount`. */
  get labels(): RowLabels {
    return this.#row.labels;
  }

  /** @param page page of one stream */
  enter(page: PageRows): void {
    this.#page = page;
    this.#row.enterPage(page);
    this.labels.enterRun(page.runs[0].stream);
  }

  /** Parses a row. Call `enter` first. A line whose names exceed the limit does not count as JSON. */
  parse(row: number): LineParserName {
    if (this.#nameCharacters > MAX_CACHED_NAME_CHARACTERS) this.#restart();
    this.#row.enter(row);
    const parser = this.#readsJson() ? 'json' : 'logfmt';
    if (parser === 'logfmt') {
      this.#row.enter(row);
      this.#logfmt(this.#row);
    }
    this.#countNames();
    return parser;
  }

  #readsJson(): boolean {
    const { source, start, end } = this.#row;
    const isShort = end - start <= UNCHECKED_LINE_BYTES;
    if (!isShort && !jsonNamesFit(source, start, end, MAX_LINE_NAME_BYTES)) return false;
    this.#json(this.#row);
    return this.labels.error === '';
  }

  /** The labels limit the number of names. This limits their length. */
  #countNames(): void {
    const { texts, generation } = this.labels.names;
    if (generation !== this.#generation) {
      this.#generation = generation;
      this.#names = this.#nameCharacters = 0;
      this.epoch++;
    }
    while (this.#names < texts.length) this.#nameCharacters += texts[this.#names++].length;
  }

  #restart(): void {
    this.#row = new Row();
    this.#json = compileJson(this.labels);
    this.#logfmt = compileLogfmt(this.labels, LENIENT);
    this.#generation = this.labels.names.generation;
    this.#names = this.#nameCharacters = 0;
    this.epoch++;
    this.enter(this.#page!);
  }
}
