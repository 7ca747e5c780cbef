/** Queries that are too large for the thread that was asked are answered elsewhere, whole; others are not. */
import { beforeAll, expect, test } from '@jest/globals';
import { ChunkSource } from '../../shared/query/chunk-source.ts';
import { type EngineCall, QueryEngine } from '../../shared/query/engine.ts';
import { QueryMemory } from '../../shared/query/query-memory.ts';
import { asker, DAY, DAY_START_NS, rangeQuery } from '../support/engine.ts';
import { makeWorld } from './tasks/world.ts';

const range = { startNs: DAY_START_NS, endNs: DAY_START_NS + 3_600_000_000_000n };
/** What 100 entries of 16 bytes cost: less than a page of this store holds. */
const SMALL = 2_000;

type World = ReturnType<typeof makeWorld>;
let world: World;

beforeAll(async () => {
  world = makeWorld();
  for (let push = 0; push < 20; push++) {
    const entries = Array.from({ length: 100 }, (_, i) => ({
      stream: { app: i % 2 === 0 ? 'a' : 'b' },
      day: DAY,
      time: (push * 100 + i) * 1_000_000_000,
      line: `n=${push * 100 + i} some text`,
      metadata: {},
    }));
    await world.push(entries);
  }
});

/** With `bytes` of room; `asked` are the queries that were answered elsewhere. */
function engineWith(bytes: number) {
  const asked: EngineCall[] = [];
  const there = world.plainEngine();
  const memory = new QueryMemory();
  const held: number[] = [];
  const engine = new QueryEngine({
    ...world.parts,
    source: new ChunkSource(world.objects),
    memory,
    elsewhere: {
      roomOf: () => bytes,
      ask: (call, who) => {
        asked.push(call);
        held.push(memory.usedBytes);
        return call.kind === 'range' ? there.range(call.query, who) : there.instant(call.query, who);
      },
    },
  });
  return { engine, asked, held, memory };
}

const LARGE = [
  '{app=~"a|b"} | logfmt | n = 3',
  'sum by (app) (count_over_time({app=~"a|b"} |= "text" [1m]))',
  'sum(rate({app="a"} |= "7" [1m])) / sum(rate({app="b"} | logfmt | n > 5 [1m]))',
];

test.each(LARGE)('%s is answered elsewhere where it is large, with the same result', async text => {
  const { engine, asked, held, memory } = engineWith(SMALL);
  const query = rangeQuery(text, { ...range, limit: 100 });
  const { result, statistics } = await engine.range(query, asker());
  const plain = await world.plainEngine().range(query, asker());
  expect(result).toEqual(plain.result);
  // Nothing of what was begun here is counted.
  expect(statistics).toMatchObject({
    lines: plain.statistics.lines,
    chunksRead: plain.statistics.chunksRead,
  });
  expect(asked).toEqual([{ kind: 'range', query }]);
  expect(engine.askedElsewhere).toBe(1);
  expect(held).toEqual([0]);
  expect(memory.usedBytes).toBe(0);
});

test.each(LARGE)('%s is answered here where there is room', async text => {
  for (const room of [1e9, Number.POSITIVE_INFINITY]) {
    const { engine, asked } = engineWith(room);
    const query = rangeQuery(text, { ...range, limit: 100 });
    const { result } = await engine.range(query, asker());
    expect(result).toEqual((await world.plainEngine().range(query, asker())).result);
    expect(asked).toEqual([]);
  }
});

test('a log query whose limit is met within the room stays', async () => {
  const { engine, asked } = engineWith(SMALL);
  for (const backward of [true, false]) {
    const query = rangeQuery('{app="a"}', { ...range, limit: 20, backward });
    const { result } = await engine.range(query, asker());
    expect(result).toEqual((await world.plainEngine().range(query, asker())).result);
  }
  expect(asked).toEqual([]);
});

test('an instant query goes as one; what is wrong with it is what is told', async () => {
  const { engine, asked } = engineWith(SMALL);
  const at = (text: string) => {
    const { expr } = rangeQuery(text);
    return { text, expr, timeNs: range.endNs };
  };
  const query = at('sum by (app) (count_over_time({app=~"a|b"} |= "text" [1h]))');
  const { result } = await engine.instant(query, asker());
  expect(result).toEqual((await world.plainEngine().instant(query, asker())).result);
  expect(asked).toEqual([{ kind: 'instant', query }]);
  await expect(
    engine.instant(
      at('count_over_time({app="a"} | logfmt [1h])'),
      asker({ limits: { ...asker().limits, maxQuerySeries: 5 } }),
    ),
  ).rejects.toThrow('maximum number of series (5) reached');
});

test('counts that footers know need no room', async () => {
  const { engine, asked } = engineWith(0);
  const query = rangeQuery('sum by (app) (count_over_time({app=~"a|b"}[1m]))', {
    startNs: DAY_START_NS,
    endNs: DAY_START_NS + 7_200_000_000_000n,
  });
  await world.compact();
  const { result } = await engine.range(query, asker());
  expect(result).toEqual((await world.plainEngine().range(query, asker())).result);
  expect(asked).toEqual([]);
});
