import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { ObjectNotFoundError } from '../../shared/base/ports/object-store.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import type { Matcher } from '../../shared/language/logql/ast.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { findStreams } from '../../shared/read/query/streams-query.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { storeChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { type Day, indexKey } from '../../shared/storage/catalog/day-item.ts';
import { type WrittenChunk, writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { headBytesOf } from '../../shared/storage/index/day-index.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { encodeIndex } from '../../shared/storage/index/write.ts';
import { labelNames, labelValues } from '../support/label-lists.ts';
import { type PlainEntry, rowsOf } from '../support/rows.ts';

const DAY = 20_000;
const START = BigInt(DAY) * NS_PER_DAY;

function setUp() {
  const objects = memoryObjectStore();
  const reads: string[] = [];
  const store = {
    ...objects,
    getRange: (key: string, start: number, end: number) => {
      reads.push(key);
      return objects.getRange(key, start, end);
    },
  };
  const catalog = new Catalog({
    table: memoryTable({ clock: SYSTEM_CLOCK }),
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
  });
  let source = new ChunkSource(store);
  let chunks = 0;
  return {
    store,
    reads,
    /** Simulates a new process. */
    forget(): void {
      source = new ChunkSource(store);
      reads.length = 0;
    },
    async add(entries: readonly PlainEntry[], tenant = 't', day = DAY): Promise<WrittenChunk> {
      const id = (++chunks).toString(16).padStart(32, '0');
      const head = { id, tenant, day, level: 0, createdMs: 1, inputs: [] };
      const written = await writeChunk(head, rowsOf(entries), QUICK_COMPRESSION);
      await catalog.addChunks([await storeChunk(store, written, 0)]);
      return written;
    },
    async find(
      startNs: bigint,
      endNs: bigint,
      options: {
        readonly tenants?: readonly string[];
        readonly selectors?: readonly (readonly Matcher[])[];
        readonly indexes?: Parameters<typeof findStreams>[3];
      } = {},
    ): Promise<string[]> {
      const { tenants = ['t'], selectors = [], indexes } = options;
      const { signal } = new AbortController();
      const request = { tenants, selectors, signal, range: { startNs, endNs } };
      return (await findStreams(catalog, source, request, indexes)).map(({ text }) => text);
    },
  };
}

function entry(time: number, stream: Record<string, string>): PlainEntry {
  return { stream, time, line: 'x', metadata: {} };
}

const equals = (name: string, value: string): Matcher => ({ name, op: '=', value });

describe('streams of a range', () => {
  test('have an entry from its start up to its end, across days', async () => {
    const store = setUp();
    await store.add([entry(10, { app: 'a' }), entry(30, { app: 'a' }), entry(20, { app: 'b' })]);
    await store.add([entry(0, { app: 'c' })], 't', DAY + 1);
    const table: [bigint, bigint, string[]][] = [
      [10n, 11n, ['{app="a"}']],
      [11n, 20n, []],
      [11n, 21n, ['{app="b"}']],
      [11n, 30n, ['{app="b"}']],
      [11n, 31n, ['{app="a"}', '{app="b"}']],
      [31n, NS_PER_DAY, []],
      [31n, NS_PER_DAY + 1n, ['{app="c"}']],
      [0n, 0n, []],
      [0n, 2n * NS_PER_DAY, ['{app="a"}', '{app="b"}', '{app="c"}']],
    ];
    for (const [from, to, want] of table) expect(await store.find(START + from, START + to)).toEqual(want);
  });

  test('match any of the selectors, each once', async () => {
    const store = setUp();
    await store.add([entry(1, { app: 'a', env: 'x' }), entry(2, { app: 'b' }), entry(3, { app: 'c' })]);
    const selectors = [[equals('app', 'a')], [equals('env', 'x')], [equals('app', 'c')]];
    const want = ['{app="a", env="x"}', '{app="c"}'];
    expect(await store.find(START, START + 9n, { selectors })).toEqual(want);
  });

  test('have a tenant label in a multi-tenant query', async () => {
    const store = setUp();
    await store.add([entry(1, { app: 'a' })]);
    await store.add([entry(1, { app: 'a' }), entry(2, { app: 'b' })], 'u');
    const tenants = ['t', 'u'];
    const selectors = [[equals('app', 'a')], [equals('__tenant_id__', 'u'), equals('app', 'b')]];
    expect(await store.find(START, START + 9n, { tenants, selectors })).toEqual([
      '{__tenant_id__="t", app="a"}',
      '{__tenant_id__="u", app="a"}',
      '{__tenant_id__="u", app="b"}',
    ]);
  });
});

describe('the index of a day', () => {
  async function indexed(store: ReturnType<typeof setUp>, written: readonly WrittenChunk[]): Promise<Day> {
    const chunks = written.map(({ footer }) => ({ id: footer.id, footer }));
    const object = await encodeIndex({ tenant: 't', day: DAY, createdMs: 1, chunks });
    const index = {
      fromMinute: 0,
      id: 'ee'.repeat(16),
      storedBytes: object.length,
      headBytes: headBytesOf(object),
    };
    await store.store.putIfAbsent(indexKey('t', DAY, index.id), object);
    return { day: DAY, version: 0, indexes: [index], partitions: 4 };
  }

  /** Ten chunks of labels that do not compress, so that their footers are too large for their records. */
  async function tenChunks(store: ReturnType<typeof setUp>): Promise<WrittenChunk[]> {
    const written: WrittenChunk[] = [];
    for (let c = 0; c < 10; c++) {
      const entries = Array.from({ length: 200 }, (_, i) =>
        entry(c * 1000 + i, { app: hash('sha256', `${c} ${i}`) }),
      );
      written.push(await store.add(entries));
    }
    return written;
  }

  test('replaces the footers with one read, which is not repeated', async () => {
    const store = setUp();
    const day = await indexed(store, await tenChunks(store));
    const cache = new DayIndexes({ store: store.store, onBroken: error => expect(error).toBeUndefined() });
    const indexes = { indexOfDay: (tenant: string) => cache.indexOfDay(tenant, day) };
    const without = await store.find(START, START + 5000n);
    expect(new Set(store.reads).size).toBe(5);
    store.forget();
    expect(await store.find(START, START + 5000n, { indexes })).toEqual(without);
    expect(await store.find(START, START + 5000n, { indexes })).toEqual(without);
    expect(without).toHaveLength(1000);
    expect(store.reads).toEqual([indexKey('t', DAY, 'ee'.repeat(16))]);
  });

  test('is replaced by footers if it is corrupt or missing', async () => {
    const store = setUp();
    const day = await indexed(store, await tenChunks(store));
    const without = await store.find(START, START + 5000n);
    const key = indexKey('t', DAY, 'ee'.repeat(16));
    const object = await store.store.get(key);
    object[object.length - 30] ^= 1;
    for (const body of [object, object.subarray(0, 40), undefined]) {
      await store.store.delete(key);
      if (body !== undefined) await store.store.putIfAbsent(key, body);
      const broken: Error[] = [];
      const cache = new DayIndexes({ store: store.store, onBroken: error => broken.push(error) });
      const indexes = { indexOfDay: (tenant: string) => cache.indexOfDay(tenant, day) };
      expect(await store.find(START, START + 5000n, { indexes })).toEqual(without);
      expect(broken).toHaveLength(1);
      expect(broken[0]).toBeInstanceOf(body === undefined ? ObjectNotFoundError : CorruptionError);
    }
  });

  test('is not treated as missing if the store fails', async () => {
    const store = setUp();
    const day = await indexed(store, await tenChunks(store));
    const failing = { ...store.store, getRange: () => Promise.reject(new Error('out of order')) };
    const cache = new DayIndexes({ store: failing, onBroken: error => expect(error).toBeUndefined() });
    await expect(cache.indexOfDay('t', day)).rejects.toThrow('out of order');
    expect(await cache.indexOfDay('t', { ...day, indexes: [] })).toBeUndefined();
  });
});

describe('label names and values', () => {
  const streams = [
    {
      labels: [
        { name: 'a', value: '2' },
        { name: '__shard__', value: '1' },
      ],
      text: '',
    },
    {
      labels: [
        { name: 'a', value: '1' },
        { name: 'b', value: 'x' },
      ],
      text: '',
    },
  ];
  test('are in ascending order', () => {
    expect(labelNames(streams)).toEqual(['__shard__', 'a', 'b']);
    expect(labelValues(streams, 'a')).toEqual(['1', '2']);
    expect(labelValues(streams, 'c')).toEqual([]);
  });
});
