/**
 * Checks one chunk against its record: size, footer, and every column of every page. A reader verifies a
 * column's checksum when it decompresses it. This module also verifies what no checksum covers: that columns
 * and runs fit together.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CorruptionError } from '../../base/model/errors.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { nameOfChunk, readChunk, readFooter } from '../../storage/catalog/chunk-object.ts';
import { type ChunkRecord, streamPartOf } from '../../storage/catalog/chunk-record.ts';
import { partBits, partOfStream } from '../../storage/catalog/stream-part.ts';
import { footerLength } from '../../storage/chunk/footer-codec.ts';
import {
  ColumnKind,
  type Footer,
  type PageMeta,
  type SectionMeta,
  TRAILER_BYTES,
} from '../../storage/chunk/format.ts';
import { columnsOf, decodePage } from '../../storage/chunk/reader.ts';
import { loadBlock } from '../../storage/codec/compression.ts';
import { decodeColumn } from '../../storage/columns/column-decoder.ts';
import { checkSectionContent } from './check-section.ts';
import type { ProblemKind } from './problem.ts';

/** Footer and record contradict each other. */
export class MismatchError extends Error {
  readonly kind: ProblemKind = 'mismatch';
}

interface ChunkCheck {
  /** Size of the object; `undefined` if the chunk is inline. */
  readonly objectBytes: number | undefined;
  /** Also decompress all pages. */
  readonly full: boolean;
}

/** Throws the errors of the store, CorruptionError and MismatchError. */
export async function checkChunk(
  store: ObjectStore,
  record: ChunkRecord,
  { objectBytes, full }: ChunkCheck,
): Promise<void> {
  const storedBytes = objectBytes ?? record.inline?.length;
  if (storedBytes !== record.storedBytes) {
    throw new MismatchError(`object has ${storedBytes} bytes, its record says ${record.storedBytes}`);
  }
  // Readers know the length from the record, but rebuilding the catalog needs the trailer.
  const trailer = await readChunk(store, record, storedBytes - TRAILER_BYTES, storedBytes);
  const footerBytes = footerLength(trailer, storedBytes, nameOfChunk(record)) + TRAILER_BYTES;
  if (footerBytes !== record.footerBytes) {
    throw new MismatchError(`record has footerBytes ${record.footerBytes}, trailer has ${footerBytes}`);
  }
  // Checks the footer of the object and the copy that a record may hold, because both must be valid.
  const footer = await readFooter(store, { ...record, footer: undefined });
  if (record.footer !== undefined) await readFooter(store, record);
  checkFooter(record, footer);
  if (!full) return;
  for (const page of footer.pages) {
    await checkPage(store, record, footer, page);
    await nextTurn();
  }
  for (const section of footer.sections) await checkSection(store, record, footer, section);
}

/**
 * Queries work without a broken section, but lose its savings, and the object differs from what was written.
 */
async function checkSection(
  store: ObjectStore,
  record: ChunkRecord,
  { pages }: Footer,
  { kind, block }: SectionMeta,
): Promise<void> {
  const what = `${nameOfChunk(record)}: section of kind ${kind}`;
  const stored = await readChunk(store, record, block.offset, block.offset + block.storedBytes);
  checkSectionContent(kind, loadBlock(stored, block, what), pages, what);
}

function checkFooter(record: ChunkRecord, footer: Footer): void {
  for (const field of ['origin', 'level', 'first', 'last', 'rows', 'lineBytes', 'metadataBytes'] as const) {
    if (footer[field] !== record[field]) {
      throw new MismatchError(`record has ${field} ${record[field]}, footer has ${footer[field]}`);
    }
  }
  const streamPart = streamPartOf(record);
  const other = footer.streams.find(stream => partOfStream(stream, partBits(streamPart)) !== streamPart);
  if (other !== undefined) {
    throw new MismatchError(`record has part ${streamPart} of the streams, footer has ${other.text}`);
  }
  const rows = footer.pages.reduce((sum, page) => sum + page.rows, 0);
  if (rows !== footer.rows) throw new MismatchError(`pages have ${rows} rows, footer has ${footer.rows}`);
  let counted = 0;
  for (const ofStream of footer.counts) {
    for (const { entries } of ofStream) for (const count of entries) counted += count;
  }
  if (counted !== footer.rows)
    throw new MismatchError(`counts have ${counted} rows, footer has ${footer.rows}`);
}

async function checkPage(
  store: ObjectStore,
  record: ChunkRecord,
  footer: Footer,
  page: PageMeta,
): Promise<void> {
  const what = nameOfChunk(record);
  const stored = await readChunk(store, record, page.offset, page.offset + page.storedBytes);
  const rows = decodePage(footer, page, stored, { lines: 'bytes', metadata: 'all' }, what);
  const columns = columnsOf(rows);
  for (const meta of columns.page.columns) {
    const { kind, name, block } = meta;
    if (kind === ColumnKind.splitField && columns.field(meta) === undefined)
      throw new CorruptionError(`${what}: field column ${JSON.stringify(name)} is damaged`);
    if (kind !== ColumnKind.field && kind !== ColumnKind.residuals) continue;
    const column =
      kind === ColumnKind.residuals
        ? `${what}: residual fields`
        : `${what}: field column ${JSON.stringify(name)}`;
    const bytes = stored.subarray(block.offset, block.offset + block.storedBytes);
    decodeColumn(loadBlock(bytes, block, column), page.rows, column);
  }
  const damage = damageOfPage(page, rows);
  if (damage !== undefined) throw new CorruptionError(`${what}: page at offset ${page.offset}: ${damage}`);
}

/**
 * Describes columns that do not fit together although every checksum is valid. Columns throw CorruptionError.
 */
function damageOfPage(page: PageMeta, { rows, times, lines, lineOffsets, metadata }: PageRows) {
  if (lineOffsets[rows] !== lines.length) {
    return `line lengths add up to ${lineOffsets[rows]} bytes, lines have ${lines.length}`;
  }
  for (const { name, ids, count } of metadata) {
    for (let row = 0; row < rows; row++)
      if (ids[row] > count) return `metadata ${name} has a value out of range`;
  }
  for (const { firstRow, rows: count, first, last } of page.runs) {
    const end = firstRow + count;
    if (page.base + times[firstRow] !== first || page.base + times[end - 1] !== last) {
      return 'the times of a run differ from its footer';
    }
    for (let row = firstRow + 1; row < end; row++) {
      if (times[row] < times[row - 1]) return 'the times of a run do not ascend';
    }
  }
  return undefined;
}
