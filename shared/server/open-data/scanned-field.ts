/** Values of one field in the rows of a table, as a kernel finds them page by page: types, numbers and dictionaries of their texts. */
import type { FieldValues, MemberRange, TextDictionary } from '../../base/kernels/field-values.ts';
import { enlarged } from '../../base/model/enlarged.ts';
import { NOTHING } from '../../storage/columns/line-members.ts';
import { commonType, type ParquetType, parquetTypeOf } from './parquet-types.ts';
import type { WrittenTexts } from './text-values.ts';

const FIRST_VALUES = 64;

/** Texts of a row group without repeats, or that they hardly repeat. Undefined if that is not known. */
type GroupTexts = WrittenTexts | 'plain' | undefined;

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
  /** Values of a type other than STRING, if `areNumbers`; booleans are 0 and 1. */
  numbers = new Float64Array(0);
  areNumbers = true;
  /** Numbers in the dictionaries of the groups. */
  indexes = new Uint32Array(0);
  /** By row group. */
  groups: GroupTexts[] = [];
  /** False if rows that the kernel left were added later. */
  isInOrder = true;
  /** True if the bytes of every value are its text. */
  isPlain = true;
  hasEmpty = false;
  #lastRow = -1;
  /** First value of the row group. */
  #groupStart = 0;
  #dictionary: TextDictionary | undefined;
  #group: GroupTexts;
  /** False if the group has values that are not in its dictionary. */
  #isGroupWhole = true;

  constructor(name: string) {
    this.name = name;
  }

  /** Removes all values, and keeps the memory. */
  clear(): void {
    this.count = 0;
    this.length = 0;
    this.type = undefined;
    this.areNumbers = true;
    this.groups = [];
    this.isInOrder = true;
    this.isPlain = true;
    this.hasEmpty = false;
    this.#lastRow = -1;
    this.#beginGroup();
  }

  /** Adds the values of a page. */
  addPage(bytes: Buffer, values: FieldValues, json: MemberRange, logfmt: MemberRange): void {
    const { count, rows, arePlain } = values.gather(json, logfmt);
    this.count += rows;
    if (count === 0) return;
    this.#reserve(count);
    const at = this.length;
    const added = values.rows;
    if (added[0] < this.#lastRow) this.isInOrder = false;
    this.#lastRow = added[count - 1];
    this.rows.set(added, at);
    this.starts.set(values.starts, at);
    this.ends.set(values.ends, at);
    this.kinds.set(values.kinds, at);
    this.length = at + count;
    if (!arePlain) {
      this.isPlain = false;
      this.#isGroupWhole = false;
    }
    if (this.type !== 'STRING') this.#addTypes(bytes, values, at);
    if (this.type === 'STRING') this.#addTexts(values, at);
  }

  #addTypes(bytes: Buffer, values: FieldValues, at: number): void {
    const types = values.types();
    if (types.empty) this.hasEmpty = true;
    if (types.integers) this.type = commonType(this.type, 'INT64');
    if (types.decimals) this.type = commonType(this.type, 'DOUBLE');
    if (types.booleans) this.type = commonType(this.type, 'BOOLEAN');
    if (types.texts) this.type = commonType(this.type, 'STRING');
    if (types.others) {
      this.areNumbers = false;
      for (let i = at; i < this.length && this.type !== 'STRING'; i++) {
        const type = parquetTypeOf(bytes, this.starts[i], this.ends[i]);
        if (type !== undefined) this.type = commonType(this.type, type);
      }
    }
    if (this.type === 'STRING' || !this.areNumbers) return;
    this.numbers = withRoom(this.numbers, this.rows.length, Float64Array);
    this.numbers.set(values.numbers, at);
  }

  #addTexts(values: FieldValues, at: number): void {
    if (!this.#isGroupWhole || this.#group !== undefined) return;
    if (this.#dictionary === undefined) {
      // Values of the group had another type until now.
      this.#isGroupWhole = at === this.#groupStart;
      this.#dictionary = this.#isGroupWhole ? values.openDictionary() : undefined;
      if (this.#dictionary === undefined) return;
    }
    if (values.number(this.#dictionary)) {
      this.indexes = withRoom(this.indexes, this.rows.length, Uint32Array);
      this.indexes.set(values.indexes, at);
    } else this.#group = 'plain';
  }

  /** Adds a value of a row that the kernel left. */
  addValue(bytes: Buffer, row: number, start: number, end: number, kind: number): void {
    this.count++;
    if (row < this.#lastRow) this.isInOrder = false;
    this.#lastRow = row;
    if (kind === NOTHING) return;
    this.#reserve(1);
    this.areNumbers = false;
    this.#isGroupWhole = false;
    if (start === end) this.hasEmpty = true;
    // Every value fits into a text column.
    if (this.type !== 'STRING') {
      const type = parquetTypeOf(bytes, start, end);
      if (type !== undefined) this.type = commonType(this.type, type);
    }
    const i = this.length++;
    this.rows[i] = row;
    this.starts[i] = start;
    this.ends[i] = end;
    this.kinds[i] = kind;
  }

  /** Ends a row group. */
  endGroup(group: number, values: FieldValues | undefined): void {
    const dictionary = this.#dictionary;
    if (this.#isGroupWhole && dictionary !== undefined) {
      const { size, seen } = dictionary;
      this.groups[group] =
        this.#group ?? (2 * size > seen ? 'plain' : { texts: values!.textsOf(dictionary), size });
    }
    if (dictionary !== undefined) values!.closeDictionary(dictionary);
    this.#beginGroup();
  }

  #beginGroup(): void {
    this.#groupStart = this.length;
    this.#dictionary = undefined;
    this.#group = undefined;
    this.#isGroupWhole = true;
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

function withRoom<T extends Float64Array | Uint32Array>(
  array: T,
  length: number,
  Type: new (length: number) => T,
): T {
  return array.length < length ? enlarged(array, new Type(length)) : array;
}
