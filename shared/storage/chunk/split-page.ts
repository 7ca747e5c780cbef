/**
 * Lines of a page as templates and columns (docs/dev/decisions/0009-templates-and-columns.md; docs/dev/format.md#47-split-lines). The bytes are divided
 * into sections that are compressed separately, because each column has a different statistical distribution.
 * IDs are noise that does not compress.
 */
import { type RowTimes, SplitPage } from '../../base/kernels/join-lines.ts';
import { MAX_JOINED_BYTES } from '../../base/kernels/line-memory.ts';
import { HEAD_BYTES, mapTemplates } from '../../base/kernels/row-classes.ts';
import { type SplitLines, splitLines } from '../../base/kernels/split-lines.ts';
import type { BytePattern } from '../../base/model/byte-pattern.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import type { LineTemplate, LineValues } from '../../base/model/page.ts';
import { copyOfStoredBytes, returnIfPooled, takeStoredBytes } from '../../base/model/stored-bytes.ts';
import { writeVarint } from '../codec/byte-io.ts';
import {
  CODEC_RAW,
  type Compression,
  QUICK_COMPRESSION,
  type StoredBlock,
  storeAtOnce,
  storeBlock,
  storeBlockSync,
  TEXT_COMPRESSION,
} from '../codec/compression.ts';
import { MAX_SYNC_BYTES } from '../codec/zstd-sync-encoder.ts';
import { SPLIT_CLOCK, SPLIT_NUMBERED, SPLIT_TEXT, SplitFrame } from '../columns/split-frame.ts';
import { partEnds } from './plane-ends.ts';
import { MAX_SECTIONS, type SplitParts, SplitSections } from './split-sections.ts';

/** Maximum size of a length of a section. */
const MAX_VARINT_BYTES = 8;
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
 * Maximum size of a split relative to lines compressed with QUICK_COMPRESSION. Plain lines of merges are 10 to
 * 20% smaller than those. Compressing them as a merge would for the comparison would take five times as long.
 */
const SMALLER = 0.85;
/** Minimum size of a column for a separate section, bytes. A column of 1 KiB saves more than a section's table and head take. */
const OWN_SECTION_BYTES = 1024;
/** With as many sections, no further column has a separate one. The others are for the columns between fields. */
const ENOUGH_SECTIONS = MAX_SECTIONS / 2;

/** @param offsets `rows + 1` line offsets */
interface LinesToSplit {
  readonly lines: Buffer;
  readonly offsets: Uint32Array;
  readonly rows: number;
  /** Time of day of each row, ns. */
  readonly times?: Float64Array | undefined;
}

/** Split lines of a page, valid until the next page is split. */
interface PageSplit {
  readonly split: SplitLines;
  readonly rows: number;
  /** Whether the page has split lines without a comparison with plain ones. */
  readonly isSure: boolean;
}

/** Splits lines. Returns undefined if plain lines are better. */
export function trySplit({ lines, offsets, rows, times }: LinesToSplit): PageSplit | undefined {
  if (lines.length < MIN_SPLIT_BYTES) return undefined;
  const split = splitLines({ lines, lineOffsets: offsets, rows, times });
  if (split === undefined) return undefined;
  const share = (split.frame.length + split.columns.length) / lines.length;
  return share < MAX_SPLIT_SHARE ? { split, rows, isSure: share <= SURE_SHARE } : undefined;
}

interface SplitPart {
  readonly bytes: Uint8Array;
  /** Offsets at which the statistics of the bytes change. */
  readonly ends: readonly number[];
  /** Whether most of the bytes are text. */
  readonly isText?: boolean | undefined;
}

/** Parts of split lines: those of one block, and those in blocks of their fields. */
export interface CutSplit {
  /**
   * Sections of the block of the lines, from the frame on if no field has a block. Pass them to `packSplit` before the next
   * page is split.
   */
  readonly sections: readonly SplitPart[];
  readonly frame: Buffer;
  /** Columns in separate blocks. */
  readonly columns: ReadonlyMap<number, SplitPart>;
  readonly isSure: boolean;
  /** Whether lines show the times of their rows, which are then needed to join them. */
  readonly isTimed: boolean;
}

/**
 * Copies the parts that are compressed while the next page is split. Sections stay in the kernel's memory.
 * @param apart Columns with a separate block, if the frame has one too
 */
