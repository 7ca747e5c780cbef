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
import { enlarged } from '../../base/model/enlarged.ts';
import { parseObject } from '../../base/text/json-object.ts';
import { NOTHING, VALUE } from '../../storage/columns/line-members.ts';
import type { EntryTable } from './entry-table.ts';
import { commonType, type ParquetType, parquetTypeOf } from './parquet-types.ts';

/** Maximum number of counted names. Lines of a hostile client can have new names each. */
const MAX_NAMES = 10_000;
/** Names whose memory is kept for the next table. */
const MAX_KEPT_NAMES = 500;
/** Lines that the kernel reads at once. They fit in the processor's cache. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_ROWS = 32_768;
const FIRST_VALUES = 64;
const PARSERS = ['json', 'logfmt'] as const;
const [OPEN_BRACE, SPACE] = Buffer.from('{ ');

/** Values of one field. */
export class ScannedField {
  readonly name: string;
  /** Rows with the field, also if it has no value. */
  count = 0;
  /** Undefined until there is a value. */
  type: ParquetType | undefined;
  length = 0;
  rows = new Uint32Array(FIRST_VALUES);
  starts = new Uint32Array(FIRST_VALUES);
  ends = new Uint32Array(FIRST_VALUES);
  /** See line-members.ts. */
  kinds = new Uint8Array(FIRST_VALUES);
  /** False after lines of both parsers in a page. */
  isInOrder = true;
  /** True if the bytes of every value are its text. */
  isPlain = true;
  #lastRow = -1;

  constructor(name: string) {
    this.name = name;
  }

  /** Removes all values, and keeps the memory. */
  clear(): void {
    this.count = 0;
    this.length = 0;
    this.type = undefined;
    this.isInOrder = true;
    this.isPlain = true;
    this.#lastRow = -1;
  }

  /**
   * Adds members of one key.
   * @param keepsFirst which value counts if a line has the field twice
   */
  addMembers(bytes: Buffer, members: LineMembers, { from, to, keepsFirst }: MemberRange): void {
    const { order, rows, starts, ends, kinds } = members;
    this.#reserve(to - from);
    for (let i = from; i < to; i++) {
      const at = order[i];
      this.#add(bytes, rows[at], starts[at], ends[at], kinds[at], keepsFirst);
    }
  }

  /** Adds a value. The last one counts if a line has the field twice. */
  addValue(bytes: Buffer, row: number, start: number, end: number, kind: number): void {
    this.#reserve(1);
    this.#add(bytes, row, start, end, kind, false);
  }

  #add(bytes: Buffer, row: number, start: number, end: number, kind: number, keepsFirst: boolean): void {
    if (row !== this.#lastRow) this.count++;
    else if (keepsFirst) return;
    else if (this.rows[this.length - 1] === row) this.length--;
    if (row < this.#lastRow) this.isInOrder = false;
    this.#lastRow = row;
    if (kind === NOTHING) return;
    if (kind !== VALUE) this.isPlain = false;
    // Every value fits into a text column.
    if (this.type !== 'STRING') {
      const type = kind === VALUE ? parquetTypeOf(bytes, start, end) : 'STRING';
      if (type !== undefined) this.type = commonType(this.type, type);
    }
    const i = this.length++;
    this.rows[i] = row;
    this.starts[i] = start;
    this.ends[i] = end;
    this.kinds[i] = kind;
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.rows.length) return;
    const length = Math.max(needed, 2 * this.rows.length);
    this.rows = enlarged(this.rows, new Uint32Array(length));
    this.starts = enlarged(this.starts, new Uint32Array(length));
    this.ends = enlarged(this.ends, new Uint32Array(length));
    this.kinds = enlarged(this.kinds, new Uint8Array(length));
  }
}

/** Members of a key, as positions in the order of all members. */
interface MemberRange {
  readonly from: number;
  readonly to: number;
  readonly keepsFirst: boolean;
}

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
    for (let from = 0; from < table.count; ) {
      const to = pageEnd(offsets, from);
      const { bytes } = table;
      scanner.begin(bytes, keys);
      scanner.read(offsets, from, to, parserOf);
      const members = scanner.end();
      for (const name of PARSERS) addMembers(fields, bytes, keys[name], members[name], name);
      for (let row = from; row < to; row++) if (parserOf[row] === 0) addParsed(fields, table, row);
      from = to;
    }
    return fields.all();
  }
}

function pageEnd(offsets: Uint32Array, from: number): number {
  const most = Math.min(offsets.length - 1, from + PAGE_ROWS);
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
  readonly parents: number[] = [];
  readonly flags: number[] = [];

  add(text: Buffer, parent: number): void {
    this.texts.push(Buffer.from(text));
    this.parents.push(parent);
    this.flags.push(parent === 0 ? 0 : UNWANTED);
  }
}

function addMembers(
  fields: FieldsByName,
  bytes: Buffer,
  keys: Keys,
  members: LineMembers,
  parser: FieldParser,
): void {
  const { first } = members;
  const keepsFirst = parser === 'logfmt';
  for (let key = 0; key < keys.texts.length; key++) {
    const [from, to] = [first[key], first[key + 1]];
    if (from < to)
      fields.of(keys.texts[key].toString('utf8'))?.addMembers(bytes, members, { from, to, keepsFirst });
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
