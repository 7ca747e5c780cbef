/**
 * Frame of split lines (docs/dev/format.md#47-split-lines), as far as fields need it: which columns a template has, and the template of
 * each row. A page whose fields are columns of the split has the frame in a separate block, with the parser of each template and the
 * columns of the fields behind it.
 */
import { HEAD_BYTES } from '../../base/kernels/row-classes.ts';
import { CorruptionError } from '../../base/model/errors.ts';

/** Types of columns, as in docs/dev/format.md. */
export const SPLIT_TEXT = 0;
export const SPLIT_WORDS = 1;
export const SPLIT_NUMBER = 2;
export const SPLIT_PATTERN = 3;
export const SPLIT_HEX = 4;
export const SPLIT_CLOCK = 5;
export const SPLIT_NUMBERED = 6;

export interface SplitRecord {
  readonly type: number;
  readonly detail: number;
  readonly width: number;
  readonly mode: number;
  /** Number of values. */
  readonly count: number;
  readonly bytes: number;
  readonly number: number;
  readonly base: number;
}

const NO_BYTES = new Uint8Array(0);

export interface TemplateLayout {
  /** Constant texts, one more than the values. */
  readonly texts: readonly Uint8Array[];
  readonly columns: readonly number[];
}

const RECORD_BYTES = 24;
/** Limits of the format. */
const MAX_TEMPLATES = 4095;
const MAX_COLUMNS = 2048;

export class SplitFrame {
  /** Templates, without template 0. */
  readonly templates: number;
  /** Bytes of the frame alone. */
  readonly bytes: number;
  /** Number of columns. */
  readonly columns: number;
  /** Number of rows of the page. */
  readonly rows: number;
  readonly #view: DataView;
  readonly #raw: Uint8Array;
  readonly #pieces: number;
  readonly #recordsAt: number;
  readonly #what: string;
  readonly #isWide: boolean;

  /**
   * Reads the frame at the start of `raw`, which must stay as it is. Throws CorruptionError.
   * @param what Name of the page in errors
   */
  constructor(raw: Uint8Array, rows: number, what: string) {
    const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
    this.#view = view;
    this.#raw = raw;
    this.rows = rows;
    this.#what = what;
    this.#check(raw.length >= HEAD_BYTES);
    this.templates = view.getUint32(0, true);
    this.#pieces = view.getUint32(4, true);
    this.columns = view.getUint32(12, true);
    const width = view.getUint32(20, true);
    this.#recordsAt = HEAD_BYTES + 2 * this.templates + 4 * this.#pieces + view.getUint32(8, true);
    this.bytes = this.#rowsAt + width * rows;
    this.#isWide = width === 2;
    this.#check(view.getUint32(16, true) === rows && (width === 1 || width === 2));
    this.#check(this.templates <= MAX_TEMPLATES && this.columns <= MAX_COLUMNS && this.bytes <= raw.length);
  }

