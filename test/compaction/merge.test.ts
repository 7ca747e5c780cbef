import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { minuteOf } from '../../shared/storage/chunk/counts.ts';
import type { Footer } from '../../shared/storage/chunk/format.ts';
import type { MergeInput } from '../../shared/upkeep/compaction/merge.ts';
import { arbitraryEntries, type PlainEntry, streamOf } from '../support/rows.ts';
import { fingerprintOf } from './support/fingerprint-of.ts';
import {
  chunkId,
  inOrder,
  inputOf,
  inputsOf,
  keyOf,
  merge,
  objectOf,
  pagesOf,
} from './support/merge-chunks.ts';

const entry = (app: string, time: number, line: string, metadata = {}): PlainEntry => ({
  stream: { app },
  time,
  line,
  metadata,
});

/** A line that does not compress, the same one for a seed. */
function noise(seed: number, bytes = 3000): string {
  return createHash('shake256', { outputLength: bytes }).update(`${seed}`).digest('base64');
}

/** Lists of entries that repeat some of each other's. */
function arbitraryChunks(): fc.Arbitrary<PlainEntry[][]> {
  return arbitraryEntries(40).chain(entries =>
    fc.array(fc.array(fc.constantFrom(...entries), { minLength: 1, maxLength: 30 }), {
      minLength: 1,
      maxLength: 6,
    }),
  );
}

function countsOf(footers: readonly Footer[]): Map<string, number[]> {
  const counts = new Map<string, number[]>();
  for (const { streams, levels, counts: ofStreams } of footers) {
    [...ofStreams].forEach((ofStream, s) => {
      for (const { level, minutes, entries, lineBytes, metadataBytes } of ofStream) {
        minutes.forEach((minute, i) => {
          const key = `${streams[s].text} ${levels[level]} ${minute}`;
          const sum = counts.get(key) ?? [0, 0, 0];
          counts.set(key, [sum[0] + entries[i], sum[1] + lineBytes[i], sum[2] + metadataBytes[i]]);
        });
      }
    });
  }
  return counts;
}

function countEntries(entries: readonly PlainEntry[]): Map<string, number[]> {
  const counts = new Map<string, number[]>();
  for (const { stream, time, line, metadata } of entries) {
    const key = `${streamOf(stream).text} ${metadata.detected_level ?? ''} ${minuteOf(time)}`;
    const sum = counts.get(key) ?? [0, 0, 0];
    const pairs = Object.entries(metadata)
      .flat()
      .reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
    counts.set(key, [sum[0] + 1, sum[1] + Buffer.byteLength(line), sum[2] + pairs]);
  }
  return counts;
}

