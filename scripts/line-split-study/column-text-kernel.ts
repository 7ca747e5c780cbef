/**
 * Host of assembly/column-text.ts: copies typed columns into its memory, and converts them to text any number
 * of times.
 */
import type { TypedColumn } from './column-types.ts';
import { NUMBERS_HEAD_BYTES } from './number-bytes.ts';
import { compileModule, growTo, instanceOf, type Memory, newMemory } from './web-assembly.ts';

/** Base address after the tables of the kernel. */
const BASE = 4096;
const SLACK = 64;

interface Exports {
  begin(): void;
  words(
    dictionary: number,
    dictionaryBytes: number,
    starts: number,
    low: number,
    high: number,
    count: number,
    out: number,
  ): number;
  numbers(planes: number, width: number, isDelta: number, base: number, count: number, into: number): void;
  integers(values: number, count: number, out: number): number;
  decimals(values: number, places: number, count: number, out: number): number;
  times(
    values: number,
    joint: number,
    places: number,
    zone: number,
    zoneBytes: number,
    count: number,
    out: number,
  ): number;
  hex(bytes: number, width: number, count: number, out: number): number;
  uuids(bytes: number, count: number, out: number): number;
  addresses(bytes: number, count: number, out: number): number;
}

interface LaidColumns {
  /** Converts all columns that are not text, and returns the bytes of each; valid until the next call. */
  toText(): Uint8Array[];
}

export class ColumnTextKernel {
  readonly #memory: Memory;
  readonly #exports: Exports;

  constructor(module: object) {
    this.#memory = newMemory();
    this.#exports = instanceOf(module, this.#memory) as Exports;
    this.#exports.begin();
  }

  /** @param columns columns of types other than text */
  lay(columns: readonly TypedColumn[], textBytes: readonly number[]): LaidColumns {
    const most = columns.reduce((max, { count }) => Math.max(max, count), 0);
    const scratchBytes = 8 * most + 4 * 65_537 + SLACK;
    const inBytes = columns.reduce((sum, { bytes }) => sum + bytes.length + SLACK, 0);
    const outBytes = textBytes.reduce((sum, bytes) => sum + bytes + SLACK, 0);
    growTo(this.#memory, BASE + scratchBytes + inBytes + outBytes + SLACK);
    const memory = new Uint8Array(this.#memory.buffer);
    let free = BASE + scratchBytes;
    const places = columns.map((column, i) => {
      const at = free;
      memory.set(column.bytes, at);
      free = (free + column.bytes.length + SLACK) & ~7;
      const out = free;
      free = (free + textBytes[i] + SLACK) & ~7;
      return { column, at, out };
    });
    return {
      toText: () => places.map(({ column, at, out }) => memory.subarray(out, this.#textOf(column, at, out))),
    };
  }

  /** End of the text. */
  #textOf({ type, bytes, count }: TypedColumn, at: number, out: number): number {
    const exports = this.#exports;
    switch (type) {
      case 'words':
      case 'many words': {
        const length = bytes.readUInt32LE(0);
        const low = at + 4 + length;
        const isWide = bytes.length === 4 + length + 2 * count;
        return exports.words(at + 4, length, BASE, low, isWide ? low + count : 0, count, out);
      }
      case 'integer':
        this.#numbersOf(bytes, 0, at, count);
        return exports.integers(BASE, count, out);
      case 'decimal':
        this.#numbersOf(bytes, 1, at, count);
        return exports.decimals(BASE, bytes[0], count, out);
      case 'time': {
        const [joint, places, zoneBytes] = bytes;
        this.#numbersOf(bytes, 3 + zoneBytes, at, count);
        return exports.times(BASE, joint, places, at + 3, zoneBytes, count, out);
      }
      case 'uuid':
        return exports.uuids(at, count, out);
      case 'hex':
        return exports.hex(at + 1, bytes[0], count, out);
      case 'address':
        return exports.addresses(at, count, out);
      case 'text':
        throw new Error('text needs no kernel');
    }
  }

  #numbersOf(bytes: Buffer, head: number, at: number, count: number): void {
    const base = bytes.readDoubleLE(head + 2);
    const planes = at + head + NUMBERS_HEAD_BYTES;
    this.#exports.numbers(planes, bytes[head + 1], bytes[head], base, count, BASE);
  }
}

export async function compileColumnText(): Promise<ColumnTextKernel> {
  return new ColumnTextKernel(await compileModule('column-text.ts'));
}
