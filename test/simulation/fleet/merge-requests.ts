/**
 * Requests of merging and indexing over S3 and DynamoDB, counted by the program's own limits. For emulated services that
 * count what the program really sends, see `npm run bench -- requests`.
 */
import { type ChunkRecord, streamPartOf } from '../../../shared/storage/catalog/chunk-record.ts';
import type { IndexRecord } from '../../../shared/storage/catalog/day-item.ts';
import { MAX_SWAPPED_CHUNKS } from '../../../shared/storage/catalog/swap.ts';
import { WORTH_CHUNKS } from '../../../shared/storage/index/syncer.ts';
import { indexWindows } from '../../../shared/storage/index/windows.ts';
import { READ_BUDGET_BYTES } from '../../../shared/upkeep/compaction/merge-bounds.ts';
import { FINAL_LEVEL } from '../../../shared/upkeep/compaction/merge-sizes.ts';

export interface MergeRequests {
  gets: number;
  puts: number;
  /** Without deletions of the records of pushes, which the price of a push has. */
  writeUnits: number;
}

/** A transaction takes twice the units of its items. Records have up to 1 KB, those of merged chunks up to 2. */
const UNITS_OF_ITEM = 2;
const UNITS_OF_MERGED = 4;
/** The check of the lease, the day, and the garbage list if chunks are removed. */
const ITEMS_OF_ADDING = 2;
const ITEMS_OF_REMOVING = 3;
/** Acquiring and releasing a lease of a day. */
const UNITS_OF_LEASE = 2;

/** Adds the reads of the inputs, and a PUT for each output. */
export function addMerge(requests: MergeRequests, inputs: readonly ChunkRecord[], outputs: number): void {
  const maxReadBytes = Math.floor(READ_BUDGET_BYTES / 2 / inputs.length);
  for (const { storedBytes, level } of inputs) {
    // The footer, and index parts of a chunk whose pages may be copied; then ranges of pages.
    requests.gets += level < FINAL_LEVEL ? 1 : 2;
    requests.gets += Math.ceil(storedBytes / maxReadBytes);
  }
  requests.puts += outputs;
}

export function addSwap(
  requests: MergeRequests,
  removed: readonly ChunkRecord[],
  added: readonly ChunkRecord[],
): void {
  const transactions = Math.ceil(removed.length / MAX_SWAPPED_CHUNKS);
  const finals = removed.filter(({ level }) => level > 0).length;
  requests.writeUnits +=
    UNITS_OF_MERGED * (added.length + finals) +
    UNITS_OF_ITEM * (ITEMS_OF_ADDING + transactions * ITEMS_OF_REMOVING) +
    1;
}

/** A run of a job on a day: its lease. */
export function addRun(requests: MergeRequests): void {
  requests.writeUnits += UNITS_OF_LEASE;
}

/** Assumed: their sizes do not matter here. */
const OF_INDEX = { id: '0'.repeat(32), storedBytes: 1, headBytes: 1 } as const;

/** Indexes of a day as index sync writes them: those of windows with enough new chunks. */
export class SyncedIndexes {
  #indexes: IndexRecord[] = [];
  readonly #covered = new Set<string>();

  /** Adds the reads of footers and of the indexes before, and the PUTs of new ones. */
  sync(requests: MergeRequests, records: readonly ChunkRecord[]): void {
    let written = 0;
    for (const { fromMinute, streamPart, records: ofWindow } of indexWindows(records, this.#indexes)) {
      const known = this.#indexes.findIndex(
        index => index.fromMinute === fromMinute && streamPartOf(index) === streamPart,
      );
      const uncovered = ofWindow.filter(({ id }) => !this.#covered.has(id));
      if (uncovered.length < WORTH_CHUNKS) continue;
      for (const { id } of uncovered) this.#covered.add(id);
      requests.gets += uncovered.length + (known < 0 ? 0 : 1);
      written++;
      if (known < 0) this.#indexes.push({ fromMinute, streamPart, ...OF_INDEX });
    }
    if (written === 0) return;
    requests.puts += written;
    addRun(requests);
    // The item of the day names the indexes.
    requests.writeUnits += UNITS_OF_ITEM * ITEMS_OF_ADDING;
  }
}
