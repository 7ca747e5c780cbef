/** Workers count chunks from the day index as a scan does, and read no footer for it. */
import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_OF_MINUTE, NS_PER_MINUTE } from '../../../shared/base/model/time-units.ts';
import type { Invoker } from '../../../shared/base/ports/invoker.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../../support/engine.ts';
import type { DatedEntry } from '../../support/pushes.ts';
import { CHUNK_TASKS, makeWorld } from './world.ts';

const entry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b'), pod: fc.constantFrom('1', '2') }),
  day: fc.constant(DAY),
  time: fc
    .tuple(fc.integer({ min: 0, max: 12 }), fc.constantFrom(0, 1, NS_OF_MINUTE / 2, NS_OF_MINUTE - 1))
    .map(([minute, ns]) => minute * NS_OF_MINUTE + ns),
  line: fc.constantFrom('', 'x', 'yy'),
  metadata: fc.oneof(
    { weight: 4, arbitrary: fc.dictionary(fc.constant('detected_level'), fc.constantFrom('info', 'error')) },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('trace', 'app'), fc.constantFrom('t1', 't2')) },
  ),
});
const history = fc.record({
  /** Each push is a chunk. Those of the second list are not in the index. */
  indexed: fc.array(fc.array(entry, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 12 }),
  later: fc.array(fc.array(entry, { minLength: 1, maxLength: 6 }), { maxLength: 3 }),
  isMasked: fc.boolean(),
});

const QUERIES = [
  'sum(count_over_time({app=~".+"}[1m]))',
  'count_over_time({app="a"}[2m])',
  'sum by (app, detected_level) (bytes_over_time({pod="1"}[3m]))',
  'sum by (trace) (rate({app=~".+"}[1m]))',
  'sum by (level) (count_over_time({app=~".+"} | detected_level="error" [1m]))',
  'absent_over_time({app="b", pod="2"}[1m])',
];

test('counts by the index are those of a scan, for any chunks', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ indexed, later, isMasked }) => {
      const world = makeWorld();
      for (const push of indexed) await world.push(push);
      await world.syncIndex();
      for (const push of later) await world.push(push);
      if (isMasked) {
        const endNs = DAY_START_NS + 5n * NS_PER_MINUTE;
        world.delete('{app="a", pod="1"}', { startNs: DAY_START_NS + 2n * NS_PER_MINUTE, endNs });
      }
      const invoker = inlineInvoker({ store: world.objects, clock: world.clock });
      const engine = world.engine({ invoker, sizes: { ...CHUNK_TASKS, maxTaskBytes: 1e9 } });
      const plain = world.plainEngine();
      for (const query of QUERIES) {
        for (const startNs of [DAY_START_NS, DAY_START_NS + 3n * NS_PER_MINUTE]) {
          const asked = rangeQuery(query, { startNs, endNs: DAY_START_NS + 14n * NS_PER_MINUTE });
          const { result } = await engine.range(asked, requester());
          expect([query, result]).toEqual([query, (await plain.range(asked, requester())).result]);
        }
      }
    }),
    { numRuns: 8 },
  );
});

/** Objects that were read, by what they are. */
function countedReads(store: ObjectStore) {
  const reads = { index: 0, chunks: 0 };
  const getRange: ObjectStore['getRange'] = (key, ...range) => {
    reads[key.includes('/index/') ? 'index' : 'chunks']++;
    return store.getRange(key, ...range);
  };
  return { reads, store: { ...store, getRange } };
}

const CHUNKS = 40;
const STREAMS = 100;
/** More than may be read from their footers by one task. */
const MANY_CHUNKS = 200;
/** More than the neighbors of a range without an index. */
const SAME_TIME = 400;

/** A chunk with too many streams for a footer in its record. */
function chunkAt(minute: number): DatedEntry[] {
  return Array.from({ length: STREAMS }, (_, i) => ({
    stream: { app: 'a', pod: hash('sha256', `${minute} ${i}`, 'hex') },
    day: DAY,
    time: minute * NS_OF_MINUTE + i + 1,
    line: 'x',
    metadata: { detected_level: 'info' },
  }));
}

