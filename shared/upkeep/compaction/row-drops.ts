/**
 * Which rows a merge leaves out: those of picked-up delete requests, and expired ones. Whatever writes a chunk anew must ask,
 * because its output says "requests picked up before I began are applied" (ChunkRecord.asOfMs); an output that said so
 * without it would show deleted rows again, for good.
 */

import type { ChunkRowFilter } from '../../base/model/chunk-row-filter.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { PageMeta, RunMeta } from '../../storage/chunk/format.ts';

/** The rows of one chunk that delete requests cover, with the tests that can spare reading its pages. */
export interface CoveredRows extends ChunkRowFilter {
  /** True if every entry of the stream from `first` to `last`, ns since the start of the day, is covered. */
  takesAll(stream: Stream, first: number, last: number): boolean;
  /** `undefined` if no row of these runs of a page is covered, whatever its lines. */
  forPage(page: { page: PageMeta; streams: readonly Stream[]; runs: readonly RunMeta[] }): object | undefined;
}

/** A delete request as it was when it was applied. */
export interface AppliedRequest {
  readonly id: string;
  /** Unix ns of its end, decimal. One that is cancelled when part of it is done ends where it had come to. */
  readonly endNs: string;
}

/** What must go of a tenant's chunks, as it was at one moment. */
export interface RowDrops {
  /** Unix ms before which everything was decided that is applied here: for `createdMs` of outputs. */
  readonly asOfMs: number;
  /** Delete requests that are applied here. */
  readonly applied: readonly AppliedRequest[];
  /** What must go of a chunk for delete requests; undefined where none covers it. */
  deletesOf(record: ChunkRecord): CoveredRows | undefined;
  /** What must go of a chunk for any reason; undefined where nothing does. */
  of(record: ChunkRecord): ChunkRowFilter | undefined;
  /** Throws DeleteCancelledError where a request that is applied here was cancelled meanwhile. Asks at most so often. */
  check(): Promise<void>;
}

export interface DropSource {
  /** Reads what holds now. Throws what the table throws. */
  dropsOf(tenant: string): Promise<RowDrops>;
  /** False if one of the requests was cancelled since they were applied. Throws what the table throws. */
  areInForce(tenant: string, applied: readonly AppliedRequest[]): Promise<boolean>;
  /** Unix ns: all entries of the tenant before it are expired, whatever their stream; undefined where there is no such time. */
  expiredBeforeNs(tenant: string): bigint | undefined;
}

/** A request was cancelled while it was applied: whoever works begins anew. */
export class DeleteCancelledError extends Error {
  constructor(tenant: string) {
    super(`a delete request of ${tenant} was cancelled while it was applied`);
    this.name = 'DeleteCancelledError';
  }
}

/** Of a store without deletes and retention. */
export function dropNothing(clock: Clock): RowDrops {
  return {
    asOfMs: clock.nowMs(),
    applied: [],
    deletesOf: () => undefined,
    of: () => undefined,
    check: async () => undefined,
  };
}

/** 1 for each row that must go, as mergeChunks takes it; undefined where all stay. */
export function marksOf(mask: ChunkRowFilter, page: PageRows): Uint8Array | undefined {
  const { selection, count } = touchedRows(mask, page);
  if (count === 0) return undefined;
  const touched = selection.slice(0, count);
  const left = mask.hide(page, selection, count);
  if (left === count) return undefined;
  const marks = new Uint8Array(page.rows);
  for (let i = 0; i < count; i++) marks[touched[i]] = 1;
  for (let i = 0; i < left; i++) marks[selection[i]] = 0;
  return marks;
}

/** True where a row of the page must go. */
export function hasMarked(mask: ChunkRowFilter, page: PageRows): boolean {
  const { selection, count } = touchedRows(mask, page);
  return count > 0 && mask.hide(page, selection, count) < count;
}

function touchedRows(mask: ChunkRowFilter, { rows, runs }: PageRows) {
  const selection = new Uint32Array(rows);
  let count = 0;
  for (const { stream, firstRow, rows: ofRun } of runs) {
    if (!mask.mayTouch(stream)) continue;
    for (let row = firstRow; row < firstRow + ofRun; row++) selection[count++] = row;
  }
  return { selection, count };
}
