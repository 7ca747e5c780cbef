/**
 * Lines of a page as templates and columns (docs/dev/decisions/0009-templates-and-columns.md; docs/dev/format.md#47-split-lines). The bytes are divided
 * into sections that are compressed separately, because each column has a different statistical distribution.
 * IDs are noise that does not compress.
 */
import { SplitPage } from '../../base/kernels/join-lines.ts';
import { MAX_JOINED_BYTES } from '../../base/kernels/line-memory.ts';
import { type SplitLines, splitLines } from '../../base/kernels/split-lines.ts';
import type { BytePattern } from '../../base/model/byte-pattern.ts';
import { CorruptionError, messageOf } from '../../base/model/errors.ts';
import { ByteReader, ByteWriter } from '../codec/byte-io.ts';
import { CODEC_RAW, type Compression, PUSH_COMPRESSION, storeBlock } from '../codec/compression.ts';
import { ZstdDecoder } from '../codec/zstd-decoder.ts';
import type { SplitRecord } from '../columns/split-frame.ts';

/** Minimum size of a split page. In smaller pages, templates cost more than they save. */
const MIN_SPLIT_BYTES = 64 * 1024;
/** Maximum size of a split relative to its lines, both uncompressed; a larger split is abandoned. */
const MAX_SPLIT_SHARE = 0.8;
/**
 * Maximum size of a split, relative to its lines, that is accepted without a comparison; structured lines
 * reach 15 to 35%. Above it, the lines are also compressed for comparison.
 */
const SURE_SHARE = 0.35;
/**
 * Maximum size of a split relative to lines compressed with PUSH_COMPRESSION. Plain lines of merges are 10 to
 * 20% smaller than those. Compressing them as a merge would for the comparison would take five times as long.
 */
const SMALLER = 0.85;
/** Minimum size of a column for a separate section, bytes. */
const OWN_SECTION_BYTES = 4096;
/**
 * Maximum number of sections: the frame, one for each column of more than OWN_SECTION_BYTES, and one for the
 * columns between two of them.
 */
const MAX_SECTIONS = 2 + (2 * MAX_JOINED_BYTES) / OWN_SECTION_BYTES;

// Parts of a frame that this module reads.
const FRAME_HEAD_BYTES = 24;
const RECORD_BYTES = 24;
const BYTES_IN_RECORD = 8;

/** @param offsets `rows + 1` line offsets */
interface LinesToSplit {
  readonly lines: Buffer;
  readonly offsets: Uint32Array;
  readonly rows: number;
}

/** Split lines of a page, valid until the next page is split. */
interface PageSplit {
  readonly split: SplitLines;
  /** Whether the page has split lines without a comparison with plain ones. */
  readonly isSure: boolean;
}

/** Splits lines. Returns undefined if plain lines are better. */
export function trySplit({ lines, offsets, rows }: LinesToSplit): PageSplit | undefined {
  if (lines.length < MIN_SPLIT_BYTES) return undefined;
  const split = splitLines({ lines, lineOffsets: offsets, rows });
  if (split === undefined) return undefined;
  const share = (split.frame.length + split.columns.length) / lines.length;
  return share < MAX_SPLIT_SHARE ? { split, isSure: share <= SURE_SHARE } : undefined;
}

/** Copied parts of split lines: those of one block, and those in blocks of their fields. */
export interface CutSplit {
  /** Sections of the block of the lines, from the frame on if no field has a block. */
  readonly sections: readonly Buffer[];
  readonly frame: Buffer;
  /** Bytes of the columns in separate blocks. */
  readonly columns: ReadonlyMap<number, Buffer>;
  readonly isSure: boolean;
}

/**
 * Copies the parts, because the next page is split while these are compressed.
 * @param apart Columns with a separate block, if the frame has one too
 */