export function cutSplit(
  { split, rows, isSure }: PageSplit,
  apart: ReadonlySet<number> | undefined,
): CutSplit {
  const { columns } = split;
  const frame = Buffer.from(split.frame);
  const layout = new SplitFrame(frame, rows, 'a page');
  const own = new Map<number, SplitPart>();
  const sections: SplitPart[] = apart === undefined ? [{ bytes: frame, ends: [], isText: true }] : [];
  let from = 0;
  let at = 0;
  let isTimed = false;
  const cut = (end: number, { ends, isText }: Omit<SplitPart, 'bytes'> = { ends: [] }) => {
    if (end > from) sections.push({ bytes: columns.subarray(from, end), ends, isText });
    from = end;
  };
  for (let column = 0; column < layout.columns; column++) {
    const end = at + layout.bytesOf(column);
    isTimed ||= layout.typeOf(column) === SPLIT_CLOCK;
    if (apart?.has(column)) {
      cut(at);
      const bytes = copyOfStoredBytes(columns.subarray(at, end));
      own.set(column, { bytes, ends: partEnds(layout.recordOf(column), bytes) });
      from = end;
    } else if (end - at > OWN_SECTION_BYTES && sections.length < ENOUGH_SECTIONS) {
      cut(at);
      const record = layout.recordOf(column);
      const isText = record.type === SPLIT_TEXT || record.type === SPLIT_NUMBERED;
      cut(end, { ends: partEnds(record, columns.subarray(at, end)), isText });
    }
    at = end;
  }
  cut(at);
  return { sections, frame, columns: own, isSure, isTimed };
}

/**
 * Returns the block of the lines, or undefined if plain lines are better. When this returns the promise, the sections are
 * compressed or copied.
 */
export async function packSplit(
  { sections, isSure }: CutSplit,
  lines: Buffer,
  compression: Compression,
): Promise<Buffer | undefined> {
  const packed = await packSections(sections, compression);
  if (isSure) return packed;
  const plain = await storeBlock(lines, QUICK_COMPRESSION);
  if (plain.bytes !== lines) returnIfPooled(plain.bytes);
  return packed.length < SMALLER * plain.bytes.length ? packed : undefined;
}

async function packSections(sections: readonly SplitPart[], compression: Compression): Promise<Buffer> {
  const blocks = await Promise.all(sections.map(section => storeSection(section, compression)));
  const packed = takeStoredBytes(
    blocks.reduce((sum, { bytes }) => sum + bytes.length + 2 * MAX_VARINT_BYTES, MAX_VARINT_BYTES),
  );
  let at = writeVarint(packed, 0, blocks.length);
  for (const { codec, rawBytes, bytes } of blocks) {
    at = writeVarint(packed, at, rawBytes);
    at = writeVarint(packed, at, codec === CODEC_RAW ? 0 : bytes.length);
    packed.set(bytes, at);
    at += bytes.length;
    returnIfPooled(bytes);
  }
  return packed.subarray(0, at);
}

/** Compresses a section, or copies it for the thread pool or because it does not become smaller. */
function storeSection(
  { bytes, ends, isText }: SplitPart,
  compression: Compression,
): StoredBlock | Promise<StoredBlock> {
  const stored =
    isText && bytes.length < MAX_SYNC_BYTES
      ? storeBlockSync(bytes, TEXT_COMPRESSION, ends)
      : storeAtOnce(bytes, compression, false, ends);
  if (stored === undefined) return storeBlock(Buffer.from(bytes), compression);
  return stored.codec === CODEC_RAW ? { ...stored, bytes: copyOfStoredBytes(stored.bytes) } : stored;
}

const NO_BYTES = Buffer.alloc(0);
/** Frame and columns of the latest page. */
let columnSpace = NO_BYTES;
/** Values of the latest page. A new buffer for each page would cost more to collect than to fill. */
let valueSpace = NO_BYTES;

/** Line offsets, and their number. */
interface LinesToJoin {
  readonly offsets: Uint32Array;
  readonly rows: number;
  /** Parts in separate blocks, if the page has any. */
  readonly parts?: SplitParts | undefined;
  /** Times of the rows, if lines show them. */
  readonly times?: RowTimes | undefined;
}

/**
 * Writes the lines of a block that `packSplit` created. Throws CorruptionError.
 * @param into Target of exactly the size of the lines, preferably in line memory
 */
export function joinPage(bytes: Buffer, toJoin: LinesToJoin, into: Buffer, what: string): void {
  const page = openPage(bytes, toJoin, into, what);
  check(page.join(toJoin.offsets), what, 'does not give the lines of its page');
}

