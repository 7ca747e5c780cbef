/**
 * Detects fields of log lines (docs/dev/wire-format.md#response-of-detected-fields;
 * docs/dev/logql-semantics.md#detected-fields): names in structured metadata, parsed by the query, or in the
 * line itself. It runs on the result of a log query with categorized labels, which the limit on entries
 * bounds.
 *
 * The last value of a field decides its type. Only that value is classified, because classifying costs more
 * than parsing the line. The row that contains it is recorded, and parsed again at the end of its page.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Labels } from '../../../base/model/labels.ts';
import type { PageRows } from '../../../base/model/page.ts';
import { hashOfAscii, hashOfText } from '../../../base/model/text-hash.ts';
import type { LineForm } from '../../../execution/fields/line-form.ts';
import { KIND_CLEAN } from '../../../execution/pipeline/row-labels.ts';
import { EVERY_FIELD } from '../../query/every-field-scan.ts';
import type { LogEntry, LogStream } from '../../query/log-query.ts';
import { MAX_PATH_CHARACTERS, PAGE_ROWS } from './bounds.ts';
import { type DetectedField, DetectedFieldTable, type FieldCount } from './field-table.ts';
import { walkJsonPaths } from './json-paths.ts';
import { type LinePage, linePages } from './line-pages.ts';
import { LineParser, type LineParserName } from './line-parser.ts';

export interface DetectOptions {
  /** Maximum number of fields, or of values. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface DetectedFields {
  /** Ascending by name. */
  readonly fields: readonly DetectedField[];
  /** Effective limit on the number of fields. */
  readonly limit: number;
}

interface FoundFields extends DetectedFields {
  /**
   * Whether more fields exist. The returned ones were found first, so the order of fields in lines mattered.
   */
  readonly isOverfull: boolean;
}

/**
 * Returns the entries of the log query, with categorized labels.
 *
 * @param field as LogRequest.field
 */
export type EntriesOf = (field: string | undefined) => Promise<readonly LogStream[]>;

/**
 * Uses field columns instead of lines if possible. If there are more fields than the limit, the first ones in
 * line order count, which only the lines show. They are then read after all. Throws errors of `entriesOf` and
 * the signal's reason.
 */
export async function findFields(entriesOf: EntriesOf, options: DetectOptions): Promise<DetectedFields> {
  let found = await detectFields(await entriesOf(EVERY_FIELD), options);
  if (found.isOverfull) found = await detectFields(await entriesOf(undefined), options);
  return { fields: found.fields, limit: found.limit };
}

/**
 * Throws the signal's reason.
 *
 * @param streams result of a query with categorized labels
 */
export async function detectFields(
  streams: readonly LogStream[],
  { limit, signal }: DetectOptions,
): Promise<FoundFields> {
  const table = new DetectedFieldTable(limit);
  const detector = new FieldDetector(table);
  for (const stream of streams) {
    for (const entries of entriesByForm(stream.entries)) {
      if (entries[0].form === undefined) {
        for (const page of linePages({ ...stream, entries })) {
          detector.addPage(page);
          await nextTurn();
          signal.throwIfAborted();
        }
        continue;
      }
      detector.addFormed(entries);
      await nextTurn();
      signal.throwIfAborted();
    }
  }
  return { fields: table.describe(), limit: table.limit, isOverfull: table.isOverfull };
}

/** Yields entries that follow each other and have a form, and those that have none. */
function* entriesByForm(entries: LogEntry[]): Generator<LogEntry[]> {
  for (let from = 0; from < entries.length; ) {
    const isFormed = entries[from].form !== undefined;
    let to = from + 1;
    while (to < entries.length && (entries[to].form !== undefined) === isFormed) {
      if (isFormed && to - from === PAGE_ROWS) break;
      to++;
    }
    yield from === 0 && to === entries.length ? entries : entries.slice(from, to);
    from = to;
  }
}

class FieldDetector {
  readonly #table: DetectedFieldTable;
  readonly #parser = new LineParser();
  /**
   * Field of each name number of the parser, or null if there is none. Void when the parser's epoch changes.
   */
  #byId: (FieldCount | null)[] = [];
  #epoch = 0;
  #pathCharacters = 0;
  /** Field of each value of a form. */
  readonly #byForm = new Map<LineForm, (FieldCount | undefined)[]>();

  constructor(table: DetectedFieldTable) {
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

  /** @param entries Entries with the form of their lines */
  addFormed(entries: readonly LogEntry[]): void {
    for (const { structuredMetadata, form, line } of entries) {
      this.#addLabels(structuredMetadata, undefined);
      this.#addValues(form!, line);
    }
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

  /** Adds the fields of a line by its values. */
  #addValues(form: LineForm, line: string): void {
    const { parser, fields, gaps } = form;
    let found = this.#byForm.get(form);
    if (found === undefined) {
      found = [];
      this.#byForm.set(form, found);
    }
    let at = 0;
    for (let i = 0; i < fields.length; i++) {
      const start = at + gaps[i];
      const stop = line.indexOf('\0', start);
      at = stop < 0 ? line.length : stop;
      const { name, path, absent } = fields[i];
      if (absent !== undefined && at - start === absent.length && line.startsWith(absent, start)) continue;
      const field = (found[i] ??= this.#table.field(name));
      if (field === undefined) continue;
      field.foundBy(parser);
      field.addPart(line, start, at);
      if (parser === 'json' && !field.pathSought) this.#setPath(field, path);
    }
  }

  #setPath(field: FieldCount, path: readonly string[]): void {
    field.pathSought = true;
    this.#pathCharacters += field.name.length;
    if (this.#pathCharacters < MAX_PATH_CHARACTERS) field.jsonPath = path;
  }

  /** Adds the fields that the parser found in the row's line. */
  #addLine(page: PageRows, row: number, parser: LineParserName): void {
    const { labels } = this.#parser;
    const { valueNames, valueKinds, valueStarts, valueEnds } = labels;
    let missesPath = false;
    for (let index = 0; index < labels.valueCount; index++) {
      const field = this.#fieldOf(valueNames[index]);
      if (field === null) continue;
      let hash = -1;
      if (valueKinds[index] === KIND_CLEAN) {
        hash = hashOfAscii(page.lines, valueStarts[index], valueEnds[index]);
      }
      field.values.add(hash >= 0 ? hash : hashOfText(labels.valueText(index)));
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
    for (let index = 0; index < labels.valueCount; index++) {
      const field = this.#fieldOf(labels.valueNames[index]);
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

  /** Reads the texts of last values that are in lines of the current page. */
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
      for (let index = 0; index < labels.valueCount; index++) {
        const field = fields.get(labels.names.texts[labels.valueNames[index]]);
        if (field !== undefined) field.lastValue = labels.valueText(index);
      }
    }
  }
}
