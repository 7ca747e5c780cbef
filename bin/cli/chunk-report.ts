/**
 * Reports the contents of a chunk through the program's own reader and verifies them: the checksum of each
 * column and section, and that each page decodes. A corrupt one is reported next to the intact ones. A corrupt footer
 * leaves nothing to report.
 */

import { CorruptionError, invariant, messageOf } from '../../shared/base/model/errors.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import {
  ColumnKind,
  type ColumnMeta,
  type Footer,
  type PageMeta,
  type SectionMeta,
  TRAILER_BYTES,
} from '../../shared/storage/chunk/format.ts';
import { decodePage, footerOf, type PageWants } from '../../shared/storage/chunk/reader.ts';
import { SCALES } from '../../shared/storage/chunk/time-column.ts';
import { CODEC_RAW, CODEC_ZSTD, loadBlock } from '../../shared/storage/codec/compression.ts';
import { CommandError } from './command-error.ts';
import { nanosecondText } from './time-text.ts';

export interface ColumnReport {
  readonly kind: string;
  readonly name: string;
  readonly codec: string;
  readonly storedBytes: number;
  readonly rawBytes: number;
  /** Number of dictionary values, if the footer stores the dictionary. */
  readonly dictionaryValues: number | undefined;
  readonly constant: boolean;
  /** Problem of the column's bytes; undefined if checksum and length are correct. */
  readonly broken: string | undefined;
}

interface RunReport {
  readonly stream: number;
  readonly firstRow: number;
  readonly rows: number;
  readonly first: string;
  readonly last: string;
  readonly lineBytes: number;
}

export interface PageReport {
  readonly offset: number;
  readonly storedBytes: number;
  readonly rows: number;
  readonly lineBytes: number;
  /** Unit of the stored timestamps, ns. */
  readonly timeUnitNs: number | undefined;
  readonly runs: readonly RunReport[];
  readonly columns: readonly ColumnReport[];
  readonly broken: string | undefined;
}

export interface SectionReport {
  readonly kind: number;
  readonly storedBytes: number;
  /** Problem of the section's bytes; undefined if checksum and length are correct. */
  readonly broken: string | undefined;
}

export interface LevelReport {
  /** Value of detected_level; empty for entries that have none. */
  readonly level: string;
  readonly entries: number;
  readonly lineBytes: number;
  readonly metadataBytes: number;
}

export interface ChunkReport {
  readonly version: number;
  readonly id: string;
  readonly tenant: string;
  /** UTC day, for example `2025-11-20`. */
  readonly day: string;
  readonly level: number;
  readonly created: string;
  readonly inputs: readonly string[];
  readonly rows: number;
  readonly lineBytes: number;
  readonly metadataBytes: number;
  readonly objectBytes: number;
  readonly first: string;
  readonly last: string;
  readonly streams: readonly string[];
  readonly pages: readonly PageReport[];
  readonly levels: readonly LevelReport[];
  readonly sections: readonly SectionReport[];
}

const KIND_NAMES = new Map<number, string>(Object.entries(ColumnKind).map(([name, kind]) => [kind, name]));
const CODEC_NAMES = new Map([
  [CODEC_RAW, 'raw'],
  [CODEC_ZSTD, 'zstd'],
]);
const EVERYTHING: PageWants = { lines: 'bytes', metadata: 'all' };

/** Reads and verifies an object. Throws CorruptionError if it is not a chunk or its footer is corrupt. */
export function reportChunk(object: Buffer, what: string): ChunkReport {
  const footer = footerOf(object, what);
  const time = timeTextOf(footer);
  const { version, id, tenant, day, level, createdMs, inputs, rows, lineBytes, metadataBytes } = footer;
  return {
    version,
    id,
    tenant,
    day: nanosecondText(BigInt(day) * NS_PER_DAY).slice(0, 'yyyy-mm-dd'.length),
    level,
    created: new Date(createdMs).toISOString(),
    inputs,
    rows,
    lineBytes,
    metadataBytes,
    objectBytes: object.length,
    first: time(footer.first),
    last: time(footer.last),
    streams: footer.streams.map(stream => stream.text),
    pages: footer.pages.map((page, i) => reportPage(object, footer, page, `${what}: page ${i}`)),
    levels: sumLevels(footer),
    sections: footer.sections.map(section => reportSection(object, section, what)),
  };
}

