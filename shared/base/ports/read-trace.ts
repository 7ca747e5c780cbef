/**
 * Records the reads of one query while it runs, for `explain`. Ports record each read for the asynchronous
 * context of the caller. A query without a trace pays one lookup per read.
 *
 * A part of a query that runs in another thread or function traces its reads and returns them with its result
 * (`beginPart`).
 *
 * Pitfall: a read that two queries share is recorded only for the query that began it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from './clock.ts';
import type { ObjectStore } from './object-store.ts';
import type { Table } from './table.ts';

export interface TracedRead {
  /** Kind of the data, such as `footers`. */
  readonly what: string;
  /** Start in milliseconds from the start of the trace. */
  readonly startMs: number;
  readonly endMs: number;
  readonly bytes: number;
  /** Milliseconds of that time during which the read waited for a free connection. */
  readonly connectionMs: number;
}

/** Part of a query that a worker ran. */
export interface TracedPart {
  /** Thread or function that ran it. */
  readonly ranIn: string;
  /** Start of the wait for this part, in milliseconds from the start of the trace. */
  readonly startMs: number;
  readonly endMs: number;
  /** Reads of the part, in milliseconds from the start of the part. */
  readonly reads: readonly TracedRead[];
}

interface Traced {
  readonly reads: readonly TracedRead[];
  readonly parts: readonly TracedPart[];
}

interface Trace {
  readonly nowMs: () => number;
  readonly reads: TracedRead[];
  readonly parts: TracedPart[];
}

/** Read that runs now. */
interface OngoingRead {
  readonly nowMs: () => number;
  connectionMs: number;
}

/** Maximum reads of a trace, about 1 MB; a query with more shows the first ones. */
const MAX_READS = 10_000;
/** Maximum parts of a query, about 10 KB each with their reads. */
const MAX_PARTS = 100;
/** Kind name of a part among the reads of its query. */
const PARTS = 'parts';

const traces = new AsyncLocalStorage<Trace>();
const readings = new AsyncLocalStorage<OngoingRead>();

/** Runs `work`. Its argument is filled as reads and parts end. */
export function tracing<T>(clock: Clock, work: (traced: Traced) => Promise<T>): Promise<T> {
  const nowMs = () => clock.monotonicMs?.() ?? clock.nowMs();
  const startMs = nowMs();
  const trace: Trace = { nowMs: () => nowMs() - startMs, reads: [], parts: [] };
  return traces.run(trace, () => work(trace));
}

/**
 * Begins a part of the current query, if it is traced. Call the result with the value that the part returned.
 */
export function beginPart(): (part: Pick<TracedPart, 'ranIn' | 'reads'>) => void {
  const trace = traces.getStore();
  if (trace === undefined) return () => undefined;
  const startMs = trace.nowMs();
  return ({ ranIn, reads }) => {
    const endMs = trace.nowMs();
    const bytes = reads.reduce((sum, read) => sum + read.bytes, 0);
    if (trace.parts.length < MAX_PARTS) trace.parts.push({ ranIn, startMs, endMs, reads });
    note(trace, { what: PARTS, startMs, endMs, bytes, connectionMs: 0 });
  };
}

/**
 * Records that the current read waits for a connection, if it is traced. Call it when the wait begins, and
 * its result when the wait ends.
 */
export function waitForConnection(): () => void {
  const reading = readings.getStore();
  if (reading === undefined) return () => undefined;
  const startMs = reading.nowMs();
  return () => {
    reading.connectionMs = Math.max(reading.connectionMs, reading.nowMs() - startMs);
  };
}

/** @param whatOf Returns the kind of data in a partition */
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

/** Wraps the store to trace reads of one kind. */
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
  const reading: OngoingRead = { nowMs: trace.nowMs, connectionMs: 0 };
  const result = await readings.run(reading, read);
  const { connectionMs } = reading;
  note(trace, { what, startMs, endMs: trace.nowMs(), bytes: bytesOf(result), connectionMs });
  return result;
}

function note({ reads }: Trace, read: TracedRead): void {
  if (reads.length < MAX_READS) reads.push(read);
}

function lengthOf({ length }: Buffer): number {
  return length;
}
