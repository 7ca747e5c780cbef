/**
 * Checks whether any row of a chunk is covered, with minimal reads. If a request covers all entries of its
 * streams and times, the runs in the footer may suffice. Otherwise pages with matching runs are read in order
 * until the first match.
 */

import type { ObjectStore } from '../../base/ports/object-store.ts';
import { nameOfChunk, readChunk, readFooter } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { Footer, PageMeta } from '../../storage/chunk/format.ts';
import { decodePage } from '../../storage/chunk/reader.ts';
import { MergePageReader } from '../compaction/merge-reader.ts';
import { type CoveredRows, hasMarked } from '../compaction/row-drops.ts';

/** Maximum size of one read. Adjacent pages are read together, and the next range is requested meanwhile. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

type FooterPart = Pick<Footer, 'pages' | 'streams'>;

interface CoverResult {
  readonly hit: boolean;
  /** Stored bytes that were read, including the footer if the record does not contain it. */
  readonly readBytes: number;
}

/** Calls `hold` between pages. Throws the errors of `hold` and of the store, and CorruptionError. */
export async function findCovered(
  store: ObjectStore,
  record: ChunkRecord,
  coveredRows: CoveredRows,
  hold: () => Promise<void>,
): Promise<CoverResult> {
  const { counts: _, ...footer } = await readFooter(store, record);
  const isInRecord = record.footer !== undefined || record.inline !== undefined;
  let readBytes = isInRecord ? 0 : record.footerBytes;
  const pages = pagesToRead(footer, coveredRows);
  if (pages.length === 0) return { hit: false, readBytes };
  if (pages.some(page => coversRunBoundary(page, footer, coveredRows))) return { hit: true, readBytes };
  const read = (start: number, end: number) => {
    if (record.inline === undefined) readBytes += end - start;
    return readChunk(store, record, start, end);
  };
  const { storedBytes } = record;
  const reader = new MergePageReader({ footer, storedBytes, read }, pages, MAX_READ_BYTES);
  for (let next = await reader.nextPage(); next !== undefined; next = await reader.nextPage()) {
    const wants = { lines: 'bytes', metadata: 'all' } as const;
    const rows = decodePage(footer, next.page, next.stored, wants, nameOfChunk(record));
    if (hasMarked(coveredRows, rows)) return { hit: true, readBytes };
    await hold();
  }
  return { hit: false, readBytes };
}

function pagesToRead({ pages, streams }: FooterPart, coveredRows: CoveredRows): readonly PageMeta[] {
  const touched = streams.map(stream => coveredRows.mayTouch(stream));
  return pages.filter(page => {
    const runs = page.runs.filter(({ stream }) => touched[stream]);
    return runs.length > 0 && coveredRows.forPage({ page, streams, runs }) !== undefined;
  });
}

/** Uses that a run has an entry at its first time and at its last. */
function coversRunBoundary({ runs }: PageMeta, { streams }: FooterPart, coveredRows: CoveredRows): boolean {
  return runs.some(
    ({ stream, first, last }) =>
      coveredRows.takesAll(streams[stream], first, first) ||
      coveredRows.takesAll(streams[stream], last, last),
  );
}