/** First problem of the pages and sections, or undefined. */
export function firstBroken({ pages, sections }: ChunkReport): string | undefined {
  for (const page of pages) {
    const broken = page.columns.find(column => column.broken !== undefined)?.broken ?? page.broken;
    if (broken !== undefined) return broken;
  }
  return sections.find(({ broken }) => broken !== undefined)?.broken;
}

/** Rows of a page. Throws CorruptionError, or CommandError if the page does not exist. */
export function rowsOfPage(object: Buffer, number: number, what: string): PageRows {
  const footer = footerOf(object, what);
  const page = footer.pages[number];
  if (page === undefined) {
    throw new CommandError(
      `${what} has ${footer.pages.length} pages, counted from 0; page ${number} does not exist`,
    );
  }
  return decodePage(footer, page, bytesOfPage(object, page, what), EVERYTHING, `${what}: page ${number}`);
}

function bytesOfPage(object: Buffer, { offset, storedBytes }: PageMeta, what: string): Buffer {
  const end = offset + storedBytes;
  if (end > object.length - TRAILER_BYTES) {
    throw new CorruptionError(`${what}: ends at byte ${end}, but the object has ${object.length} bytes`);
  }
  return object.subarray(offset, end);
}

function reportPage(object: Buffer, footer: Footer, page: PageMeta, what: string): PageReport {
  const time = timeTextOf(footer);
  const { offset, storedBytes, rows, lineBytes, scale, runs, columns } = page;
  const broken = problemOf(() => {
    const stored = bytesOfPage(object, page, what);
    readWhole(decodePage(footer, page, stored, EVERYTHING, what));
  });
  return {
    offset,
    storedBytes,
    rows,
    lineBytes,
    timeUnitNs: SCALES[scale],
    runs: runs.map(({ first, last, ...run }) => ({ ...run, first: time(first), last: time(last) })),
    columns: columns.map(column => reportColumn(object, page, column, what)),
    broken,
  };
}

/** Decodes every column. Columns decode lazily and may throw CorruptionError only then. */
function readWhole({ times, lineOffsets, lines, metadata, rows }: PageRows): void {
  const lengths = [times.length, lineOffsets.length - 1, ...metadata.map(({ ids }) => ids.length)];
  invariant(
    lengths.every(length => length === rows) && lineOffsets[rows] === lines.length,
    'the columns of a page have its rows',
  );
  for (const column of metadata) for (let i = 0; i < column.count; i++) column.valueAt(i);
}

function reportColumn(
  object: Buffer,
  page: PageMeta,
  { kind, name, block, dictionary, constant }: ColumnMeta,
  what: string,
): ColumnReport {
  const { offset, storedBytes, rawBytes, codec } = block;
  const kindName = KIND_NAMES.get(kind) ?? `unknown (${kind})`;
  const broken = problemOf(() => {
    const stored = bytesOfPage(object, page, what).subarray(offset, offset + storedBytes);
    loadBlock(stored, block, `${what}: column ${kindName} ${name}`.trimEnd());
  });
  return {
    kind: kindName,
    name,
    codec: CODEC_NAMES.get(codec) ?? `unknown (${codec})`,
    storedBytes,
    rawBytes,
    dictionaryValues: dictionary?.length,
    constant,
    broken,
  };
}

function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof CorruptionError) return messageOf(error);
    throw error;
  }
}

function reportSection(object: Buffer, { kind, block }: SectionMeta, what: string): SectionReport {
  const { offset, storedBytes } = block;
  const broken = problemOf(() => {
    loadBlock(object.subarray(offset, offset + storedBytes), block, `${what}: section of kind ${kind}`);
  });
  return { kind, storedBytes, broken };
}

function sumLevels({ levels, counts }: Footer): LevelReport[] {
  const sums = levels.map(level => ({ level, entries: 0, lineBytes: 0, metadataBytes: 0 }));
  for (const ofStream of counts) {
    for (const { level, entries, lineBytes, metadataBytes } of ofStream) {
      const sum = sums[level];
      for (let i = 0; i < entries.length; i++) {
        sum.entries += entries[i];
        sum.lineBytes += lineBytes[i];
        sum.metadataBytes += metadataBytes[i];
      }
    }
  }
  return sums.filter(({ entries }) => entries > 0);
}

function timeTextOf({ day }: Footer): (timeOfDay: number) => string {
  const dayStart = BigInt(day) * NS_PER_DAY;
  return timeOfDay => nanosecondText(dayStart + BigInt(timeOfDay));
}
