import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_OF_MINUTE } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { compileSelector } from '../../shared/read/query/selector.ts';
import { newStatistics } from '../../shared/read/query/statistics.ts';
import { presentStreams } from '../../shared/read/query/stream-presence.ts';
import { storeChunk } from '../../shared/storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { type DayIndex, readIndexHead } from '../../shared/storage/index/day-index.ts';
import { encodeIndex } from '../../shared/storage/index/write.ts';
import { footersOf, type PlainChunk } from '../index/chunks.ts';
import { bufferSource } from '../support/buffer-source.ts';
import { type PlainEntry, rowsOf, streamOf } from '../support/rows.ts';

const TENANT = 't-1';
const DAY = 20_412;

async function storeOf(chunks: readonly PlainChunk[], inlineMaxBytes: number) {
  const store = memoryObjectStore();
  const records: ChunkRecord[] = [];
  for (const { id, entries } of chunks) {
    const head = { id, tenant: TENANT, day: DAY, level: 0, createdMs: 1, inputs: [] };
    const written = await writeChunk(head, rowsOf(entries), QUICK_COMPRESSION);
    records.push(await storeChunk(store, written, inlineMaxBytes));
  }
  return { source: new ChunkSource(store), records };
}

async function indexObjectOf(chunks: readonly PlainChunk[]): Promise<Buffer> {
  return encodeIndex({ tenant: TENANT, day: DAY, createdMs: 1, chunks: await footersOf(chunks) });
}

async function indexOf(chunks: readonly PlainChunk[]): Promise<DayIndex> {
  return readIndexHead(bufferSource(await indexObjectOf(chunks)), { tenant: TENANT, day: DAY });
}

interface Look {
  readonly from: number;
  readonly to: number;
  readonly index?: DayIndex;
  readonly app?: string;
}

async function look(
  { source, records }: Awaited<ReturnType<typeof storeOf>>,
  { from, to, index, app }: Look,
) {
  const statistics = newStatistics();
  const { signal } = new AbortController();
  const selector = compileSelector(app === undefined ? [] : [{ name: 'app', op: '=', value: app }]);
  const streams = await presentStreams({
    ...{ source, records, index, selector, from, to, statistics, signal },
  });
  const texts = streams.map(({ text }) => text).sort();
  return { texts, pagesRead: statistics.pagesRead };
}

function modelOf(chunks: readonly PlainChunk[], { from, to, app }: Look): string[] {
  const texts = chunks
    .flatMap(({ entries }) => entries)
    .filter(({ time, stream }) => time >= from && time < to && (app === undefined || stream.app === app))
    .map(({ stream }) => streamOf(stream).text);
  return [...new Set(texts)].sort();
}

/** Times near the edges of a few minutes: so that bounds, minutes and timestamps all get to decide. */
const instant = fc
  .tuple(
    fc.integer({ min: 0, max: 5 }),
    fc.constantFrom(0, 1, 2, NS_OF_MINUTE / 2, NS_OF_MINUTE / 2 + 1, NS_OF_MINUTE - 2, NS_OF_MINUTE - 1),
  )
  .map(([minute, offset]) => minute * NS_OF_MINUTE + offset);

const entry: fc.Arbitrary<PlainEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b', 'ü'), pod: fc.constantFrom('1', '2') }),
  time: instant,
  line: fc.constantFrom('', 'x'),
  metadata: fc.constantFrom<PlainEntry['metadata']>({}, { detected_level: 'info' }),
});

const id = fc.integer({ min: 0, max: 0xffff }).map(n => n.toString(16).padStart(4, '0').repeat(8));
const chunks = fc.uniqueArray(fc.record({ id, entries: fc.array(entry, { minLength: 1, maxLength: 12 }) }), {
  minLength: 1,
  maxLength: 6,
  selector: one => one.id,
});
const range = fc.tuple(instant, instant).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const app = fc.constantFrom(undefined, 'a', 'ü', 'none');

describe('the streams of a range, which have an entry in it,', () => {
  test('come from footers', async () => {
    const cases = fc.record({ chunks, ranges: fc.array(range, { minLength: 8, maxLength: 8 }), app });
    await fc.assert(
      fc.asyncProperty(cases, async one => {
        const store = await storeOf(one.chunks, 0);
        for (const { from, to } of one.ranges) {
          const { texts } = await look(store, { from, to, app: one.app });
          expect(texts).toEqual(modelOf(one.chunks, { from, to, app: one.app }));
        }
      }),
      { numRuns: 100 },
    );
  });

  test('come from an index of any of the chunks and of deleted chunks', async () => {
    const cases = fc.record({
      chunks,
      fates: fc.array(fc.constantFrom('covered', 'not covered', 'gone'), { minLength: 6, maxLength: 6 }),
      ranges: fc.array(range, { minLength: 8, maxLength: 8 }),
      app,
      inline: fc.boolean(),
    });
    let pagesRead = 0;
    await fc.assert(
      fc.asyncProperty(cases, async one => {
        const there = one.chunks.filter((_, i) => one.fates[i] !== 'gone');
        const index = await indexOf(one.chunks.filter((_, i) => one.fates[i] !== 'not covered'));
        const store = await storeOf(there, one.inline ? 1e6 : 0);
        for (const { from, to } of one.ranges) {
          const told = await look(store, { from, to, app: one.app, index });
          expect(told.texts).toEqual(modelOf(there, { from, to, app: one.app }));
          pagesRead += told.pagesRead;
        }
      }),
      { numRuns: 100 },
    );
    // The cases are such that timestamps had to decide some of them.
    expect(pagesRead).toBeGreaterThan(0);
  });

  test('are found if a stream spans several pages', async () => {
    const line = 'x'.repeat(400_000);
    const times = [0, 1, 2, 3, 4, 5, 6, 7].map(n => 10 * NS_OF_MINUTE + n * 1000);
    const entries = times.flatMap(time =>
      ['a', 'b'].map(name => ({ stream: { app: name }, time, line, metadata: {} })),
    );
    const many = [{ id: 'ab'.repeat(16), entries }];
    const store = await storeOf(many, 0);
    for (let from = 10 * NS_OF_MINUTE - 500; from < 10 * NS_OF_MINUTE + 8500; from += 500) {
      for (const to of [from, from + 1, from + 500, from + 501, from + 3000]) {
        expect((await look(store, { from, to })).texts).toEqual(modelOf(many, { from, to }));
      }
    }
  });
});

