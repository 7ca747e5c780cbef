/**
 * Checks the index object of a day against the records of its chunks. The index is derived data: damage slows
 * queries down but never changes results.
 */

import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { type IndexRecord, indexKey } from '../../storage/catalog/day-item.ts';
import { readIndexHead } from '../../storage/index/day-index.ts';
import { storeSource } from '../../storage/index/source.ts';
import { MismatchError } from './check-chunk.ts';

interface IndexCheck {
  readonly tenant: string;
  readonly day: number;
  readonly index: IndexRecord;
  readonly records: readonly ChunkRecord[];
  /** Also read streams and counts of every chunk. */
  readonly full: boolean;
}

/** Throws the errors of the store, CorruptionError and MismatchError. */
export async function checkIndex(store: ObjectStore, check: IndexCheck): Promise<void> {
  const { tenant, day, index, records, full } = check;
  const key = indexKey(tenant, day, index.id);
  const source = storeSource(store, key, index.storedBytes);
  const head = await readIndexHead(source, { tenant, day, headBytes: index.headBytes });
  for (const { id, rows, first, last } of records) {
    const summary = head.summaryOf(id);
    if (summary === undefined) continue;
    if (summary.rows !== rows || summary.first !== first || summary.last !== last) {
      throw new MismatchError(`rows or times of chunk ${id} differ from its record`);
    }
  }
  if (!full) return;
  // Reading verifies checksums, and that counts add up to the entries of each stream.
  for await (const [,] of head.countsOf(head.chunks.map(({ id }) => id)));
}