describe('a merge', () => {
  test('keeps the set of entries, sorted and each once, and counts them', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryChunks(), async chunks => {
        const inputs = await inputsOf(chunks);
        const { summary, footers, entries } = await merge(inputs);
        const want = inOrder(chunks.flat());
        expect(entries).toEqual(want);
        expect(countsOf(footers)).toEqual(countEntries(want));
        const rowsIn = chunks.flat().length;
        expect(summary).toMatchObject({ rowsIn, duplicates: rowsIn - want.length, dropped: 0 });
        expect(summary.rowsOut).toBe(want.length);
        expect(footers[0]).toMatchObject({ level: 1, rows: want.length, createdMs: 2 });
        expect(footers[0].inputs).toEqual(inputs.map(({ footer }) => footer.id));
      }),
      { numRuns: 80 },
    );
  });

  test('gives the same bytes for any order of its inputs', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryChunks(), fc.infiniteStream(fc.nat()), async (chunks, random) => {
        const inputs = await inputsOf(chunks);
        const shuffled = inputs
          .map(input => ({ input, by: random.next().value as number }))
          .sort((a, b) => a.by - b.by)
          .map(({ input }) => input);
        expect((await merge(shuffled)).objects).toEqual((await merge(inputs)).objects);
      }),
      { numRuns: 40 },
    );
  });

  test('a merge in two levels gives the entries and the fingerprint of one', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryChunks(), fc.nat(), async (chunks, cut) => {
        const inputs = await inputsOf(chunks);
        const at = cut % (inputs.length + 1);
        let id = 0xe000;
        const newId = () => chunkId(++id);
        const halves = [
          await merge(inputs.slice(0, at), { newId }),
          await merge(inputs.slice(at), { newId }),
        ];
        const twice = await merge(halves.flatMap(({ objects }) => objects.map(inputOf)));
        const once = await merge(inputs);
        expect(twice.entries.map(keyOf).sort()).toEqual(once.entries.map(keyOf).sort());
        const prints = [twice, once].map(({ objects }) => fingerprintOf(objects.flatMap(pagesOf)));
        expect(prints[0]).toEqual(prints[1]);
        expect(countsOf(twice.footers)).toEqual(countsOf(once.footers));
      }),
      { numRuns: 40 },
    );
  });

  test.each<[string, PlainEntry[][], [string, number, string][]]>([
    [
      'of equal timestamps keeps the order of chunk ids, then rows',
      [[entry('a', 5, 'z'), entry('a', 5, 'y')], [entry('a', 5, 'x')]],
      [
        ['a', 5, 'z'],
        ['a', 5, 'y'],
        ['a', 5, 'x'],
      ],
    ],
    [
      'takes metadata as a set',
      [[entry('a', 5, 'x', { k: '1', l: '2' })], [entry('a', 5, 'x', { l: '2', k: '1' })]],
      [['a', 5, 'x']],
    ],
    [
      'distinguishes entries by metadata',
      [[entry('a', 5, 'x', { k: '1' })], [entry('a', 5, 'x', { k: '2' })], [entry('a', 5, 'x')]],
      [
        ['a', 5, 'x'],
        ['a', 5, 'x'],
        ['a', 5, 'x'],
      ],
    ],
    [
      'does not take a name for a value',
      [[entry('a', 5, 'x', { k: 'l' })], [entry('a', 5, 'x', { l: 'k' })]],
      [
        ['a', 5, 'x'],
        ['a', 5, 'x'],
      ],
    ],
    [
      'finds a repeat inside a chunk',
      [[entry('a', 5, 'x'), entry('a', 5, 'y'), entry('a', 5, 'x')]],
      [
        ['a', 5, 'x'],
        ['a', 5, 'y'],
      ],
    ],
    [
      'keeps the same line of two streams and of two times',
      [[entry('a', 5, 'x'), entry('a', 6, 'x')], [entry('b', 5, 'x')]],
      [
        ['a', 5, 'x'],
        ['a', 6, 'x'],
        ['b', 5, 'x'],
      ],
    ],
    [
      'sorts streams by their UTF-8',
      [[entry('\u{1f600}', 1, 'x')], [entry('\uffff', 1, 'y')]],
      [
        ['\uffff', 1, 'y'],
        ['\u{1f600}', 1, 'x'],
      ],
    ],
  ])('%s', async (_, chunks, want) => {
    const { entries } = await merge(await inputsOf(chunks));
    expect(entries.map(({ stream, time, line }) => [stream.app, time, line])).toEqual(want);
  });

  test('a merge of no chunks gives no chunks', async () => {
    const { summary, objects } = await merge([]);
    expect(objects).toEqual([]);
    expect(summary).toMatchObject({ rowsIn: 0, rowsOut: 0, outputBytes: 0 });
  });

  test('gives one chunk, which takes the place of the oldest input', async () => {
    const chunks = [0, 1, 2].map(c =>
      Array.from({ length: 500 }, (_, i) => entry(i % 2 === 0 ? 'a' : 'b', i * 3 + c, noise(i * 3 + c))),
    );
    const inputs = await inputsOf(chunks);
    const { footers, objects, entries } = await merge(inputs.toReversed(), { batchBytes: 16 * 1024 });
    expect(entries).toEqual(inOrder(chunks.flat()));
    expect(footers.map(({ id, origin }) => ({ id, origin }))).toEqual([
      { id: chunkId(0xf001), origin: chunkId(1) },
    ]);
    expect(footers[0].inputs).toEqual([1, 2, 3].map(chunkId));
    const newer = inputOf(await objectOf([entry('a', 0, 'x'), entry('a', 0, 'y')], chunkId(2)));
    const again = await merge([newer, inputOf(objects[0])], { newId: () => chunkId(0xf002) });
    expect(again.footers[0]).toMatchObject({ origin: chunkId(1), inputs: [0xf001, 2].map(chunkId) });
    // The merged chunk has a newer id, and yet its rows are older.
    expect(again.entries.slice(0, 3).map(({ line }) => line)).toEqual([noise(0), 'x', 'y']);
  });

  test('encodes pages as if all rows had been written together', async () => {
    const chunks = Array.from({ length: 20 }, (_, c) =>
      Array.from({ length: 120 }, (_, i) => entry('a', i * 20 + c, `${c}/${i} ${'x'.repeat(2000)}`)),
    );
    const { footers } = await merge(await inputsOf(chunks));
    const lineBytes = footers[0].pages.map(page => page.lineBytes);
    expect(lineBytes).toHaveLength(5);
    for (const bytes of lineBytes.slice(0, -1)) expect(bytes).toBeGreaterThan(1024 * 1024 - 2100);
  });

  test('drops the requested rows, with one request per page', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryChunks(), fc.constantFrom(1, 2, 3), async (chunks, every) => {
        const inputs = await inputsOf(chunks);
        let pages = 0;
        const { summary, entries, footers } = await merge(inputs, {
          dropRows: async page => {
            pages++;
            const marks = Uint8Array.from({ length: page.rows }, (_, row) => {
              const bytes = page.lineOffsets[row + 1] - page.lineOffsets[row];
              return bytes % every === 0 ? 1 : 0;
            });
            return marks.includes(1) ? marks : undefined;
          },
        });
        const stays = ({ line }: PlainEntry) => Buffer.byteLength(line) % every !== 0;
        const want = inOrder(chunks.flat().filter(stays));
        expect(entries).toEqual(want);
        expect(countsOf(footers)).toEqual(countEntries(want));
        expect(pages).toBe(inputs.reduce((sum, { footer }) => sum + footer.pages.length, 0));
        expect(summary.rowsIn).toBe(summary.dropped + summary.duplicates + summary.rowsOut);
        expect(footers).toHaveLength(want.length > 0 ? 1 : 0);
      }),
      { numRuns: 40 },
    );
  });
});

