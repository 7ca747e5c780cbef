/** Footers and pages from their bytes. Where the bytes come from is the caller's: an object, a record, a cache. */

import { NS_PER_DAY } from '../model/duration.ts';
import { CorruptionError } from '../model/errors.ts';
import type { MetadataColumn, PageRows } from '../model/page.ts';
import { loadBlock } from './compression.ts';
import { decodeFooter, footerLength } from './footer-codec.ts';
import { ColumnKind, type ColumnMeta, type Footer, type PageMeta, TRAILER_BYTES } from './format.ts';
import { decodeOffsets } from './length-column.ts';
import { decodeMetadata } from './metadata-column.ts';
import { decodeTimes } from './time-column.ts';

/** What of a page is wanted; the rest is neither read nor unpacked. */
export interface PageWants {
  /** `lengths` gives offsets without bytes (bytes_over_time needs no more). */
  readonly lines: 'none' | 'lengths' | 'bytes';
  readonly metadata: 'all' | ReadonlySet<string>;
}

/** The footer of an object held whole. */
export function footerOf(object: Buffer, what: string): Footer {
  const length = footerLength(object, object.length, what);
  const end = object.length - TRAILER_BYTES;
  return decodeFooter(object.subarray(end - length, end), what);
}

/** Bytes from the start of the page that hold everything wanted. */
export function wantedBytes(page: PageMeta, wants: PageWants): number {
  let end = 0;
  for (const column of page.columns) {
    if (isWanted(column, wants)) end = Math.max(end, column.place.offset + column.place.storedBytes);
  }
  return end;
}

function isWanted(column: ColumnMeta, wants: PageWants): boolean {
  switch (column.kind) {
    case ColumnKind.times:
    case ColumnKind.lowTimes:
      return true;
    case ColumnKind.metadata:
      return wants.metadata === 'all' || wants.metadata.has(column.name);
    case ColumnKind.lengths:
      return wants.lines !== 'none';
    case ColumnKind.lines:
      return wants.lines === 'bytes';
    default:
      return false;
  }
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Decodes a page. `stored` starts at the page's offset and holds at least `wantedBytes`. Without lines, `lines` is
 * empty; without lengths too, all line offsets are 0. Throws CorruptionError.
 */
export function decodePage(
  footer: Footer,
  page: PageMeta,
  stored: Buffer,
  wants: PageWants,
  what: string,
): PageRows {
  const load = (column: ColumnMeta) => {
    const { offset, storedBytes } = column.place;
    return loadBlock(
      stored.subarray(offset, offset + storedBytes),
      column.place,
      `${what}: column ${column.name}`,
    );
  };
  let high: Buffer | undefined;
  let low: Buffer = NO_BYTES;
  let lineOffsets: Uint32Array | undefined;
  let lines: Buffer = NO_BYTES;
  const metadata: MetadataColumn[] = [];
  for (const column of page.columns) {
    if (!isWanted(column, wants)) continue;
    if (column.kind === ColumnKind.times) high = load(column);
    else if (column.kind === ColumnKind.lowTimes) low = load(column);
    else if (column.kind === ColumnKind.metadata) {
      const payload = column.constant ? NO_BYTES : load(column);
      const { name, dictionary, constant } = column;
      metadata.push(decodeMetadata(name, payload, page.rows, dictionary, constant, what));
    } else if (column.kind === ColumnKind.lengths) {
      lineOffsets = decodeOffsets(load(column), page.rows, page.lineBytes, what);
    } else lines = load(column);
  }
  if (high === undefined || (wants.lines !== 'none' && lineOffsets === undefined)) {
    throw new CorruptionError(`${what}: the page at ${page.offset} lacks a column`);
  }
  if (wants.lines === 'bytes' && lines.length !== page.lineBytes) {
    throw new CorruptionError(`${what}: ${lines.length} line bytes where ${page.lineBytes} are stored`);
  }
  const firstRows = page.runs.map(run => run.firstRow);
  return {
    rows: page.rows,
    baseNs: BigInt(footer.day) * NS_PER_DAY + BigInt(page.base),
    times: decodeTimes({ high, low, scale: page.scale }, page.rows, firstRows, what),
    lines,
    lineOffsets: lineOffsets ?? new Uint32Array(page.rows + 1),
    runs: page.runs.map(run => ({
      stream: footer.streams[run.stream],
      firstRow: run.firstRow,
      rows: run.rows,
    })),
    metadata,
  };
}
