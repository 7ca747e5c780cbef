/**
 * Ports of a remote store in virtual time: each request takes a typical S3 or DynamoDB latency, and is
 * recorded. Equal requests always take equal time, so that counts are reproducible.
 */
import type { Clock } from '../../shared/base/ports/clock.ts';
import { bytesOfBody, type ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Item, Table, Write } from '../../shared/base/ports/table.ts';
import type { RequestKind, TracedRequest } from './request-trace.ts';

export interface LatencyModel {
  /** Latency to the first byte of an object. */
  readonly objectReadMs: number;
  readonly objectWriteMs: number;
  /** Throughput of one request; concurrent requests do not share it. */
  readonly objectBytesPerMs: number;
  readonly tableReadMs: number;
  readonly tableWriteMs: number;
  /** Connections of a process to each of the two services; further requests wait. */
  readonly connections: number;
}

/** Measured inside an AWS region: S3 with 25 ms to the first byte and then 90 MB/s, DynamoDB with 5 ms. */
export const AWS_LATENCY: LatencyModel = Object.freeze({
  objectReadMs: 25,
  objectWriteMs: 60,
  objectBytesPerMs: 90_000,
  tableReadMs: 5,
  tableWriteMs: 8,
  connections: 128,
});

interface ModeledPorts {
  readonly store: ObjectStore;
  readonly table: Table;
  /** Requests in the order in which they ended; empty it to start over. */
  readonly requests: TracedRequest[];
}

export interface Ports {
  readonly store: ObjectStore;
  readonly table: Table;
}

export function modeledPorts(
  { store, table }: Ports,
  clock: Clock,
  model: LatencyModel = AWS_LATENCY,
): ModeledPorts {
  const requests: TracedRequest[] = [];
  const [objectSlots, tableSlots] = [connectionsOf(model), connectionsOf(model)];

  /** Does the work, waits for the modeled latency, and records the request. */
  async function request<T>(
    kind: RequestKind,
    target: string,
    latencyMs: number,
    work: () => Promise<T>,
    bytesOf: (answer: T) => number,
  ): Promise<T> {
    const free = await (kind.startsWith('object') ? objectSlots : tableSlots)();
    const startMs = clock.nowMs();
    let bytes = 0;
    // A table responds with its contents at the middle of the request.
    await clock.sleep(latencyMs / 2);
    try {
      const answer = await work();
      bytes = bytesOf(answer);
      return answer;
    } finally {
      await clock.sleep(latencyMs / 2 + bytes / model.objectBytesPerMs);
      requests.push({ kind, target, startMs, endMs: clock.nowMs(), bytes });
      free();
    }
  }

  const read = <T>(target: string, work: () => Promise<T>, bytesOf: (answer: T) => number) =>
    request('object read', target, model.objectReadMs, work, bytesOf);
  const nothing = () => 0;

  const modeledStore: ObjectStore = {
    isDistant: true,
    putIfAbsent: (key, body) =>
      request(
        'object write',
        key,
        model.objectWriteMs,
        () => store.putIfAbsent(key, body),
        () => bytesOfBody(body),
      ),
    get: key =>
      read(
        key,
        () => store.get(key),
        bytes => bytes.length,
      ),
    getRange: (key, start, end, options) =>
      read(
        `${key} ${start}-${end}`,
        () => store.getRange(key, start, end, options),
        bytes => bytes.length,
      ),
    getTail: (key, length, options) =>
      read(
        `${key} -${length}`,
        () => store.getTail(key, length, options),
        ({ bytes }) => bytes.length,
      ),
    head: key => read(key, () => store.head(key), nothing),
    delete: key => request('object write', key, model.objectWriteMs, () => store.delete(key), nothing),
    list: (prefix, options) => read(prefix, () => store.list(prefix, options), nothing),
  };

  const tableRead = <T>(target: string, work: () => Promise<T>, bytesOf: (answer: T) => number) =>
    request('table read', target, model.tableReadMs, work, bytesOf);
  const tableWrite = (target: string, bytes: number, work: () => Promise<void>) =>
    request('table write', target, model.tableWriteMs, work, () => bytes);

  const modeledTable: Table = {
    isDistant: true,
    get: key =>
      tableRead(
        `${key.pk} ${key.sk}`,
        () => table.get(key),
        item => item?.body.length ?? 0,
      ),
    // DynamoDB returns all items, known or not.
    query: (pk, { known: _, ...options } = {}) =>
      tableRead(
        pk,
        () => table.query(pk, options),
        ({ items }) => bodyBytes(items),
      ),
    put: (item, condition) => tableWrite(item.pk, item.body.length, () => table.put(item, condition)),
    delete: (key, condition) => tableWrite(key.pk, 0, () => table.delete(key, condition)),
    transact: writes =>
      tableWrite(`${writes.length} items`, writtenBytes(writes), () => table.transact(writes)),
  };
  return { store: modeledStore, table: modeledTable, requests };
}

/** Resolves to a function that releases the connection. */
function connectionsOf({ connections }: LatencyModel): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const free = () => {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  };
  return async () => {
    if (running < connections) running++;
    else await new Promise<void>(resolve => waiting.push(resolve));
    return free;
  };
}

function bodyBytes(items: readonly Item[]): number {
  return items.reduce((bytes, { body }) => bytes + body.length, 0);
}

function writtenBytes(writes: readonly Write[]): number {
  return bodyBytes(writes.flatMap(write => (write.kind === 'put' ? [write.item] : [])));
}
