/** Estimates of what tasks decode, by which queries are divided into tasks of equal size. */
import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';
import type { PlannedPage } from '../day-plan.ts';

/** Cost of a row in addition to its line, bytes: its time, its elements in metadata columns. */
const BYTES_PER_ROW = 16;

/** Estimates the bytes decoded for a page. */
export function costOfPage({ page }: PlannedPage, readsLines: boolean): number {
  return page.rows * BYTES_PER_ROW + (readsLines ? page.lineBytes : 0);
}

/** Estimates the bytes decoded for a chunk of which nothing is pruned. */
export function costOfChunk({ rows, lineBytes }: ChunkRecord): number {
  return rows * BYTES_PER_ROW + lineBytes;
}
