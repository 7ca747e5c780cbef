/**
 * What pushes hold in each ingest thread, in memory that the threads share: a block of cells for each thread, which that thread alone
 * writes, so that no thread waits for another one, and what a lost thread held is forgotten by clearing its block.
 *
 *     rows in use | key, KiB, holders, waiting, waiting holders | key, ... |      32 bits each
 *
 * A row is a tenant with pushes under way. KiB are rounded up. A thread tells what it is about to take before it looks at what the others
 * hold: of two threads that take at the same time, at least one sees the other.
 */
import { isNothing, type OtherPushes, type TenantPushes } from '../../shared/write/ingest/push-counts.ts';

/** Plain data, for messages to threads. */
export interface SharedPushes {
  readonly threads: number;
  readonly cells: Int32Array<SharedArrayBuffer>;
}

const KIB = 1024;
/** Twice the pushes that a thread is given at once. If there are still more tenants, the last row counts them as one. */
const MAX_ROWS = 128;
const ROW_CELLS = 5;
const BLOCK_CELLS = 1 + MAX_ROWS * ROW_CELLS;

/** @param threads that take pushes, at most */
export function sharedPushes(threads: number): SharedPushes {
  const bytes = threads * BLOCK_CELLS * Int32Array.BYTES_PER_ELEMENT;
  return { threads, cells: new Int32Array(new SharedArrayBuffer(bytes)) };
}

/** To be called when the thread has ended, and before another takes its place. */
export function forgetPushes({ cells }: SharedPushes, index: number): void {
  const start = index * BLOCK_CELLS;
  for (let at = start; at < start + BLOCK_CELLS; at++) Atomics.store(cells, at, 0);
}

/** All that pushes hold, bytes. */
export function bytesOfPushes(shared: SharedPushes): number {
  let bytes = 0;
  for (let thread = 0; thread < shared.threads; thread++)
    for (const row of rowsOf(shared, thread)) bytes += row.bytes;
  return bytes;
}

/** For one thread. */
export class PushBoard implements OtherPushes {
  readonly #shared: SharedPushes;
  readonly #index: number;
  /** Tenants by their row; undefined: the row is free. */
  readonly #tenants: (number | undefined)[] = [];
  /** Tenants that found no row of their own, which the last row counts together. */
  readonly #crowd = new Map<number, TenantPushes>();

  constructor(shared: SharedPushes, index: number) {
    this.#shared = shared;
    this.#index = index;
  }

  publish(own: TenantPushes): void {
    const isDone = isNothing(own);
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
    this.#tellRows();
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

  /** -1: there is none. */
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
    // The row was empty if its tenant is another one now.
    Atomics.store(cells, at, key);
    Atomics.store(cells, at + 1, Math.ceil(bytes / KIB));
    Atomics.store(cells, at + 2, holders);
    Atomics.store(cells, at + 3, waiting);
    Atomics.store(cells, at + 4, waitingHolders);
    this.#tellRows();
  }

  #tellRows(): void {
    const rows = this.#crowd.size > 0 ? MAX_ROWS : this.#tenants.length;
    Atomics.store(this.#shared.cells, this.#index * BLOCK_CELLS, rows);
  }
}

/** Rows of a thread in which something is counted. */
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
    if (!isNothing(row)) rows.push(row);
  }
  return rows;
}
