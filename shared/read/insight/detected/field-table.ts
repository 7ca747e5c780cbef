/** Fields found so far: each with a count of its distinct values, its parsers and its JSON path. */
import { compareUtf8 } from '../../../base/model/bytes.ts';
import { HyperLogLog } from '../../../base/model/hyperloglog.ts';
import { hashOfText } from '../../../base/model/text-hash.ts';
import { ERROR_DETAILS_LABEL, ERROR_LABEL, PRESERVE_ERROR_LABEL } from '../../../base/text/names.ts';
import { MAX_DETECTED_FIELDS, MAX_LABEL_NAME_CHARACTERS } from './bounds.ts';
import type { LineParserName } from './line-parser.ts';
import { type DetectedType, detectedTypeOf } from './value-type.ts';

/** A field as in the API response (docs/dev/wire-format.md#response-of-detected-fields). */
export interface DetectedField {
  readonly label: string;
  readonly type: DetectedType;
  /** Estimated. */
  readonly cardinality: number;
  /** Null for structured metadata. */
  readonly parsers: readonly LineParserName[] | null;
  readonly jsonPath?: readonly string[];
}

/** Names that the store uses internally. */
const INTERNAL = new Set([ERROR_LABEL, ERROR_DETAILS_LABEL, PRESERVE_ERROR_LABEL]);

/** One field while it is counted. */
export class FieldCount {
  readonly name: string;
  readonly values = new HyperLogLog();
  inJson = false;
  inLogfmt = false;
  jsonPath: readonly string[] | undefined;
  /** Whether a line was searched for the path. Only one is. */
  pathSought = false;
  /** Last value, which decides the type. Undefined while only its row is known. */
  lastValue: string | undefined;
  /** Row of the current page whose line has the last value, or -1 if `lastValue` is known. */
  lastRow = -1;

  /** Line of the last value and where it is, if `lastValue` is undefined and `lastRow` is -1. */
  #lastLine = '';
  #lastStart = 0;
  #lastEnd = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Counts the value `line.slice(start, end)`. */
  addPart(line: string, start: number, end: number): void {
    this.values.add(hashOfText(line, start, end));
    this.#lastLine = line;
    this.#lastStart = start;
    this.#lastEnd = end;
    this.lastValue = undefined;
    this.lastRow = -1;
  }

  foundBy(parser: LineParserName): void {
    if (parser === 'json') this.inJson = true;
    else this.inLogfmt = true;
  }

  addText(value: string, hash: number): void {
    this.values.add(hash);
    this.lastValue = value;
    this.lastRow = -1;
  }

  describe(): DetectedField {
    const parsers: LineParserName[] = [];
    if (this.inJson) parsers.push('json');
    if (this.inLogfmt) parsers.push('logfmt');
    return {
      label: this.name,
      type: detectedTypeOf(this.lastValue ?? this.#lastLine.slice(this.#lastStart, this.#lastEnd)),
      cardinality: this.values.count(),
      parsers: parsers.length === 0 ? null : parsers,
      ...(this.jsonPath === undefined ? {} : { jsonPath: this.jsonPath }),
    };
  }
}

export class DetectedFieldTable {
  readonly #fields = new Map<string, FieldCount>();
  /** Maximum number of fields: the limit of the request, or this store's if that is lower. */
  readonly limit: number;
  /**
   * Whether a field was refused. The fields in the table then depend on the order in which they were found.
   */
  isOverfull = false;

  constructor(limit: number) {
    this.limit = Math.min(limit, MAX_DETECTED_FIELDS);
  }

  /**
   * Returns the field of a name, adding it if it fits. Undefined if it does not, or if the name is not a
   * field name.
   */
  field(name: string): FieldCount | undefined {
    const known = this.#fields.get(name);
    if (known !== undefined) return known;
    if (!isFieldName(name)) return undefined;
    if (this.#fields.size === this.limit) {
      this.isOverfull = true;
      return undefined;
    }
    const field = new FieldCount(name);
    this.#fields.set(name, field);
    return field;
  }

  all(): Iterable<FieldCount> {
    return this.#fields.values();
  }

  /** Ascending by name. */
  describe(): DetectedField[] {
    return [...this.#fields.values()]
      .map(field => field.describe())
      .sort((a, b) => compareUtf8(a.label, b.label));
  }
}

export function isFieldName(name: string): boolean {
  return name.length <= MAX_LABEL_NAME_CHARACTERS && !INTERNAL.has(name);
}
