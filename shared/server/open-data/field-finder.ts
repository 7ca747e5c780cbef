/**
 * Finds the fields of JSON and logfmt lines, and keeps the position of each value in the bytes of the table. A kernel finds them in
 * most lines. JSON that it leaves, because it is not strict, is parsed here. Text with more words than pairs has no fields.
 */

import {
  type FieldParser,
  fieldScannerOfThread,
  type LineMembers,
  UNWANTED,
} from '../../base/kernels/field-scanner.ts';
import { type FieldValues, type MemberRange, NO_MEMBERS } from '../../base/kernels/field-values.ts';
import { parseObject } from '../../base/text/json-object.ts';
import { NOTHING, VALUE } from '../../storage/columns/line-members.ts';
import { type EntryTable, ROW_GROUP_ROWS } from './entry-table.ts';
import { ScannedField } from './scanned-field.ts';

/** Maximum number of counted names. Lines of a hostile client can have new names each. */
const MAX_NAMES = 10_000;
/** Names whose memory is kept for the next table. */
const MAX_KEPT_NAMES = 500;
/** Lines that the kernel reads at once. They fit in the processor's cache. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_ROWS = 32_768;
const PARSERS = ['json', 'logfmt'] as const;
const [OPEN_BRACE, SPACE] = Buffer.from('{ ');

/** Finds the fields of one table after the other in the same memory, whose pages cost more to get than to fill. */
export class FieldFinder {
  readonly #fields = new FieldsByName();

  /** The fields of a table that was filled. Valid until the next call. */
  find(table: EntryTable): readonly ScannedField[] {
    const fields = this.#fields;
    fields.clear();
    const keys = { json: new Keys(), logfmt: new Keys() };
    const parserOf = new Uint8Array(table.count);
    const scanner = fieldScannerOfThread();
    const offsets = table.offsets.subarray(0, table.count + 1);
    let values: FieldValues | undefined;
    for (let from = 0; from < table.count; ) {
      const to = pageEnd(offsets, from);
      const { bytes } = table;
      scanner.begin(bytes, keys);
      scanner.read(offsets, from, to, parserOf);
      const pageValues = scanner.values();
      const members = scanner.end();
      if (pageValues !== undefined) {
        if (values === undefined) pageValues.reset();
        values = pageValues;
        for (const [name, ranges] of rangesByName(keys, members))
          fields.of(name)?.addPage(bytes, values, ranges.json, ranges.logfmt);
      }
      for (let row = from; row < to; row++) if (parserOf[row] === 0) addParsed(fields, table, row);
      from = to;
      if (from % ROW_GROUP_ROWS === 0 || from === table.count)
        for (const field of fields.all()) field.endGroup(Math.ceil(from / ROW_GROUP_ROWS) - 1, values);
    }
    return fields.all();
  }
}

interface NameRanges {
  json: MemberRange;
  logfmt: MemberRange;
}

/** Members of the page by the name of their field. */
function rangesByName(
  keys: Readonly<Record<FieldParser, Keys>>,
  members: Readonly<Record<FieldParser, LineMembers>>,
): Map<string, NameRanges> {
  const byName = new Map<string, NameRanges>();
  for (const parser of PARSERS) {
    const { first } = members[parser];
    const { names } = keys[parser];
    for (let key = 0; key < names.length; key++) {
      const [from, to] = [first[key], first[key + 1]];
      if (from === to) continue;
      let ranges = byName.get(names[key]);
      if (ranges === undefined) {
        ranges = { json: NO_MEMBERS, logfmt: NO_MEMBERS };
        byName.set(names[key], ranges);
      }
      ranges[parser] = { from, to };
    }
  }
  return byName;
}

/** A page is in one row group. */
function pageEnd(offsets: Uint32Array, from: number): number {
  const groupEnd = from - (from % ROW_GROUP_ROWS) + ROW_GROUP_ROWS;
  const most = Math.min(offsets.length - 1, from + PAGE_ROWS, groupEnd);
  let to = from + 1;
  while (to < most && offsets[to + 1] - offsets[from] <= PAGE_BYTES) to++;
  return to;
}

/** Fields by name. */
class FieldsByName {
  readonly #byName = new Map<string, ScannedField>();

  /** Returns undefined if there are too many names. */
  of(name: string): ScannedField | undefined {
    let field = this.#byName.get(name);
    if (field === undefined && this.#byName.size < MAX_NAMES) {
      field = new ScannedField(name);
      this.#byName.set(name, field);
    }
    return field;
  }

  all(): readonly ScannedField[] {
    return [...this.#byName.values()].filter(({ count }) => count > 0);
  }

  /** Removes all values. Fields keep their memory, unless their names are data. */
  clear(): void {
    if (this.#byName.size > MAX_KEPT_NAMES) this.#byName.clear();
    for (const field of this.#byName.values()) field.clear();
  }
}

/** Keys of one parser. Members of inner objects are part of the outer value. */
class Keys {
  readonly texts: Buffer[] = [];
  readonly names: string[] = [];
  readonly parents: number[] = [];
  readonly flags: number[] = [];

  add(text: Buffer, parent: number): void {
    this.texts.push(Buffer.from(text));
    this.names.push(text.toString('utf8'));
    this.parents.push(parent);
    this.flags.push(parent === 0 ? 0 : UNWANTED);
  }
}

/** Adds the fields of a JSON line that the kernel left. Their values become texts behind the lines. */
function addParsed(fields: FieldsByName, table: EntryTable, row: number): void {
  const { bytes, offsets } = table;
  const start = offsets[row];
  if (bytes[start] !== OPEN_BRACE && bytes[start] > SPACE) return;
  const parsed = parseObject(bytes.toString('utf8', start, offsets[row + 1] - 1));
  if (parsed === undefined) return;
  for (const [name, value] of Object.entries(parsed)) {
    const isNothing = value === null || value === undefined;
    const from = isNothing ? 0 : table.addText(textOf(value));
    const to = isNothing ? 0 : table.byteLength;
    fields.of(name)?.addValue(table.bytes, row, from, to, isNothing ? NOTHING : VALUE);
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
