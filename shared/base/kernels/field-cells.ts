/**
 * Host side of assembly/field-cells.ts: cells of one field of a page. The page is the latest one of a scanner. Results are copies.
 */
import { invariant } from '../model/errors.ts';
import { type Constant, type KernelInstance, memoryWords } from './kernels.ts';

interface CellKernel {
  readonly CELL_BYTES: Constant;
  readonly CELL_CODES: Constant;
  readonly CELL_NUMBERS: Constant;
  readonly CELL_PARSERS: Constant;
  readonly CELL_SHAPES: Constant;
  readonly CELL_STARTS: Constant;
  readonly MAX_FIELD_ROWS: Constant;
  readonly NO_CELLS: Constant;
  readonly OTHER_ENDS: Constant;
  readonly OTHER_TEXTS: Constant;
  readonly PACKED_CODES: Constant;
  readonly SHAPE_RECORD: Constant;
  readonly USED_CODES: Constant;
  readonly VALUE_CELLS: Constant;
  cellValueCount(): number;
  fallbackRows(rows: number): number;
  fieldCells(list: number, from: number, to: number, parser: number, rows: number, firstByte: number): number;
  hasManyValues(list: number, from: number, to: number, firstByte: number): number;
  leaveRows(list: number, from: number, to: number): void;
  otherTextCount(): number;
  packCodes(rows: number): number;
  shapeCount(): number;
}

/** Members of one key: the member list of its parser, and positions in its order by keys. */
export interface KeyMembers {
  readonly list: number;
  readonly from: number;
  readonly to: number;
}

/** Rows of a page, and the position of its first line that is in memory. */
interface ScannedRows {
  readonly parserOf: Uint8Array;
  readonly rows: number;
  readonly firstByte: number;
}

/** Texts one behind the other: text i is `bytes[starts[i]..starts[i + 1])`. */
export interface TextList {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
}

interface NumberShape {
  readonly places: number;
  readonly unit: Buffer;
}

/** Codes of the rows, and what they refer to (shared/storage/columns/column-cells.ts). */
export type ScannedCells =
  | { readonly kind: 'dictionary'; readonly values: TextList }
  | {
      readonly kind: 'number';
      readonly mantissas: Float64Array;
      readonly shapes: readonly NumberShape[];
      readonly texts: TextList;
    };

export interface PackedCodes {
  /** Codes in use, ascending. */
  readonly used: Uint32Array;
  readonly numbers: Buffer;
}

export class FieldCellReader {
  readonly #instance: KernelInstance<unknown>;
  readonly #run: CellKernel;
  #rows = 0;

  constructor(instance: KernelInstance<unknown>) {
    this.#instance = instance;
    this.#run = instance.run as CellKernel;
  }

  /**
   * Reads the cells of a key. `codes` and `leaveRows` refer to them until the next call.
   * @param parser Number of the parser in `parserOf`
   */
  read(
    { list, from, to }: KeyMembers,
    parser: number,
    { parserOf, rows, firstByte }: ScannedRows,
  ): ScannedCells | undefined {
    const run = this.#run;
    const { bytes } = this.#instance;
    this.#rows = rows;
    bytes.set(parserOf.subarray(0, rows), run.CELL_PARSERS.value);
    const kind = run.fieldCells(list, from, to, parser, rows, firstByte);
    if (kind === run.NO_CELLS.value) return undefined;
    if (kind === run.VALUE_CELLS.value) return { kind: 'dictionary', values: this.#values() };
    const at = run.CELL_NUMBERS.value;
    const mantissas = new Float64Array(bytes.buffer, at, rows).slice();
    return { kind: 'number', mantissas, shapes: this.#shapes(), texts: this.#otherTexts() };
  }

  /** Leaves the rows of another key to the parser. */
  leaveRows({ list, from, to }: KeyMembers): void {
    this.#run.leaveRows(list, from, to);
  }

  get fallbackRows(): number {
    return this.#run.fallbackRows(this.#rows);
  }

  get codes(): Uint32Array {
    return memoryWords(this.#instance, this.#run.CELL_CODES, this.#rows).slice();
  }

  /** Returns the number of distinct values of the key; Infinity if a dictionary cannot hold them. The cells of `read` end. */
  distinctValues({ list, from, to }: KeyMembers, firstByte: number): number {
    if (this.#run.hasManyValues(list, from, to, firstByte) !== 0) return Infinity;
    return this.#run.cellValueCount();
  }

  /**
   * Numbers the codes in use, and packs the numbers of the rows. The cells of `read` end.
   *
   * @param bytesOf Bytes of the numbers, by the number of codes in use
   */
  pack(codes: Uint32Array, bytesOf: (used: number) => number): PackedCodes {
    const run = this.#run;
    invariant(codes.length <= run.MAX_FIELD_ROWS.value, 'a page has at most 65,536 rows');
    memoryWords(this.#instance, run.CELL_CODES, codes.length).set(codes);
    const used = run.packCodes(codes.length);
    invariant(used > 0 || codes.length === 0, 'codes are below the maximum');
    return {
      used: memoryWords(this.#instance, run.USED_CODES, used).slice(),
      numbers: this.#bytesAt(run.PACKED_CODES, bytesOf(used)),
    };
  }

  #values(): TextList {
    const { CELL_BYTES, CELL_STARTS } = this.#run;
    const starts = memoryWords(this.#instance, CELL_STARTS, this.#run.cellValueCount() + 1).slice();
    return { starts, bytes: this.#bytesAt(CELL_BYTES, starts[starts.length - 1]) };
  }

  #otherTexts(): TextList {
    const { OTHER_ENDS, OTHER_TEXTS } = this.#run;
    const count = this.#run.otherTextCount();
    const starts = new Uint32Array(count + 1);
    starts.set(memoryWords(this.#instance, OTHER_ENDS, count), 1);
    return { starts, bytes: this.#bytesAt(OTHER_TEXTS, starts[count]) };
  }

  #shapes(): NumberShape[] {
    const { CELL_SHAPES, SHAPE_RECORD } = this.#run;
    return Array.from({ length: this.#run.shapeCount() }, (_, i) => {
      const at = CELL_SHAPES.value + i * SHAPE_RECORD.value;
      const [places, unitBytes] = memoryWords(this.#instance, { value: at }, 2);
      return { places, unit: this.#bytesAt({ value: at + 8 }, unitBytes) };
    });
  }

  #bytesAt({ value }: Constant, count: number): Buffer {
    return Buffer.from(this.#instance.bytes.subarray(value, value + count));
  }
}
