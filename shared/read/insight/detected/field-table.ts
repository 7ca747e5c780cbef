/** The fields found so far: each with a count of its distinct values, its parsers and where it stands in JSON. */
import { compareUtf8 } from '../../../base/model/bytes.ts';
import { HyperLogLog } from '../../../base/model/hyperloglog.ts';
import { ERROR_DETAILS_LABEL, ERROR_LABEL, PRESERVE_ERROR_LABEL } from '../../../base/text/names.ts';
import { MAX_FIELDS, MAX_NAME_CHARACTERS } from './bounds.ts';
import type { LineParserName } from './line-parser.ts';
import { type FieldType, typeOfValue } from './value-type.ts';

/** As the API answers it (docs/dev/wire-format.md#response-of-detected-fields). */
export interface DetectedField {
  readonly label: string;
  readonly type: FieldType;
  /** Estimated. */
  readonly cardinality: number;
  /** Null for structured metadata. */
  readonly parsers: readonly LineParserName[] | null;
  readonly jsonPath?: readonly string[];
}

/** Names that the store makes for itself. */
const INTERNAL = new Set([ERROR_LABEL, ERROR_DETAILS_LABEL, PRESERVE_ERROR_LABEL]);

/** One field while it is counted. */
export class FieldCount {
  readonly name: string;
  readonly values = new HyperLogLog();
  inJson = false;
  inLogfmt = false;
  jsonPath: readonly string[] | undefined;
  /** A line was searched for the path: no other is. */
  pathSought = false;
  /** The last value, which decides the type; undefined while it is known by its row only. */
  lastValue: string | undefined;
  /** Row of the page at hand whose line has the last value; -1 where `lastValue` is known. */
  lastRow = -1;

  constructor(name: string) {
    this.name = name;
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
      type: typeOfValue(this.lastValue ?? ''),
      cardinality: this.values.count(),
      parsers: parsers.length === 0 ? null : parsers,
      ...(this.jsonPath === undefined ? {} : { jsonPath: this.jsonPath }),
    };
  }
}

export class FieldTable {
  readonly #fields = new Map<string, FieldCount>();
  /** Most fields: the request's limit, or this store's where that is lower. */
  readonly limit: number;
  /** A field had no room: which ones are here depends on the order in which they were met. */
  isOverfull = false;

  constructor(limit: number) {
    this.limit = Math.min(limit, MAX_FIELDS);
  }

  /** The field of a name, new where there is room; undefined where there is none or the name is no field's. */
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
  return name.length <= MAX_NAME_CHARACTERS && !INTERNAL.has(name);
}
