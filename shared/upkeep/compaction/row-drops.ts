/**
 * Decides which rows a merge removes: those of accepted delete requests, and expired ones. Every writer of a
 * chunk must ask, because its output states "requests accepted before I began are applied"
 * (ChunkRecord.asOfMs). An output that states this without it would show deleted rows again, permanently.
 */

import type { ChunkRowFilter } from '../../base/model/chunk-row-filter.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { PageMeta, RunMeta } from '../../storage/chunk/format.ts';

/** The rows of one chunk that delete requests cover, with tests that can avoid reading its pages. */
export interface CoveredRows extends ChunkRowFilter {
  /**
   * Returns true if every entry of the stream from `first` to `last`, ns since the start of the day, is
   * covered.
   */
  takesAll(stream: Stream, first: number, last: number): boolean;
  /** Returns `undefined` if no row of these runs of a page is covered, whatever its lines. */
  forPage(page: { page: PageMeta; streams: readonly Stream[]; runs: readonly RunMeta[] }): object | undefined;
}

/** A delete request as it was when it was applied. */
export interface AppliedRequest {
  readonly id: string;
  /**
   * Unix ns of its end, decimal. If a request is canceled halfway, its end becomes the point that it had
   * reached.
   */
  readonly endNs: string;
}

/** The rows to remove from a tenant's chunks, as of one moment. */
export interface RowDrops {
  /** Unix ms. Everything that is applied here was decided before it. For `createdMs` of outputs. */
  readonly asOfMs: number;
  /** Delete requests that are applied here. */
  readonly applied: readonly AppliedRequest[];
  /** Returns the rows of a chunk that delete requests remove, or undefined if none covers it. */
  deletesOf(record: ChunkRecord): CoveredRows | undefined;
  /** Returns the rows of a chunk to remove for any reason, or undefined if there are none. */
  of(record: ChunkRecord): ChunkRowFilter | undefined;
  /**
   * Throws DeleteCanceledError if a request that is applied here was canceled meanwhile. Reads at a limited
   * rate.
   */
  check(): Promise<void>;
}

export interface DropSource {
  /** Reads the current requests. Throws what the table throws. */
  dropsOf(tenant: string): Promise<RowDrops>;
  /**
   * Returns false if one of the requests was canceled since they were applied. Throws what the table throws.
   */
  areInForce(tenant: string, applied: readonly AppliedRequest[]): Promise<boolean>;
  /**
   * Unix ns before which all entries of the tenant are expired, whatever their stream. Undefined if there is
   * no such time.
   */
  expiredBeforeNs(tenant: string): bigint | undefined;
}

/** A request was canceled while it was applied. The caller starts again. */
export class DeleteCanceledError extends Error {
  constructor(tenant: string) {
    super(`a delete request of ${tenant} was canceled while it was applied`);
    this.name = 'DeleteCanceledError';
  }
}

/** Drops of a store without deletes and retention: none. */
export function dropNothing(clock: Clock): RowDrops {
  return {
    asOfMs: clock.nowMs(),
    applied: [],
    deletesOf: () => undefined,
    of: () => undefined,
    check: async () => undefined,
  };
}

/** Returns 1 for each row to remove, as mergeChunks needs it, or undefined if all rows stay. */
export function marksOf(filter: ChunkRowFilter, page: PageRows): Uint8Array | undefined {
  const { selection, count } = touchedRows(filter, page);
  if (count === 0) return undefined;
  const touched = selection.slice(0, count);
  const left = filter.hide(page, selection, count);
  if (left === count) return undefined;
  const marks = new Uint8Array(page.rows);
  for (let i = 0; i < count; i++) marks[touched[i]] = 1;
  for (let i = 0; i < left; i++) marks[selection[i]] = 0;
  return marks;
}

/** Returns true if a row of the page must be removed. */
export function hasMarked(filter: ChunkRowFilter, page: PageRows): boolean {
  const { selection, count } = touchedRows(filter, page);
  return count > 0 && filter.hide(page, selection, count) < count;
}

function touchedRows(filter: ChunkRowFilter, { rows, runs }: PageRows) {
  const selection = new Uint32Array(rows);
  let count = 0;
  for (const { stream, firstRow, rows: ofRun } of runs) {
    if (!filter.mayTouch(stream)) continue;
    for (let row = firstRow; row < firstRow + ofRun; row++) selection[count++] = row;
  }
  return { selection, count };
}
