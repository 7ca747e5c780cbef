/**
 * Notes the reads of one query while it runs, for `explain`. Ports note what goes through them for the asynchronous context that
 * asked; a query that nobody traces costs them one lookup.
 *
 * Pitfall: a read that two queries share is noted for the one that began it. Reads in other threads and functions are not noted.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from './clock.ts';
import type { ObjectStore } from './object-store.ts';
import type { Table } from './table.ts';

export interface TracedRead {
  /** Kind of what was read, such as `footers`. */
  readonly what: string;
  /** Milliseconds from the start of the trace. */
  readonly startMs: number;
  readonly endMs: number;
  readonly bytes: number;
}

interface Trace {
  readonly nowMs: () => number;
  readonly reads: TracedRead[];
}

/** About 1 MB; a query of more reads shows the first ones. */
const MAX_READS = 10_000;

const traces = new AsyncLocalStorage<Trace>();

/** Runs `work`; `reads` fills as its reads end. */
export function tracing<T>(clock: Clock, work: (reads: readonly TracedRead[]) => Promise<T>): Promise<T> {
  const nowMs = () => clock.monotonicMs?.() ?? clock.nowMs();
  const startMs = nowMs();
  const reads: TracedRead[] = [];
  return traces.run({ nowMs: () => nowMs() - startMs, reads }, () => work(reads));
}

/** @param whatOf what a partition holds */
export function tracedTable(table: Table, whatOf: (pk: string) => string): Table {
  return {
    isDistant: table.isDistant,
    get: key =>
      noted(
        whatOf(key.pk),
        () => table.get(key),
        item => item?.body.length ?? 0,
      ),
    query: (pk, options) =>
      noted(
        whatOf(pk),
        () => table.query(pk, options),
        ({ items }) => items.reduce((bytes, { body }) => bytes + body.length, 0),
      ),
    put: (item, condition) => table.put(item, condition),
    delete: (key, condition) => table.delete(key, condition),
    transact: writes => table.transact(writes),
  };
}

/** The store for those reads of a query that are of one kind. */
export function tracedStore(store: ObjectStore, what: string): ObjectStore {
  return {
    isDistant: store.isDistant,
    putIfAbsent: (key, body) => store.putIfAbsent(key, body),
    get: key => noted(what, () => store.get(key), lengthOf),
    getRange: (key, start, end, options) =>
      noted(what, () => store.getRange(key, start, end, options), lengthOf),
    getTail: (key, length, options) =>
      noted(
        what,
        () => store.getTail(key, length, options),
        ({ bytes }) => bytes.length,
      ),
    head: key =>
      noted(
        what,
        () => store.head(key),
        () => 0,
      ),
    delete: key => store.delete(key),
    list: (prefix, options) => store.list(prefix, options),
  };
}

async function noted<T>(what: string, read: () => Promise<T>, bytesOf: (result: T) => number): Promise<T> {
  const trace = traces.getStore();
  if (trace === undefined) return read();
  const startMs = trace.nowMs();
  const result = await read();
  if (trace.reads.length < MAX_READS) {
    trace.reads.push({ what, startMs, endMs: trace.nowMs(), bytes: bytesOf(result) });
  }
  return result;
}

function lengthOf({ length }: Buffer): number {
  return length;
}
