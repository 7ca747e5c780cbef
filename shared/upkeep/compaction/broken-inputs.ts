/**
 * Finds the chunks that make a merge fail, so that one damaged object does not keep the rest of its day from
 * being merged. It reads each chunk whole, with the checks of a merge.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../base/ports/object-store.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { CopiedCounts, hasExactCounts } from './copied-counts.ts';
import { RowHasher } from './fingerprint.ts';
import { checkSums } from './footer-sums.ts';
import { MergeTooLargeError } from './merge-bounds.ts';
import { MergeCursor } from './merge-cursor.ts';
import { openInputs } from './merge-input.ts';
import { checkPageRows } from './merge-reader.ts';
import { wholePage } from './strands.ts';

/** Maximum size of one read. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

/** Returns true if the inputs of a merge caused the error, so that other inputs can still be merged. */
export function isOfInputs(error: unknown): boolean {
  return (
    error instanceof CorruptionError ||
    error instanceof ObjectNotFoundError ||
    error instanceof MergeTooLargeError
  );
}

/**
 * Calls `pause` between pages. Throws what it and the store throw, except errors for which `isOfInputs` is
 * true.
 */
export async function brokenOf(
  store: ObjectStore,
  records: readonly ChunkRecord[],
  pause: () => Promise<void>,
): Promise<ChunkRecord[]> {
  const broken: ChunkRecord[] = [];
  for (const record of records) {
    try {
      await readThrough(store, record, pause);
    } catch (error) {
      if (!isOfInputs(error)) throw error;
      broken.push(record);
    }
  }
  return broken;
}

async function readThrough(
  store: ObjectStore,
  record: ChunkRecord,
  pause: () => Promise<void>,
): Promise<void> {
  const [input] = await openInputs(store, [record]);
  checkPageRows(input);
  if (input.counts !== undefined) checkSums(input);
  const strand = input.footer.pages.map((_, i) => wholePage(input, i));
  const streamIndexes = Uint32Array.from(input.footer.streams, (_, i) => i);
  const options = { order: 0, streamIndexes, strand, maxReadBytes: MAX_READ_BYTES, hasher: new RowHasher() };
  const cursor = new MergeCursor(input, options);
  const counts = new CopiedCounts();
  if (hasExactCounts(input)) counts.add({ input, streamIndexes });
  while (await cursor.nextPage()) {
    await cursor.open();
    while (cursor.advance());
    counts.subtract(input, cursor.meta, cursor.page);
    await pause();
  }
  counts.finish(input.footer.streams, index => {
    const { text } = input.footer.streams[index];
    throw new CorruptionError(`chunk ${record.tenant}/${record.id}: counts more rows of ${text} than it has`);
  });
}