/** Frame and columns of a page, without its lines. */
interface PageSplitColumns {
  readonly frame: SplitFrame;
  /** Returns the bytes of a column, valid until the columns of another page are opened. Throws CorruptionError. */
  bytesOf(column: number): Buffer;
}

/** Opens the columns of a block that `packSplit` created. Each is unpacked when it is requested. Throws CorruptionError. */
export function openColumns(
  block: Buffer,
  rows: number,
  parts: SplitParts | undefined,
  what: string,
): PageSplitColumns {
  const sections = new SplitSections(block, parts, what);
  if (columnSpace.length < sections.bytes) columnSpace = Buffer.allocUnsafeSlow(sections.bytes);
  const split = columnSpace.subarray(0, sections.bytes);
  sections.unpack(split, 0, HEAD_BYTES);
  const frame = new SplitFrame(split, rows, what);
  sections.unpack(split, 0, frame.bytes);
  const ends = new Uint32Array(frame.columns + 1);
  ends[0] = frame.bytes;
  for (let column = 0; column < frame.columns; column++)
    ends[column + 1] = ends[column] + frame.bytesOf(column);
  check(ends[frame.columns] === split.length, what, 'has columns of another size');
  const bytesOf = (column: number) => {
    sections.unpack(split, ends[column], ends[column + 1]);
    return split.subarray(ends[column], ends[column + 1]);
  };
  return { frame, bytesOf };
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
  toJoin: LinesToJoin,
  into: Buffer,
  what: string,
  { selection, count, patterns }: SelectedRows,
): number {
  const page = openPage(bytes, toJoin, into, what);
  const { marks } = page;
  let left = count;
  if (patterns.length > 0 && page.markRows(patterns)) {
    left = 0;
    for (let i = 0; i < count; i++) if (marks[selection[i]] !== 0) selection[left++] = selection[i];
  }
  if (left === 0) return 0;
  marks.fill(0);
  for (let i = 0; i < left; i++) marks[selection[i]] = 1;
  check(page.join(toJoin.offsets, true), what, 'does not give the lines of its page');
  return left;
}

/**
 * Returns the values of the lines of some rows, valid until those of another page are joined. Throws CorruptionError.
 * @param space Memory of exactly the size of the lines, preferably in line memory
 */
export function joinValues(
  bytes: Buffer,
  toJoin: LinesToJoin,
  space: Buffer,
  what: string,
  { selection, count }: Pick<SelectedRows, 'selection' | 'count'>,
): LineValues {
  let raw = NO_BYTES;
  const page = openPage(bytes, toJoin, space, what, split => {
    const frame = new SplitFrame(split, toJoin.rows, what);
    raw = Buffer.from(split.subarray(0, frame.bytes));
    split.fill(0, frame.text.start, frame.text.end);
  });
  const { marks } = page;
  marks.fill(0);
  for (let i = 0; i < count; i++) marks[selection[i]] = 1;
  check(page.join(toJoin.offsets, true), what, 'does not give the lines of its page');
  const offsets = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    const row = selection[i];
    offsets[i + 1] = offsets[i] + toJoin.offsets[row + 1] - toJoin.offsets[row];
  }
  if (valueSpace.length < offsets[count]) valueSpace = Buffer.allocUnsafeSlow(offsets[count]);
  const values = valueSpace.subarray(0, offsets[count]);
  for (let i = 0; i < count; i++)
    space.copy(values, offsets[i], toJoin.offsets[selection[i]], toJoin.offsets[selection[i] + 1]);
  const templates: LineTemplate[] = [];
  mapTemplates(
    raw,
    () => true,
    template => templates.push(template),
  );
  return { bytes: values, offsets, templateOf: new SplitFrame(raw, toJoin.rows, what).templateOf, templates };
}

/**
 * Unpacks frame and columns into the memory next to the lines.
 * @param change Changes them before the kernel reads them
 */
function openPage(
  bytes: Buffer,
  { rows, parts, times }: Omit<LinesToJoin, 'offsets'>,
  into: Buffer,
  what: string,
  change?: (split: Buffer) => void,
): SplitPage {
  const sections = new SplitSections(bytes, parts, what);
  check(into.length <= MAX_JOINED_BYTES, what, 'is too large');
  const page = new SplitPage(sections.bytes, into);
  sections.unpack(page.bytes, 0, sections.bytes);
  change?.(page.bytes);
  check(page.open(rows, times), what, 'is not a page of split lines');
  return page;
}

function check(condition: boolean, what: string, message: string): asserts condition {
  if (!condition) throw new CorruptionError(`${what} ${message}`);
}