describe('page reads for streams of a range', () => {
  const at = (time: number, name = 'a'): PlainEntry => {
    return { stream: { app: name }, time, line: 'x', metadata: {} };
  };
  const one = (...entries: PlainEntry[]): PlainChunk => ({ id: 'ab'.repeat(16), entries });
  const spread = one(at(NS_OF_MINUTE), at(3 * NS_OF_MINUTE + 5), at(8 * NS_OF_MINUTE));
  const a = ['{app="a"}'];
  const rows: [string, PlainChunk[], number, number, string[], number][] = [
    ['not where the chunk lies outside', [spread], 9 * NS_OF_MINUTE, 10 * NS_OF_MINUTE, [], 0],
    ['not where the first entry is inside', [spread], NS_OF_MINUTE, NS_OF_MINUTE + 1, a, 0],
    ['not where the last entry is inside', [spread], 8 * NS_OF_MINUTE, 8 * NS_OF_MINUTE + 1, a, 0],
    ['not where a whole minute has entries', [spread], 2 * NS_OF_MINUTE, 5 * NS_OF_MINUTE, a, 0],
    ['not where no minute that is met has entries', [spread], 5 * NS_OF_MINUTE, 6 * NS_OF_MINUTE, [], 0],
    [
      'where part of a minute is met, for an entry',
      [spread],
      3 * NS_OF_MINUTE + 5,
      3 * NS_OF_MINUTE + 6,
      a,
      1,
    ],
    ['where part of a minute is met, for none', [spread], 3 * NS_OF_MINUTE + 6, 3 * NS_OF_MINUTE + 7, [], 1],
    [
      'not for a stream that another chunk shows',
      [spread, { id: 'cd'.repeat(16), entries: [at(3 * NS_OF_MINUTE + 6)] }],
      3 * NS_OF_MINUTE + 6,
      3 * NS_OF_MINUTE + 7,
      a,
      0,
    ],
    [
      'once for the chunk where both streams are open',
      [
        one(
          at(NS_OF_MINUTE),
          at(3 * NS_OF_MINUTE + 5),
          at(8 * NS_OF_MINUTE),
          at(1, 'b'),
          at(3 * NS_OF_MINUTE + 9, 'b'),
          at(9 * NS_OF_MINUTE, 'b'),
        ),
      ],
      3 * NS_OF_MINUTE + 4,
      3 * NS_OF_MINUTE + 6,
      a,
      1,
    ],
  ];
  test.each(rows)('%s', async (_, list, from, to, texts, pagesRead) => {
    const store = await storeOf(list, 0);
    expect(await look(store, { from, to })).toEqual({ texts, pagesRead });
    // An index changes the source of the data, not which data is needed.
    expect(await look(store, { from, to, index: await indexOf(list) })).toEqual({ texts, pagesRead });
    expect(await look(store, { from, to, index: await indexOf(list.slice(0, 1)) })).toEqual({
      texts,
      pagesRead,
    });
  });

  test.each<[string, PlainChunk[]]>([
    ['one chunk', [spread]],
    ['two', [spread, { ...spread, id: 'cd'.repeat(16) }]],
  ])('an index with corrupt counts is ignored: %s', async (_, list) => {
    const store = await storeOf(list, 0);
    const object = Buffer.from(await indexObjectOf(list));
    object[0] ^= 1;
    const index = await readIndexHead(bufferSource(object), { tenant: TENANT, day: DAY });
    await expect(index.counts(list[0].id)).rejects.toThrow(/checksum/);
    for (const [from, to] of [
      [2 * NS_OF_MINUTE, 5 * NS_OF_MINUTE],
      [3 * NS_OF_MINUTE + 5, 3 * NS_OF_MINUTE + 6],
      [3 * NS_OF_MINUTE + 6, 3 * NS_OF_MINUTE + 7],
    ]) {
      expect(await look(store, { from, to, index })).toEqual(await look(store, { from, to }));
    }
  });

  test('no page is read after the client disconnects', async () => {
    const { source, records } = await storeOf([spread], 0);
    const signal = AbortSignal.abort();
    const selector = compileSelector([]);
    const request = {
      source,
      records,
      index: undefined,
      selector,
      from: 0,
      to: 9,
      statistics: newStatistics(),
    };
    const inside = { ...request, from: NS_OF_MINUTE, to: NS_OF_MINUTE + 1, signal };
    await expect(presentStreams(inside)).rejects.toMatchObject({ name: 'AbortError' });
  });
});
