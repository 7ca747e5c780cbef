/**
 * A chunk that is damaged or missing: a client that shows warnings gets the result of all other chunks, and what it does not
 * cover. Any other client gets the error.
 */
import { describe, expect, test } from '@jest/globals';
import { NS_OF_SECOND as S } from '../../../shared/base/model/time-units.ts';
import type { Invoker } from '../../../shared/base/ports/invoker.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../../shared/base/ports/object-store.ts';
import type { QueryEngine } from '../../../shared/read/query/engine.ts';
import { MAX_SKIPPED_CHUNKS } from '../../../shared/read/query/skipped-chunks.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import { DAY, rangeQuery, requester } from '../../support/engine.ts';
import { CHUNK_TASKS, MERGED_TASKS, makeWorld, SMALL_TASKS, TINY_TASKS } from './world.ts';

const PUSHES = 8;
const WARNING =
  /^stored data is damaged; the result does not cover (\d+)B of (\d+)B of lines in its range: chunk (.*); run logboom doctor$/;
const QUERIES = [
  '{app="a"} |= "n"',
  'sum by (n) (count_over_time({app="a"} |= "n" | logfmt [1h]))',
  'sum(count_over_time({app="a"} |= "n" [1h])) / sum(bytes_over_time({app="a"} |= "n" [1h]))',
];

type Damage = 'damaged' | 'missing';

/** A store whose named objects are broken. */
function breakable(store: ObjectStore) {
  const broken = new Map<string, Damage>();
  const keys: string[] = [];
  const check = (key: string) => {
    if (broken.get(key) === 'missing') throw new ObjectNotFoundError(key);
  };
  const objects: ObjectStore = {
    ...store,
    putIfAbsent(key, body) {
      keys.push(key);
      return store.putIfAbsent(key, body);
    },
    async getRange(key, start, end) {
      check(key);
      const bytes = await store.getRange(key, start, end);
      if (broken.get(key) === 'damaged') bytes[0] ^= 1;
      return bytes;
    },
    async getTail(key, length) {
      check(key);
      return store.getTail(key, length);
    },
  };
  return { objects, broken, keys };
}

/** A chunk each hour, and one that repeats an entry of the third. */
async function storedWorld(skips: readonly number[] = []) {
  const { objects, broken, keys } = breakable(memoryObjectStore());
  const world = makeWorld(undefined, objects);
  const entry = (n: number) => ({
    stream: { app: 'a' },
    day: DAY,
    time: n * 3600 * S,
    line: `n=${n}`,
    metadata: {},
  });
  for (let n = 0; n < PUSHES; n++) if (!skips.includes(n)) await world.push([entry(n)]);
  await world.push([entry(2), entry(20)]);
  return { world, broken, keys };
}

type Stored = Awaited<ReturnType<typeof storedWorld>>;

async function ask(engine: QueryEngine, query: string, warnings?: string[]) {
  return (await engine.range(rangeQuery(query, { stepNs: 3_600_000_000_000n }), requester({ warnings })))
    .result;
}

function inline({ world }: Stored): Invoker {
  return inlineInvoker({ store: world.objects, clock: world.clock });
}

const ENGINES: readonly [string, (stored: Stored) => QueryEngine][] = [
  ['this thread', ({ world }) => world.plainEngine()],
  ['tasks of a page', stored => stored.world.engine({ invoker: inline(stored), sizes: TINY_TASKS })],
  ['tasks of some pages', stored => stored.world.engine({ invoker: inline(stored), sizes: SMALL_TASKS })],
  [
    'tasks of chunks',
    stored => stored.world.engine({ invoker: inline(stored), sizes: { ...CHUNK_TASKS, maxTaskBytes: 1e9 } }),
  ],
  ['merged tasks', stored => stored.world.engine({ invoker: inline(stored), sizes: MERGED_TASKS })],
];

describe.each(ENGINES)('read by %s', (_, engineOf) => {
  test.each<Damage>(['damaged', 'missing'])(
    'a broken chunk (%s) loses its own entries only',
    async damage => {
      const [stored, sound] = [await storedWorld(), await storedWorld([1, 5])];
      for (const n of [1, 5]) stored.broken.set(stored.keys[n], damage);
      for (const query of QUERIES) {
        const warnings: string[] = [];
        const result = await ask(engineOf(stored), query, warnings);
        expect([query, result]).toEqual([query, await ask(sound.world.plainEngine(), query)]);
        expect(warnings).toHaveLength(1);
        const [, missing, all, keys] = WARNING.exec(warnings[0])!;
        expect([missing, all]).toEqual(['6', `${3 * PUSHES + 7}`]);
        expect(keys.split(', ').toSorted()).toEqual([1, 5].map(n => stored.keys[n]).toSorted());
      }
    },
  );

  test('other clients get the error', async () => {
    const stored = await storedWorld();
    stored.broken.set(stored.keys[1], 'damaged');
    await expect(ask(engineOf(stored), QUERIES[0])).rejects.toMatchObject({
      name: 'CorruptionError',
      message: expect.stringContaining(stored.keys[1]),
    });
  });
});

test('of equal entries in two chunks, the one in the sound chunk is returned', async () => {
  for (const [, engineOf] of ENGINES) {
    const [stored, sound] = [await storedWorld(), await storedWorld()];
    stored.broken.set(stored.keys[2], 'missing');
    for (const query of QUERIES) {
      const warnings: string[] = [];
      expect(await ask(engineOf(stored), query, warnings)).toEqual(
        await ask(sound.world.plainEngine(), query),
      );
      expect(warnings).toHaveLength(1);
    }
  }
});

test('a store with too many broken chunks fails', async () => {
  const { objects, broken, keys } = breakable(memoryObjectStore());
  const world = makeWorld(undefined, objects);
  for (let n = 0; n <= MAX_SKIPPED_CHUNKS; n++) {
    await world.push([{ stream: { app: 'a' }, day: DAY, time: n * S, line: 'n', metadata: {} }]);
  }
  for (const key of keys.slice(1)) broken.set(key, 'missing');
  const warnings: string[] = [];
  expect(await ask(world.plainEngine(), QUERIES[0], warnings)).toMatchObject({
    streams: [{ entries: [{ line: 'n' }] }],
  });
  broken.set(keys[0], 'missing');
  await expect(ask(world.plainEngine(), QUERIES[0], [])).rejects.toThrow(ObjectNotFoundError);
});