export function cutSplit({ split, isSure }: PageSplit, apart: ReadonlySet<number> | undefined): CutSplit {
  const { frame, columns } = split;
  const head = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const [templates, pieces, textBytes, count] = [0, 4, 8, 12].map(at => head.getUint32(at, true));
  const records = FRAME_HEAD_BYTES + 2 * templates + 4 * pieces + textBytes;
  const own = new Map<number, Buffer>();
  const sections = apart === undefined ? [Buffer.from(frame)] : [];
  let from = 0;
  let at = 0;
  const cut = (end: number) => {
    if (end > from) sections.push(Buffer.from(columns.subarray(from, end)));
    from = end;
  };
  for (let column = 0; column < count; column++) {
    const end = at + head.getUint32(records + RECORD_BYTES * column + BYTES_IN_RECORD, true);
    if (apart?.has(column)) {
      cut(at);
      own.set(column, Buffer.from(columns.subarray(at, end)));
      from = end;
    } else if (end - at > OWN_SECTION_BYTES) {
      cut(at);
      cut(end);
    }
    at = end;
  }
  cut(at);
  return { sections, frame: Buffer.from(frame), columns: own, isSure };
}

/** Bytes before a column in a separate block: its number. */
export const COLUMN_NUMBER_BYTES = 2;

export function numberOfColumn(block: Uint8Array): number {
  return block[0] | (block[1] << 8);
}

/** Returns the block of the lines, or undefined if plain lines are better. */
export async function packSplit(
  { sections, isSure }: CutSplit,
  lines: Buffer,
  compression: Compression,
): Promise<Buffer | undefined> {
  const packed = await packSections(sections, compression);
  if (isSure) return packed;
  const plain = await storeBlock(lines, PUSH_COMPRESSION);
  return packed.length < SMALLER * plain.bytes.length ? packed : undefined;
}

async function packSections(sections: readonly Buffer[], compression: Compression): Promise<Buffer> {
  const blocks = await Promise.all(sections.map(section => storeBlock(section, compression)));
  const writer = new ByteWriter(blocks.reduce((sum, { bytes }) => sum + bytes.length + 8, 8));
  writer.varint(blocks.length);
  for (const { codec, rawBytes, bytes } of blocks) {
    writer.varint(rawBytes);
    writer.varint(codec === CODEC_RAW ? 0 : bytes.length);
    writer.bytes(bytes);
  }
  return writer.finish();
}

const DECODER = new ZstdDecoder();

/** Line offsets, and their number. */
interface LinesToJoin {
  readonly offsets: Uint32Array;
  readonly rows: number;
  /** Parts in separate blocks, if the page has any. */
  readonly parts?: SplitParts | undefined;
}

/** Parts of split lines in separate blocks. */
export interface SplitParts {
  readonly frame: Buffer;
  readonly records: readonly SplitRecord[];
  readonly columns: ReadonlyMap<number, Buffer>;
}

/**
 * Writes the lines of a block that `packSplit` created. Throws CorruptionError.
 * @param into Target of exactly the size of the lines, preferably in line memory
 */
export function joinPage(
  bytes: Buffer,
  { offsets, rows, parts }: LinesToJoin,
  into: Buffer,
  what: string,
): void {
  const page = openPage(bytes, rows, parts, into, what);
  check(page.join(offsets), what, 'does not give the lines of its page');
}

/** Rows of a page, and what their lines must contain. */
export interface SelectedRows {
  /** `selection[0..count)`: ascending rows. */
  readonly selection: Uint32Array;
  readonly count: number;
  /** Patterns of at least 2 bytes: rows whose line contains none of them may be dropped. Empty for all rows. */
  readonly patterns: readonly BytePattern[];
}

/**
 * Works as `joinPage`, but writes the lines of some rows and zeros for the others. Narrows the selection in place to rows that
 * may contain one of the patterns. Returns the new count; with 0, nothing is written.
 */
export function joinSelected(
  bytes: Buffer,
  { offsets, rows, parts }: LinesToJoin,
  into: Buffer,
  what: string,
  { selection, count, patterns }: SelectedRows,
): number {
  const page = openPage(bytes, rows, parts, into, what);
  const { marks } = page;
  let left = count;
  if (patterns.length > 0 && page.markRows(patterns)) {
    left = 0;
    for (let i = 0; i < count; i++) if (marks[selection[i]] !== 0) selection[left++] = selection[i];
  }
  if (left === 0) return 0;
  marks.fill(0);
  for (let i = 0; i < left; i++) marks[selection[i]] = 1;
  check(page.join(offsets, true), what, 'does not give the lines of its page');
  return left;
}