describe('very many entries of one timestamp', () => {
  const rows = 100_000;
  const many = (from: number) =>
    Array.from({ length: rows }, (_, i) =>
      entry('a', 7, `line ${from + i}`, i % 3 === 0 ? { k: `${i % 5}` } : {}),
    );
  const chunk = (from: number) => [entry('a', 3, 'before'), ...many(from), entry('a', 9, 'after')];

  test('become one row if they are equal', async () => {
    const { summary, entries } = await merge(await inputsOf([chunk(0), chunk(0)]));
    expect(summary).toMatchObject({ rowsIn: 2 * rows + 4, duplicates: rows + 2, rowsOut: rows + 2 });
    expect(new Set(entries.map(keyOf)).size).toBe(rows + 2);
  });

  test('are distinguished after they left with their batch', async () => {
    // With batches of 16 KiB, most rows are compared with what is remembered of freed rows.
    const { summary, entries } = await merge(
      await inputsOf([chunk(0).slice(0, 30_000), chunk(0).slice(5, 40_000)]),
      {
        batchBytes: 16 * 1024,
      },
    );
    expect(summary.rowsOut).toBe(40_000);
    expect(new Set(entries.map(keyOf)).size).toBe(40_000);
  });
});

describe('reads of a merge', () => {
  const chunkOf = (c: number) =>
    Array.from({ length: 700 }, (_, i) => entry('a', i * 10 + c, noise(i * 10 + c)));

  test('is every page once, in few reads, each within its memory share', async () => {
    const inputs = await inputsOf([0, 1].map(chunkOf));
    const share = (64 * 1024 * 1024) / 2 / inputs.length;
    const reads: [number, number][][] = inputs.map(() => []);
    const watched = inputs.map(
      (input, i): MergeInput => ({
        ...input,
        read: (start, end) => {
          reads[i].push([start, end]);
          return input.read(start, end);
        },
      }),
    );
    await merge(watched);
    for (const [i, ofInput] of reads.entries()) {
      const { pages } = inputs[i].footer;
      const last = pages[pages.length - 1];
      expect(pages.length).toBeGreaterThan(2);
      // The input is small compared to its share, so it needs one read.
      expect(ofInput).toEqual([[0, last.offset + last.storedBytes]]);
      expect(last.offset + last.storedBytes).toBeLessThan(share);
    }
  });

  test('is freed when a merge is done with it, and nothing else in the same memory is', async () => {
    const inputs = await inputsOf([0, 1].map(chunkOf));
    const ranges: Buffer[] = [];
    const [alone, part] = [false, true].map(
      (isPart, i): MergeInput => ({
        ...inputs[i],
        read: async (start, end) => {
          const bytes = await inputs[i].read(start, end);
          // Like the range of an inline chunk.
          const range = isPart ? Buffer.concat([bytes, Buffer.from('more')]).subarray(0, -4) : bytes;
          ranges[i] = range;
          return range;
        },
      }),
    );
    const { entries } = await merge([alone, part]);
    expect(entries.length).toBe(1400);
    expect(ranges.map(({ length }) => length)).toEqual([0, expect.any(Number)]);
    expect(ranges[1].length).toBeGreaterThan(0);
  });

  test('is one page at a time if many inputs share it', async () => {
    // 400 inputs have 80 KiB each, less than a page of these lines.
    const large = await inputsOf([chunkOf(0)]);
    const small = await inputsOf(Array.from({ length: 399 }, (_, i) => [entry('b', i, `${i}`)]));
    const ids = small.map((input, i) => ({ ...input, footer: { ...input.footer, id: chunkId(100 + i) } }));
    const sizes: number[] = [];
    const watched: MergeInput = {
      ...large[0],
      read: (start, end) => {
        sizes.push(end - start);
        return large[0].read(start, end);
      },
    };
    const { summary } = await merge([watched, ...ids]);
    expect(summary.rowsOut).toBe(700 + 399);
    expect(sizes).toEqual(large[0].footer.pages.map(({ storedBytes }) => storedBytes));
  });
});
