/**
 * Thread that commits to the table, because SQLite syncs in the committing thread. All other threads read
 * themselves.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import type { Write } from '../../shared/base/ports/table.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { openSqliteTable } from '../sqlite-table.ts';
import { serveThread } from './serve-thread.ts';
import { serveTablePort } from './table-port.ts';

export interface TableThreadData {
  readonly file: string;
}

/** `nowMs` is the caller's time (Unix ms), which decides what has expired. */
export type TableCall = { readonly nowMs: number } & (
  | { readonly kind: 'write'; readonly writes: readonly Write[] }
  /** Commits for the thread at the other end of the port. */
  | { readonly kind: 'connect'; readonly port: MessagePort }
  | { readonly kind: 'sweep'; readonly limit: number | undefined }
  | { readonly kind: 'fold' }
);

/** Number of items deleted by a sweep, or whether the log was folded. */
export type TableThreadResult = number | boolean | undefined;

/** Page cache of this connection, which reads little. */
const CACHE_BYTES = 4 * 1024 * 1024;

serveThread<TableCall, TableThreadResult>(async () => {
  let nowMs = SYSTEM_CLOCK.nowMs();
  const clock = { ...SYSTEM_CLOCK, nowMs: () => nowMs };
  const { file } = workerData as TableThreadData;
  const table = await openSqliteTable(file, { clock, cacheBytes: CACHE_BYTES });
  return {
    async call(call) {
      ({ nowMs } = call);
      switch (call.kind) {
        case 'write':
          await table.transact(call.writes);
          return { value: undefined };
        case 'connect':
          serveTablePort(call.port, write => {
            ({ nowMs } = write);
            return table.transact(write.writes);
          });
          return { value: undefined };
        case 'sweep':
          return { value: await table.sweep(call.limit) };
        case 'fold':
          return { value: await table.fold() };
      }
    },
    stop: () => table.close(),
  };
});