  get #rowsAt(): number {
    return this.#recordsAt + RECORD_BYTES * this.columns;
  }

  /** Range of the literals' bytes, from the start of the frame. */
  get text(): { readonly start: number; readonly end: number } {
    return { start: HEAD_BYTES + 2 * this.templates + 4 * this.#pieces, end: this.#recordsAt };
  }

  /** Template of each row. A corrupt frame has numbers of more than `templates`. */
  get templateOf(): Uint8Array | Uint16Array {
    const { rows } = this;
    const low = this.#raw.subarray(this.#rowsAt, this.#rowsAt + rows);
    if (!this.#isWide) return low;
    const high = this.#raw.subarray(this.#rowsAt + rows, this.bytes);
    return Uint16Array.from(low, (byte, row) => byte | (high[row] << 8));
  }

  /** Returns the size of a column, bytes. */
  bytesOf(column: number): number {
    return this.#view.getUint32(this.#recordsAt + RECORD_BYTES * column + 8, true);
  }

  typeOf(column: number): number {
    return this.#raw[this.#recordsAt + RECORD_BYTES * column];
  }

  /** @param column Number below `columns` */
  recordOf(column: number): SplitRecord {
    const at = this.#recordsAt + RECORD_BYTES * column;
    const [type, detail, width, mode] = this.#raw.subarray(at, at + 4);
    return {
      type,
      detail,
      width,
      mode,
      count: this.#view.getUint32(at + 4, true),
      bytes: this.bytesOf(column),
      number: this.#view.getUint32(at + 12, true),
      base: Number(this.#view.getBigInt64(at + 16, true)),
    };
  }

  /** Returns the bytes of a column's record. */
  rawRecordOf(column: number): Uint8Array {
    const at = this.#recordsAt + RECORD_BYTES * column;
    return this.#raw.subarray(at, at + RECORD_BYTES);
  }

  /** Returns the number of values of a column in a row of each template, template 0 first. */
  usesOf(column: number): Uint8Array {
    const uses = new Uint8Array(this.templates + 1);
    if (column === 0) uses[0] = 1;
    const columnsAt = HEAD_BYTES + 2 * this.templates + 2 * this.#pieces;
    let piece = 0;
    for (let template = 1; template <= this.templates; template++) {
      const end = piece + this.#view.getUint16(HEAD_BYTES + 2 * (template - 1), true);
      this.#check(end > piece && end <= this.#pieces);
      // The last literal has no value behind it.
      for (; piece < end - 1; piece++)
        if (this.#view.getUint16(columnsAt + 2 * piece, true) === column) uses[template]++;
      piece = end;
    }
    return uses;
  }

  /**
   * Returns the constant texts of templates, and the columns of the values between them, template 0 first.
   * @param isWanted Others are undefined
   */
  layouts(isWanted: (template: number) => boolean): (TemplateLayout | undefined)[] {
    const layouts: (TemplateLayout | undefined)[] = [
      isWanted(0) ? { texts: [NO_BYTES, NO_BYTES], columns: [0] } : undefined,
    ];
    const lengthsAt = HEAD_BYTES + 2 * this.templates;
    const columnsAt = lengthsAt + 2 * this.#pieces;
    let piece = 0;
    let at = this.text.start;
    for (let template = 1; template <= this.templates; template++) {
      const end = piece + this.#view.getUint16(HEAD_BYTES + 2 * (template - 1), true);
      this.#check(end > piece && end <= this.#pieces);
      const texts: Uint8Array[] = [];
      const columns: number[] = [];
      const wanted = isWanted(template);
      for (; piece < end; piece++) {
        const start = at;
        at += this.#view.getUint16(lengthsAt + 2 * piece, true);
        if (!wanted) continue;
        const column = this.#view.getUint16(columnsAt + 2 * piece, true);
        this.#check(at <= this.text.end && column < this.columns);
        texts.push(this.#raw.subarray(start, at));
        if (piece < end - 1) columns.push(column);
      }
      layouts.push(wanted ? { texts, columns } : undefined);
    }
    return layouts;
  }

  #check(condition: boolean): void {
    if (!condition) throw new CorruptionError(`${this.#what}: the frame of the split lines is damaged`);
  }
}

/** Returns the bytes behind the frame in its block. */
export function writeFrameTail(parsers: Uint8Array, columns: readonly number[]): Uint8Array {
  const tail = Buffer.allocUnsafe(parsers.length + 2 * columns.length);
  tail.set(parsers);
  for (const [i, column] of columns.entries()) tail.writeUInt16LE(column, parsers.length + 2 * i);
  return tail;
}

/** Frame in a separate block. */
export interface FrameBlock {
  readonly frame: SplitFrame;
  readonly raw: Buffer;
  /** Parser mark of each template, template 0 first. */
  readonly parsers: Uint8Array;
  /** Column of each field, by its place among the page's fields of split lines. */
  readonly columns: readonly number[];
}

/**
 * Reads the block of a frame. Throws CorruptionError.
 * @param fields Number of fields that are columns of the split lines
 */
export function readFrameBlock(raw: Buffer, rows: number, fields: number, what: string): FrameBlock {
  const frame = new SplitFrame(raw, rows, what);
  const { bytes, templates } = frame;
  const columnsAt = bytes + templates + 1;
  let isDamaged = raw.length !== columnsAt + 2 * fields;
  const columns: number[] = [];
  for (let at = columnsAt; at < raw.length && !isDamaged; at += 2) {
    const column = raw[at] | (raw[at + 1] << 8);
    isDamaged = column >= frame.columns;
    columns.push(column);
  }
  if (isDamaged) throw new CorruptionError(`${what}: the columns of the fields are damaged`);
  return { frame, raw, parsers: raw.subarray(bytes, columnsAt), columns };
}
