/**
 * Memory of pushes in each ingest thread, in shared memory. Each thread has a block of cells that only it
 * writes. So no thread waits for another, and clearing its block removes a lost thread.
 *
 *     rows in use | key, KiB, holders, waiting, waiting holders | key, ... |      32 bits each
 *
 * A row is a tenant with running pushes. KiB are rounded up. A thread writes what it takes before it reads
 * the cells of the others. If two threads take memory at the same time, at least one sees the other.
 */
import { isZero, type OtherPushes, type TenantPushes } from '../../shared/write/ingest/push-counts.ts';

/** Plain data, for messages to threads. */
export interface SharedPushes {
  readonly threads: number;
  readonly cells: Int32Array<SharedArrayBuffer>;
}

const KIB = 1024;
/** Twice the maximum number of running pushes of a thread. The last row counts further tenants as one. */
const MAX_ROWS = 128;
const ROW_CELLS = 5;
const BLOCK_CELLS = 1 + MAX_ROWS * ROW_CELLS;

/** @param threads maximum number of threads that accept pushes */
export function sharedPushes(threads: number): SharedPushes {
  const bytes = threads * BLOCK_CELLS * Int32Array.BYTES_PER_ELEMENT;
  return { threads, cells: new Int32Array(new SharedArrayBuffer(bytes)) };
}

/** Call it after the thread has ended, before another gets its index. */
export function forgetPushes({ cells }: SharedPushes, index: number): void {
  const start = index * BLOCK_CELLS;
  for (let at = start; at < start + BLOCK_CELLS; at++) Atomics.store(cells, at, 0);
}

/** Bytes of all pushes. */
export function bytesOfPushes(shared: SharedPushes): number {
  let bytes = 0;
  for (let thread = 0; thread < shared.threads; thread++)
    for (const row of rowsOf(shared, thread)) bytes += row.bytes;
  return bytes;
}

/** View of one thread. */
export class PushBoard implements OtherPushes {
  readonly #shared: SharedPushes;
  readonly #index: number;
  /** Tenant of each row; `undefined` for a free row. */
  readonly #tenants: (number | undefined)[] = [];
  /** Tenants without a row, which the last row counts together. */
  readonly #crowd = new Map<number, TenantPushes>();

  constructor(shared: SharedPushes, index: number) {
    this.#shared = shared;
    this.#index = index;
  }

  publish(own: TenantPushes): void {
    const isDone = isZero(own);
    let row = this.#tenants.indexOf(own.key);
    if (row < 0 && !this.#crowd.has(own.key)) row = this.#freeRow();
    if (row < 0) {
      if (isDone) this.#crowd.delete(own.key);
      else this.#crowd.set(own.key, own);
      this.#write(MAX_ROWS - 1, this.#ofCrowd());
      return;
    }
    this.#tenants[row] = isDone ? undefined : own.key;
    this.#write(row, own);
    while (this.#tenants.length > 0 && this.#tenants.at(-1) === undefined) this.#tenants.pop();
    this.#reportRows();
  }

  rows(): ReturnType<OtherPushes['rows']> {
    const before: TenantPushes[] = [];
    const after: TenantPushes[] = [];
    for (let thread = 0; thread < this.#shared.threads; thread++) {
      if (thread === this.#index) continue;
      (thread < this.#index ? before : after).push(...rowsOf(this.#shared, thread));
    }
    return { before, after };
  }

  /** Index of a free row, or -1. */
  #freeRow(): number {
    const free = this.#tenants.indexOf(undefined);
    if (free >= 0) return free;
    return this.#tenants.length < MAX_ROWS - 1 ? this.#tenants.length : -1;
  }

  #ofCrowd(): TenantPushes {
    const all = [...this.#crowd.values()];
    const sum = (of: (row: TenantPushes) => number) => all.reduce((total, row) => total + of(row), 0);
    return {
      key: 0,
      bytes: sum(row => row.bytes),
      holders: sum(row => row.holders),
      waiting: sum(row => row.waiting),
      waitingHolders: sum(row => row.waitingHolders),
    };
  }

  #write(row: number, { key, bytes, holders, waiting, waitingHolders }: TenantPushes): void {
    const { cells } = this.#shared;
    const at = this.#index * BLOCK_CELLS + 1 + row * ROW_CELLS;
    // If the tenant of the row changes, the row was empty.
    Atomics.store(cells, at, key);
    Atomics.store(cells, at + 1, Math.ceil(bytes / KIB));
    Atomics.store(cells, at + 2, holders);
    Atomics.store(cells, at + 3, waiting);
    Atomics.store(cells, at + 4, waitingHolders);
    this.#reportRows();
  }

  #reportRows(): void {
    const rows = this.#crowd.size > 0 ? MAX_ROWS : this.#tenants.length;
    Atomics.store(this.#shared.cells, this.#index * BLOCK_CELLS, rows);
  }
}

/** Non-empty rows of a thread. */
function rowsOf({ cells }: SharedPushes, thread: number): TenantPushes[] {
  const start = thread * BLOCK_CELLS;
  const count = Atomics.load(cells, start);
  const rows: TenantPushes[] = [];
  for (let at = start + 1; at < start + 1 + count * ROW_CELLS; at += ROW_CELLS) {
    const row: TenantPushes = {
      key: Atomics.load(cells, at),
      bytes: Atomics.load(cells, at + 1) * KIB,
      holders: Atomics.load(cells, at + 2),
      waiting: Atomics.load(cells, at + 3),
      waitingHolders: Atomics.load(cells, at + 4),
    };
    if (!isZero(row)) rows.push(row);
  }
  return rows;
}
