/**
 * Reads the sections of split lines (docs/dev/format.md#47-split-lines). Each is unpacked on its own, so a reader of some columns unpacks
 * the sections that contain them.
 */
import { MAX_JOINED_BYTES } from '../../base/kernels/line-memory.ts';
import { CorruptionError, messageOf } from '../../base/model/errors.ts';
import { ByteReader } from '../codec/byte-io.ts';
import { ZstdDecoder } from '../codec/zstd-decoder.ts';
import type { FrameBlock } from '../columns/split-frame.ts';
import type { ColumnMeta } from './format.ts';

/** Maximum number of sections that a reader accepts. */
export const MAX_SECTIONS = 1026;

const DECODER = new ZstdDecoder();

/** Parts of split lines in separate blocks. */
export interface SplitParts extends FrameBlock {
  /** Fields, in the order of `columns`. */
  readonly fields: readonly ColumnMeta[];
  /** Unpacks a field's block, into `into` if that is possible. Throws CorruptionError. */
  unpack(field: ColumnMeta, into: Buffer): Buffer;
}

/** A part of a split in separate blocks: a column of a field, or several other columns. */
interface Part {
  /** Offset in the split. */
  readonly start: number;
  end: number;
  readonly field: ColumnMeta | undefined;
}

interface Section {
  /** Size when unpacked. */
  readonly raw: number;
  readonly packed: Buffer;
  readonly isRaw: boolean;
}

/** Bytes that are unpacked at once. */
interface Piece {
  /** Offset in the split. */
  readonly start: number;
  readonly end: number;
  /** Section, or field with a separate block. */
  readonly source: Section | ColumnMeta;
  isUnpacked: boolean;
}

export class SplitSections {
  /** Size of frame and columns. */
  readonly bytes: number;
  readonly #parts: SplitParts | undefined;
  readonly #pieces: readonly Piece[];
  readonly #what: string;

  /**
   * Throws CorruptionError.
   * @param block Block that `packSplit` created
   * @param parts Parts in separate blocks, if the page has any
   */
  constructor(block: Buffer, parts: SplitParts | undefined, what: string) {
    this.#what = what;
    this.#parts = parts;
    const sections = this.#readSections(block);
    const total = sections.reduce((sum, { raw }) => sum + raw, 0);
    const layout = parts === undefined ? [{ start: 0, end: total, field: undefined }] : partsOf(parts, what);
    this.bytes = layout.at(-1)?.end ?? parts!.frame.bytes;
    this.#check(this.bytes <= MAX_JOINED_BYTES, 'is too large');
    this.#pieces = this.#piecesOf(layout, sections);
  }

  /**
   * Unpacks the sections that contain a range of the split, unless they are unpacked. Throws CorruptionError.
   * @param into Memory of the whole split, the same at each call
   */
  unpack(into: Buffer, from: number, end: number): void {
    const frame = this.#parts;
    if (frame !== undefined && from < frame.frame.bytes) frame.raw.copy(into, 0, 0, frame.frame.bytes);
    for (const piece of this.#pieces) {
      if (piece.isUnpacked || piece.end <= from || piece.start >= end) continue;
      piece.isUnpacked = true;
      const target = into.subarray(piece.start, piece.end);
      const unpacked = this.#unpacked(piece.source, target);
      this.#check(
        unpacked.length === target.length,
        `has ${unpacked.length} bytes in a section of ${target.length}`,
      );
      // They were unpacked elsewhere.
      if (unpacked.buffer !== target.buffer) unpacked.copy(target);
    }
  }

  #readSections(block: Buffer): Section[] {
    const reader = new ByteReader(block);
    const count = reader.count(2);
    this.#check(count <= MAX_SECTIONS, 'is too large');
    const sections: Section[] = [];
    let total = 0;
    for (let i = 0; i < count; i++) {
      const raw = reader.varint();
      const packed = reader.varint();
      total += raw;
      this.#check(total <= MAX_JOINED_BYTES, 'is too large');
      sections.push({ raw, packed: reader.bytes(packed === 0 ? raw : packed), isRaw: packed === 0 });
    }
    this.#check(reader.remaining === 0, 'has bytes after its last section');
    return sections;
  }

  /** Returns what is unpacked at once: the columns of fields, and the sections between them. */
  #piecesOf(layout: readonly Part[], sections: readonly Section[]): Piece[] {
    const pieces: Piece[] = [];
    let next = 0;
    for (const { start, end, field } of layout) {
      if (field !== undefined) {
        this.#check(field.block.rawBytes === end - start, 'has a column of another size');
        pieces.push({ start, end, source: field, isUnpacked: false });
        continue;
      }
      for (let at = start; at < end; next++) {
        this.#check(next < sections.length, 'lacks a section');
        const source = sections[next];
        this.#check(at + source.raw <= end, 'has a section that is not within columns');
        pieces.push({ start: at, end: at + source.raw, source, isUnpacked: false });
        at += source.raw;
      }
    }
    this.#check(next === sections.length, 'has bytes after its last column');
    return pieces;
  }

  #unpacked(source: Section | ColumnMeta, target: Buffer): Buffer {
    if (!('packed' in source)) return this.#parts!.unpack(source, target);
    if (source.isRaw) return source.packed;
    try {
      return DECODER.unpack(source.packed, target.length, target);
    } catch (error) {
      throw new CorruptionError(`${this.#what}: ${messageOf(error)}`);
    }
  }

  #check(condition: boolean, message: string): asserts condition {
    if (!condition) throw new CorruptionError(`${this.#what} ${message}`);
  }
}

/** Returns the parts of the columns by their offsets. */
function partsOf({ frame, columns, fields }: SplitParts, what: string): Part[] {
  const fieldOf = new Array<ColumnMeta | undefined>(frame.columns).fill(undefined);
  for (let i = 0; i < columns.length; i++) {
    if (fieldOf[columns[i]] !== undefined) throw new CorruptionError(`${what} has a column twice`);
    fieldOf[columns[i]] = fields[i];
  }
  const parts: Part[] = [];
  let last: Part | undefined;
  let at = frame.bytes;
  for (let column = 0; column < frame.columns; column++) {
    const end = at + frame.bytesOf(column);
    const field = fieldOf[column];
    if (last !== undefined && field === undefined && last.field === undefined) last.end = end;
    else if (end > at || field !== undefined) {
      last = { start: at, end, field };
      parts.push(last);
    }
    at = end;
  }
  return parts;
}
