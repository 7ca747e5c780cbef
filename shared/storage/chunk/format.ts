/**
 * The chunk object: one tenant, one UTC day, many streams.
 *
 *     page*  filters  footer  footer-length(u32)  magic(8)
 *
 * docs/dev/format.md describes every byte. The same format serves what one push (or a group of pushes) wrote and what
 * compaction merged, so there is one writer and one reader. All numbers here are part of the format or of what
 * makes it fast; each says which.
 */
import { invariant } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import type { BlockPlace } from '../codec/compression.ts';

/** Last 8 bytes of every object. */
export const MAGIC = Buffer.from('LOGBOOM1', 'latin1');
/**
 * Raised when a reader of the version before could misread; every version stays readable (test/chunk/golden). An object has the lowest
 * version that says all that is in it (`versionOf`).
 */
export const FORMAT_VERSION = 2;
/** footer-length and magic. */
export const TRAILER_BYTES = 12;

/**
 * A page ends at 1 MiB of raw lines, or at a quarter of that where a stream ends: large enough that zstd loses 3% against
 * unlimited blocks, small enough that a false hit of a filter costs under 1 ms, and that a query of one stream does
 * not read all streams of a push.
 */
export const PAGE_TARGET_BYTES = 1024 * 1024;
/** Metadata names of one page; a page ends before it would hold more. Twice what one entry may have by default. */
export const PAGE_MAX_NAMES = 256;
/** Rows times names: 16 MiB of dictionary places when all are decoded. */
export const PAGE_MAX_CELLS = 4 * 1024 * 1024;

/** Dictionaries up to this size lie in the footer, where a query sees them without reading the page. */
export const FOOTER_DICTIONARY_VALUES = 32;
export const FOOTER_DICTIONARY_BYTES = 512;

/** Distinct detected levels counted apart; entries with further ones are counted under OTHER_LEVELS. */
export const MAX_COUNTED_LEVELS = 32;
/** Not a legal value of detection, so it cannot meet a real one. */
export const OTHER_LEVELS = '\u0000other';

/** The metadata name whose value the counts are split by. */
export const LEVEL_NAME = 'detected_level';

export const ColumnKind = {
  /** High parts of the timestamps. */
  times: 1,
  /** Low bytes of the timestamps; no such column where they have none. */
  lowTimes: 6,
  metadata: 2,
  lengths: 3,
  lines: 4,
  /** A field of JSON or logfmt lines that occurs often (shared/execution/fields). */
  promoted: 5,
  /** What the lines say beside those fields, where a page knows all that they say (shared/execution/fields/residuals.ts). */
  rests: 7,
  /** Lines as templates and columns, instead of `lines` (split-page.ts). Objects with it have version 2. */
  splitLines: 8,
} as const;

export const SectionKind = {
  /** For text: which pages may hold it (shared/execution/text-index). */
  filter: 1,
  /** For label filters: values and ranges of the promoted columns of each page (shared/execution/text-index/summary-codec.ts). */
  summaries: 2,
  /** What kinds of lines there are, and when (shared/upkeep/patterns). */
  patterns: 3,
} as const;

export interface ColumnMeta {
  /** One of ColumnKind; readers skip kinds that they do not know. */
  readonly kind: number;
  /** Metadata or field name; empty for the others. */
  readonly name: string;
  /** Offset from the start of the page. */
  readonly place: BlockPlace;
  /** Values of a small dictionary; absent where it lies in the column. */
  readonly dictionary?: readonly string[];
  /** Every row has the dictionary's only value: nothing is stored in the page. */
  readonly constant: boolean;
}

export interface RunMeta {
  /** Place in the footer's streams. */
  readonly stream: number;
  readonly firstRow: number;
  readonly rows: number;
  /** Nanoseconds since the start of the day. */
  readonly first: number;
  readonly last: number;
  readonly lineBytes: number;
  /** Bytes of metadata names and values. */
  readonly metadataBytes: number;
}

export interface PageMeta {
  /** From the start of the object. */
  readonly offset: number;
  readonly storedBytes: number;
  readonly rows: number;
  /** Raw bytes of the lines. */
  readonly lineBytes: number;
  /** Nanoseconds since the start of the day that timestamps are relative to. */
  readonly base: number;
  /** Place in SCALES. */
  readonly scale: number;
  readonly runs: readonly RunMeta[];
  /** In the order of their bytes: times, low times, metadata, lengths, promoted, rests, lines in either form. */
  readonly columns: readonly ColumnMeta[];
}

/** Either form of the lines of a page. */
export function isOfLines(kind: number): boolean {
  return kind === ColumnKind.lines || kind === ColumnKind.splitLines;
}

/** The version of an object with these pages. */
export function versionOf(pages: readonly PageMeta[]): number {
  const isSplit = ({ columns }: PageMeta) => columns.some(({ kind }) => kind === ColumnKind.splitLines);
  return pages.some(isSplit) ? FORMAT_VERSION : 1;
}

/** Entries of one stream and level; the arrays are parallel and ascend by minute. */
export interface LevelCounts {
  /** Place in the footer's levels. */
  readonly level: number;
  /** Bucket m holds entries with `(m-1) min < time of day <= m min`. */
  readonly minutes: readonly number[];
  readonly entries: readonly number[];
  readonly lineBytes: readonly number[];
  /** Bytes of metadata names and values. */
  readonly metadataBytes: readonly number[];
}

/** Counts by the places of streams: an array of a chunk that is being written, the stored bytes of one that was read. */
export interface CountsByStream extends Iterable<readonly LevelCounts[]> {
  readonly length: number;
  /** Of one stream; buckets outside the stretch may be left out. `countsOf` is what to call. */
  at(stream: number, stretch?: MinuteRange): readonly LevelCounts[] | undefined;
}

/** Minutes of a day, both inclusive. */
export interface MinuteRange {
  readonly from: number;
  readonly to: number;
}

/** The counts of a stream by its place. Throws CorruptionError. @param stretch buckets outside may be left out */
export function countsOf(
  { counts, id }: Pick<Footer, 'counts' | 'id'>,
  stream: number,
  stretch?: MinuteRange,
): readonly LevelCounts[] {
  const found = counts.at(stream, stretch);
  invariant(found !== undefined, `chunk ${id} counts its stream ${stream}`);
  return found;
}

/** A section between pages and footer; readers skip kinds that they do not know. */
export interface SectionMeta {
  readonly kind: number;
  readonly place: BlockPlace;
}

export interface Footer {
  readonly version: number;
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  /** UTC day since 1970-01-01. */
  readonly day: number;
  /** 0 for what pushes wrote; compaction raises it. */
  readonly level: number;
  /** Unix ms at which the object was written. */
  readonly createdMs: number;
  /** Ids of the chunks that this one was merged from. */
  readonly inputs: readonly string[];
  /** Id of the oldest pushed chunk that its rows came from; of a pushed chunk its own. Orders equal timestamps between chunks. */
  readonly origin: string;
  readonly rows: number;
  readonly lineBytes: number;
  readonly metadataBytes: number;
  /** Nanoseconds since the start of the day. */
  readonly first: number;
  readonly last: number;
  /** Ascending by text. */
  readonly streams: readonly Stream[];
  readonly pages: readonly PageMeta[];
  /** Values of detected_level; '' stands for entries without one. */
  readonly levels: readonly string[];
  /** For each stream, its counts by level. */
  readonly counts: CountsByStream;
  readonly sections: readonly SectionMeta[];
}
