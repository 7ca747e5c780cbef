/** A metadata column of a stored page. Its values are decoded on first use and then stay decoded. */
import type { MetadataColumn } from '../../base/model/page.ts';
import { loadBlock } from '../codec/compression.ts';
import type { ColumnMeta } from './format.ts';
import { decodeMetadata } from './metadata-column.ts';

const NO_BYTES = Buffer.alloc(0);

export class StoredMetadata implements MetadataColumn {
  readonly name: string;
  readonly #column: ColumnMeta;
  readonly #rows: number;
  readonly #stored: Buffer;
  readonly #what: string;
  #decoded: MetadataColumn | undefined;

  constructor(column: ColumnMeta, rows: number, stored: Buffer, what: string) {
    this.name = column.name;
    this.#column = column;
    this.#rows = rows;
    this.#stored = stored;
    this.#what = what;
  }

  /**
   * Estimates the values with their offsets, and a number for each row. Few texts are requested, so they are
   * not counted.
   */
  get heldBytes(): number {
    return this.#decoded === undefined ? 0 : 12 * this.#rows + this.#column.block.rawBytes;
  }

  get ids(): Uint32Array {
    return this.#values.ids;
  }

  get count(): number {
    return this.#column.dictionary?.length ?? this.#values.count;
  }

  valueAt(index: number): string {
    return this.#column.dictionary?.[index] ?? this.#values.valueAt(index);
  }

  get #values(): MetadataColumn {
    this.#decoded ??= this.#decode();
    return this.#decoded;
  }

  #decode(): MetadataColumn {
    const { name, dictionary, constant, block } = this.#column;
    const what = `${this.#what}: column ${name}`;
    const payload = constant ? NO_BYTES : loadBlock(this.#stored, block, what);
    return decodeMetadata(name, payload, this.#rows, dictionary, constant, what);
  }
}