/** Unpacks a column into the memory next to the lines. */
function openPage(
  bytes: Buffer,
  rows: number,
  parts: SplitParts | undefined,
  into: Buffer,
  what: string,
): SplitPage {
  const reader = new ByteReader(bytes);
  const count = reader.count(2);
  check(count <= MAX_SECTIONS && into.length <= MAX_JOINED_BYTES, what, 'is too large');
  const sections: { readonly raw: number; readonly packed: Buffer; readonly isRaw: boolean }[] = [];
  const gaps = parts && gapsOf(parts, what);
  const apart = gaps?.apart ?? 0;
  let total = apart;
  check(total <= MAX_JOINED_BYTES, what, 'is too large');
  for (let i = 0; i < count; i++) {
    const raw = reader.varint();
    const packed = reader.varint();
    total += raw;
    check(total <= MAX_JOINED_BYTES, what, 'is too large');
    sections.push({ raw, packed: reader.bytes(packed === 0 ? raw : packed), isRaw: packed === 0 });
  }
  check(reader.remaining === 0, what, 'has bytes after its last section');
  const page = new SplitPage(total, into);
  if (gaps !== undefined) check(total === gaps.end, what, 'does not have the bytes of its columns');
  for (const { at, bytes: own } of gaps?.parts ?? []) own.copy(page.bytes, at);
  let at = 0;
  let gap = 0;
  for (const { raw, packed, isRaw } of sections) {
    if (gaps !== undefined) {
      if (gap < gaps.gaps.length && at === gaps.gaps[gap].end) gap++;
      const own = gaps.gaps[gap];
      check(own !== undefined, what, 'has bytes after its last column');
      at = Math.max(at, own.start);
      check(at + raw <= own.end, what, 'has a section that is not within columns');
    }
    const target = page.bytes.subarray(at, at + raw);
    const unpacked = isRaw ? packed : unpack(packed, target, what);
    check(unpacked.length === raw, what, `has ${unpacked.length} bytes in a section of ${raw}`);
    if (unpacked.buffer !== target.buffer) unpacked.copy(target);
    at += raw;
  }
  check(page.open(rows), what, 'is not a page of split lines');
  return page;
}

interface SplitLayout {
  /** Parts in separate blocks, and where they belong. */
  readonly parts: readonly { readonly at: number; readonly bytes: Buffer }[];
  /** Ranges of the other columns, ascending. */
  readonly gaps: readonly { readonly start: number; readonly end: number }[];
  /** Bytes of the parts. */
  readonly apart: number;
  readonly end: number;
}

function gapsOf({ frame, records, columns }: SplitParts, what: string): SplitLayout {
  const parts = [{ at: 0, bytes: frame }];
  const gaps: { start: number; end: number }[] = [];
  let apart = frame.length;
  let at = frame.length;
  let found = 0;
  for (const [column, { bytes }] of records.entries()) {
    const own = columns.get(column);
    if (own !== undefined) {
      check(own.length === bytes, what, 'has a column of another size');
      parts.push({ at, bytes: own });
      apart += bytes;
      found++;
    } else if (bytes > 0) {
      const last = gaps.at(-1);
      if (last?.end === at) last.end += bytes;
      else gaps.push({ start: at, end: at + bytes });
    }
    at += bytes;
  }
  check(found === columns.size, what, 'has a column that its frame lacks');
  return { parts, gaps, apart, end: at };
}

function unpack(packed: Buffer, into: Buffer, what: string): Buffer {
  try {
    return DECODER.unpack(packed, into.length, into);
  } catch (error) {
    throw new CorruptionError(`${what}: ${messageOf(error)}`);
  }
}

function check(condition: boolean, what: string, message: string): asserts condition {
  if (!condition) throw new CorruptionError(`${what} ${message}`);
}