test('footers are read only of chunks that share time with others, or that the index does not cover', async () => {
  const { reads, store } = countedReads(memoryObjectStore());
  const world = makeWorld(undefined, store);
  for (let i = 0; i < CHUNKS; i++) await world.push(chunkAt(i));
  await world.push(chunkAt(7));
  await world.syncIndex();
  await world.push(chunkAt(CHUNKS));
  const invoker = inlineInvoker({ store, clock: world.clock });
  const engine = world.engine({ invoker, sizes: { ...CHUNK_TASKS, tasksOfDay: 1, maxTaskBytes: 1e9 } });
  reads.index = 0;
  reads.chunks = 0;
  const asked = rangeQuery('sum by (app, level) (count_over_time({app="a"}[1m]))', {
    endNs: DAY_START_NS + 60n * NS_PER_MINUTE,
  });
  const { result } = await engine.range(asked, requester());
  // The head of the index, and its counts.
  expect(reads.index).toBe(2);
  expect(reads.chunks).toBeGreaterThan(0);
  expect(reads.chunks).toBeLessThan(12);
  reads.chunks = 0;
  expect(result).toEqual((await world.plainEngine().range(asked, requester())).result);
  expect(reads.chunks).toBeGreaterThanOrEqual(CHUNKS);
});

test('many chunks of one time are planned by workers if an index shows that they share no stream', async () => {
  const { reads, store } = countedReads(memoryObjectStore());
  const world = makeWorld(undefined, store);
  const pushOf = (pod: string): DatedEntry[] => [
    { stream: { app: 'a', pod }, day: DAY, time: 1, line: 'a text that filters', metadata: {} },
  ];
  for (let i = 0; i < SAME_TIME; i++) await world.push(pushOf(`${i}`));
  await world.syncIndex();
  const inline = inlineInvoker({ store, clock: world.clock });
  let tasks = 0;
  const invoker: Invoker = {
    ...inline,
    invoke: (...given) => {
      tasks++;
      return inline.invoke(...given);
    },
  };
  const sizes = { ...CHUNK_TASKS, tasksOfDay: 4, maxTaskBytes: 1e9 };
  const asked = rangeQuery('sum by (app) (count_over_time({app="a"} |= "a text" [1h]))');
  reads.chunks = 0;
  const { result } = await world.engine({ invoker, sizes }).range(asked, requester());
  expect(tasks).toBe(4);
  // No chunk is read by a task that it does not belong to.
  expect(reads.chunks).toBeLessThanOrEqual(2 * SAME_TIME);
  expect(result).toEqual((await world.plainEngine().range(asked, requester())).result);
});

test('a broken index changes no count, and its chunks are divided among more tasks', async () => {
  const world = makeWorld();
  for (let i = 0; i < MANY_CHUNKS; i++) {
    await world.push([
      { stream: { app: 'a' }, day: DAY, time: i * NS_OF_MINUTE + 1, line: 'x', metadata: {} },
    ]);
  }
  await world.syncIndex();
  const getRange: ObjectStore['getRange'] = async (key, start, end) => {
    const bytes = Buffer.from(await world.objects.getRange(key, start, end));
    // The head is whole, and the counts of the first chunk are not.
    if (key.includes('/index/') && start === 0) bytes[0] ^= 1;
    return bytes;
  };
  const inline = inlineInvoker({ store: { ...world.objects, getRange }, clock: world.clock });
  let tasks = 0;
  const invoker: Invoker = {
    ...inline,
    invoke: (...given) => {
      tasks++;
      return inline.invoke(...given);
    },
  };
  const engine = world.engine({ invoker, sizes: { ...CHUNK_TASKS, maxTaskBytes: 1e9 } });
  const asked = rangeQuery('sum(count_over_time({app="a"}[1m]))', {
    endNs: DAY_START_NS + BigInt(MANY_CHUNKS) * NS_PER_MINUTE,
  });
  const { result } = await engine.range(asked, requester());
  expect(tasks).toBeGreaterThan(2);
  expect(result).toEqual((await world.plainEngine().range(asked, requester())).result);
});
