/**
 * Whether any row of a chunk is covered, with as little reading as it takes. Where a request takes whatever its streams have in
 * some time, the footer's runs may tell; else the pages with runs of such streams and times are read in their order, and the
 * first hit ends it.
 */

import type { ObjectStore } from '../../base/ports/object-store.ts';
import { nameOfChunk, readChunk, readFooter } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { Footer, PageMeta } from '../../storage/chunk/format.ts';
import { decodePage } from '../../storage/chunk/reader.ts';
import { PageReader } from '../compaction/merge-reader.ts';
import { type CoveredRows, hasMarked } from '../compaction/row-drops.ts';

/** Of one read: pages that lie together are read together, and the next range is asked for meanwhile. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

type FooterPart = Pick<Footer, 'pages' | 'streams'>;

export interface Look {
  readonly hit: boolean;
  /** Stored bytes that were asked for, the footer included where the record does not hold it. */
  readonly readBytes: number;
}

/** Calls `hold` between pages. Throws what it and the store throw, and CorruptionError. */
export async function findCovered(
  store: ObjectStore,
  record: ChunkRecord,
  mask: CoveredRows,
  hold: () => Promise<void>,
): Promise<Look> {
  const { counts: _, ...footer } = await readFooter(store, record);
  const isInRecord = record.footer !== undefined || record.inline !== undefined;
  let readBytes = isInRecord ? 0 : record.footerBytes;
  const pages = pagesToRead(footer, mask);
  if (pages.length === 0) return { hit: false, readBytes };
  if (pages.some(page => hasRunThatGoes(page, footer, mask))) return { hit: true, readBytes };
  const read = (start: number, end: number) => {
    if (record.inline === undefined) readBytes += end - start;
    return readChunk(store, record, start, end);
  };
  const { storedBytes } = record;
  const reader = new PageReader({ footer: { ...footer, pages }, storedBytes, read }, MAX_READ_BYTES);
  for (let next = await reader.nextPage(); next !== undefined; next = await reader.nextPage()) {
    const wants = { lines: 'bytes', metadata: 'all' } as const;
    const rows = decodePage(footer, next.page, next.stored, wants, nameOfChunk(record));
    if (hasMarked(mask, rows)) return { hit: true, readBytes };
    await hold();
  }
  return { hit: false, readBytes };
}

function pagesToRead({ pages, streams }: FooterPart, mask: CoveredRows): readonly PageMeta[] {
  const touched = streams.map(stream => mask.mayTouch(stream));
  return pages.filter(page => {
    const runs = page.runs.filter(({ stream }) => touched[stream]);
    return runs.length > 0 && mask.forPage({ page, streams, runs }) !== undefined;
  });
}

/** A run has an entry at its first time and at its last. */
function hasRunThatGoes({ runs }: PageMeta, { streams }: FooterPart, mask: CoveredRows): boolean {
  return runs.some(
    ({ stream, first, last }) =>
      mask.takesAll(streams[stream], first, first) || mask.takesAll(streams[stream], last, last),
  );
}
