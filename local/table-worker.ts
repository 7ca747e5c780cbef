/**
 * The thread that commits to the table, because SQLite syncs in the thread that commits. It works for one thread, which reads by a
 * connection of its own (thread-table.ts). Runs from the source tree and from the package.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Write } from '../shared/ports/table.ts';
import { openSqliteTable } from './sqlite-table.ts';
import { systemClock } from './system-clock.ts';
import { type ThrownError, thrownOf } from './thrown-errors.ts';

export interface TableThreadData {
  readonly file: string;
}

export interface TableCall {
  readonly id: number;
  readonly work:
    | { readonly kind: 'write'; readonly writes: readonly Write[] }
    | { readonly kind: 'sweep'; readonly limit: number | undefined }
    | { readonly kind: 'fold' };
}

/** Calls of one turn, with the time of who calls (Unix ms), which tells what has expired; or that the table is to be closed. */
export type ToTable = { readonly nowMs: number; readonly calls: readonly TableCall[] } | 'close';

export interface TableAnswer {
  /** 0 for the opening of the table. */
  readonly id: number;
  readonly result?: number | boolean;
  readonly error?: ThrownError;
}

/** Of this connection: it reads little. */
const CACHE_BYTES = 4 * 1024 * 1024;

if (parentPort === null) throw new Error('table-worker.ts is run as a worker thread');
const port = parentPort;
const { file } = workerData as TableThreadData;
let nowMs = systemClock.nowMs();
const clock = { ...systemClock, nowMs: () => nowMs };
const opened = openSqliteTable(file, { clock, cacheBytes: CACHE_BYTES });
opened.then(
  () => answer([{ id: 0 }]),
  (error: unknown) => answer([{ id: 0, error: thrownOf(error) }]),
);
const answers: TableAnswer[] = [];

port.on('message', (message: ToTable) => {
  if (message === 'close') {
    void close();
    return;
  }
  ({ nowMs } = message);
  for (const call of message.calls) void run(call);
});

async function run({ id, work }: TableCall): Promise<void> {
  let one: TableAnswer;
  try {
    const table = await opened;
    switch (work.kind) {
      case 'write':
        await table.transact(work.writes);
        one = { id };
        break;
      case 'sweep':
        one = { id, result: await table.sweep(work.limit) };
        break;
      case 'fold':
        one = { id, result: await table.fold() };
    }
  } catch (error) {
    one = { id, error: thrownOf(error) };
  }
  // Calls of one transaction of the table end together: one message for all of them.
  if (answers.length === 0) queueMicrotask(() => answer(answers.splice(0)));
  answers.push(one);
}

function answer(some: TableAnswer[]): void {
  port.postMessage(some);
}

async function close(): Promise<void> {
  await opened.then(table => table.close()).catch(() => undefined);
  process.exit(0);
}
