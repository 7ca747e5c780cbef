/**
 * Detected fields of log lines (docs/dev/wire-format.md#response-of-detected-fields;
 * docs/dev/logql-semantics.md#detected-fields): the names in structured metadata, in what the query itself parsed, and in what
 * the line says by itself. Runs on the answer of a log query with categorised labels, which the limit on entries bounds.
 *
 * What a reader would get wrong: the last value met decides a field's type. Only that one is looked at, for looking costs
 * more than parsing the line did: the row that holds it is remembered, and parsed once more at the end of its page.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Labels } from '../../../base/model/labels.ts';
import type { PageRows } from '../../../base/model/page.ts';
import { hashOfAscii, hashOfText } from '../../../base/model/text-hash.ts';
import { KIND_CLEAN } from '../../../execution/pipeline/row-labels.ts';
import { EVERY_FIELD } from '../../query/every-field-scan.ts';
import type { LogStream } from '../../query/log-query.ts';
import { MAX_PATH_CHARACTERS } from './bounds.ts';
import { type DetectedField, type FieldCount, FieldTable } from './field-table.ts';
import { walkJsonPaths } from './json-paths.ts';
import { type LinePage, linePages } from './line-pages.ts';
import { LineParser, type LineParserName } from './line-parser.ts';

export interface DetectOptions {
  /** Most fields, or most values. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface DetectedFields {
  /** Ascending by name. */
  readonly fields: readonly DetectedField[];
  /** Most fields that there might have been. */
  readonly limit: number;
}

interface FoundFields extends DetectedFields {
  /** There were more; the ones here were met first, so that the order of fields in lines counted. */
  readonly isOverfull: boolean;
}

/** The entries of the log query, with categorised labels. @param field as LogRequest.field */
export type EntriesOf = (field: string | undefined) => Promise<readonly LogStream[]>;

/**
 * Lets columns answer for lines where they can. Where there are more fields than are wanted, the first ones count, and which
 * are the first only the lines as they stand tell: then they are read after all. Throws what `entriesOf` throws and what the
 * signal was aborted with.
 */
export async function findFields(entriesOf: EntriesOf, options: DetectOptions): Promise<DetectedFields> {
  let found = await detectFields(await entriesOf(EVERY_FIELD), options);
  if (found.isOverfull) found = await detectFields(await entriesOf(undefined), options);
  return { fields: found.fields, limit: found.limit };
}

/** @param streams query with categorised labels. Throws what the signal was aborted with. */
export async function detectFields(
  streams: readonly LogStream[],
  { limit, signal }: DetectOptions,
): Promise<FoundFields> {
  const table = new FieldTable(limit);
  const detector = new FieldDetector(table);
  for (const stream of streams) {
    for (const page of linePages(stream)) {
      detector.addPage(page);
      await nextTurn();
      signal.throwIfAborted();
    }
  }
  return { fields: table.describe(), limit: table.limit, isOverfull: table.isOverfull };
}

class FieldDetector {
  readonly #table: FieldTable;
  readonly #parser = new LineParser();
  /** The field of each name number of the parser's; null where there is none. Void with the parser's epoch. */
  #byId: (FieldCount | null)[] = [];
  #epoch = 0;
  #pathCharacters = 0;

  constructor(table: FieldTable) {
    this.#table = table;
  }

  addPage({ page, entries }: LinePage): void {
    this.#parser.enter(page);
    for (let row = 0; row < entries.length; row++) {
      const { structuredMetadata, parsed } = entries[row];
      const parser = this.#parser.parse(row);
      this.#addLabels(structuredMetadata, undefined);
      this.#addLabels(parsed, parser);
      this.#addLine(page, row, parser);
    }
    this.#readLastValues();
  }

  #addLabels(labels: Labels | undefined, parser: LineParserName | undefined): void {
    if (labels === undefined) return;
    for (const { name, value } of labels) {
      const field = this.#table.field(name);
      if (field === undefined) continue;
      if (parser !== undefined) field.foundBy(parser);
      field.addText(value, hashOfText(value));
    }
  }

  /** What the parser found in the row's line. */
  #addLine(page: PageRows, row: number, parser: LineParserName): void {
    const { labels } = this.#parser;
    const { valueNames, valueKinds, valueStarts, valueEnds } = labels;
    let missesPath = false;
    for (let place = 0; place < labels.valueCount; place++) {
      const field = this.#fieldOf(valueNames[place]);
      if (field === null) continue;
      let hash = -1;
      if (valueKinds[place] === KIND_CLEAN) {
        hash = hashOfAscii(page.lines, valueStarts[place], valueEnds[place]);
      }
      field.values.add(hash >= 0 ? hash : hashOfText(labels.valueText(place)));
      field.lastValue = undefined;
      field.lastRow = row;
      field.foundBy(parser);
      if (parser === 'json' && !field.pathSought) missesPath = true;
    }
    if (missesPath) this.#findPaths(page, row);
  }

  #fieldOf(id: number): FieldCount | null {
    if (this.#parser.epoch !== this.#epoch) {
      this.#epoch = this.#parser.epoch;
      this.#byId = [];
    }
    let field = this.#byId[id];
    if (field === undefined) {
      field = this.#table.field(this.#parser.labels.names.texts[id]) ?? null;
      this.#byId[id] = field;
    }
    return field;
  }

  #findPaths(page: PageRows, row: number): void {
    const { labels } = this.#parser;
    const missing = new Map<string, FieldCount>();
    for (let place = 0; place < labels.valueCount; place++) {
      const field = this.#fieldOf(labels.valueNames[place]);
      if (field === null || field.pathSought) continue;
      field.pathSought = true;
      missing.set(field.name, field);
    }
    if (this.#pathCharacters >= MAX_PATH_CHARACTERS) return;
    const streamNames = new Set(labels.base.map(({ name }) => name));
    walkJsonPaths(page.lines, page.lineOffsets[row], page.lineOffsets[row + 1], {
      collides: name => streamNames.has(name),
      visit: (name, path) => {
        this.#pathCharacters += name.length;
        const field = missing.get(name);
        if (field !== undefined) {
          field.jsonPath = path.slice();
          missing.delete(name);
        }
        return missing.size > 0 && this.#pathCharacters < MAX_PATH_CHARACTERS;
      },
    });
  }

  /** Texts of the last values that stand in lines of the page at hand. */
  #readLastValues(): void {
    const rows = new Map<number, Map<string, FieldCount>>();
    for (const field of this.#table.all()) {
      if (field.lastRow < 0) continue;
      const fields = rows.get(field.lastRow) ?? new Map<string, FieldCount>();
      rows.set(field.lastRow, fields.set(field.name, field));
      field.lastRow = -1;
    }
    for (const [row, fields] of rows) {
      this.#parser.parse(row);
      const { labels } = this.#parser;
      for (let place = 0; place < labels.valueCount; place++) {
        const field = fields.get(labels.names.texts[labels.valueNames[place]]);
        if (field !== undefined) field.lastValue = labels.valueText(place);
      }
    }
  }
}
