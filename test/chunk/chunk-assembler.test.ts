import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compareUtf8 } from '../../shared/base/model/bytes.ts';
import { ChunkAssembler } from '../../shared/storage/chunk/chunk-assembler.ts';
import { decodePage, footerOf } from '../../shared/storage/chunk/reader.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { arbitraryEntries, type PlainEntry, rowsOf, streamOf } from '../support/rows.ts';

const HEAD = { id: 'ab'.repeat(16), tenant: 't', day: 20_412, level: 1, createdMs: 5, inputs: [] };

const inOrder = (entries: readonly PlainEntry[]) =>
  entries.slice().sort((a, b) => {
    return compareUtf8(streamOf(a.stream).text, streamOf(b.stream).text) || a.time - b.time;
  });

async function atOnce(entries: readonly PlainEntry[]): Promise<Buffer> {
  const { parts, bytes } = await writeChunk(HEAD, rowsOf(entries), QUICK_COMPRESSION);
  return Buffer.concat(parts, bytes);
}

/** @param cuts first entries of the batches behind the first, ascending */
async function inBatches(entries: readonly PlainEntry[], cuts: readonly number[]): Promise<Buffer> {
  const assembler = new ChunkAssembler(QUICK_COMPRESSION);
  const bounds = [0, ...cuts, entries.length];
  for (let i = 0; i + 1 < bounds.length; i++) {
    const rows = rowsOf(entries.slice(bounds[i], bounds[i + 1]));
    await assembler.add(rows);
    // The batch is the caller's again.
    rows.sources[0].fill(0xff);
    rows.times.fill(0);
    for (const value of rows.values) value.fill(0xff);
  }
  const { parts, bytes } = await assembler.finish(HEAD);
  return Buffer.concat(parts, bytes);
}

describe('a chunk made of batches', () => {
  test('has the same bytes however its rows are divided', async () => {
    const chunk = arbitraryEntries(60).chain(entries =>
      fc.record({
        entries: fc.constant(inOrder(entries)),
        cuts: fc.uniqueArray(fc.integer({ min: 1, max: Math.max(1, entries.length - 1) }), { maxLength: 5 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(chunk, async ({ entries, cuts }) => {
        const inside = cuts.filter(cut => cut < entries.length).sort((a, b) => a - b);
        expect(await inBatches(entries, inside)).toEqual(await atOnce(entries));
      }),
      { numRuns: 100 },
    );
  });

  const entry = (app: string, time: number, line: string, metadata = {}): PlainEntry => ({
    stream: { app },
    time,
    line,
    metadata,
  });
  const names = (i: number) =>
    Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`n${(i * 30 + n) % 400}`, 'v']));

  test.each<[string, PlainEntry[]]>([
    ['bytes', Array.from({ length: 12 }, (_, i) => entry('a', i, `${i}`.repeat(200 * 1024)))],
    [
      'the end of streams',
      Array.from({ length: 24 }, (_, i) => entry(`s${100 + i}`, i, 'x'.repeat(90 * 1024))),
    ],
    ['metadata names', Array.from({ length: 24 }, (_, i) => entry('a', i, '', names(i)))],
    [
      'metadata values',
      Array.from({ length: 12 }, (_, i) =>
        entry('a', i, '', { [`k${i % 2}`]: `${i % 7}`.repeat(3_000_000) }),
      ),
    ],
  ])('cuts pages by %s as if there was one batch', async (_, entries) => {
    const whole = await atOnce(entries);
    for (const cuts of [[1], [5], [6, 7, 8], [2, 4, 6, 8, 10]]) {
      expect((await inBatches(entries, cuts)).equals(whole)).toBe(true);
    }
  });

  test('a chunk of large metadata values has pages of at most 16 MiB of them', async () => {
    const entries = Array.from({ length: 12 }, (_, i) => entry('a', i, '', { k: `${i}`.repeat(1_500_000) }));
    const { footer } = await writeChunk(HEAD, rowsOf(entries), QUICK_COMPRESSION);
    // 1.5 MB each up to 9, 3 MB from 10 on.
    expect(footer.pages.map(({ rows }) => rows)).toEqual([10, 2]);
  });

  test('has pages in the order of its batches, and sorted streams', async () => {
    const batches = [
      [entry('c', 5, 'x', { detected_level: 'info' })],
      [entry('b', 6, 'xx'), entry('c', 4, 'xxx', { detected_level: 'info' })],
      [entry('a', 7, 'xxxx'), entry('c', 120e9, 'x', { detected_level: 'info' })],
    ];
    const assembler = new ChunkAssembler(QUICK_COMPRESSION);
    for (const batch of batches) await assembler.add(rowsOf(batch));
    const { parts, footer } = await assembler.finish(HEAD);
    expect(footer.version).toBe(7);
    expect(footer.streams.map(({ text }) => text)).toEqual(['{app="a"}', '{app="b"}', '{app="c"}']);
    expect(footer.pages.map(({ runs }) => runs.map(({ stream }) => stream))).toEqual([[2], [1, 2], [0, 2]]);
    const minutes = [...footer.counts].map(levels => levels.map(one => [one.minutes, one.entries]));
    expect(minutes).toEqual([
      [[[1], [1]]],
      [[[1], [1]]],
      [
        [
          [1, 2],
          [2, 1],
        ],
      ],
    ]);
    const object = Buffer.concat(parts);
    const read = footerOf(object, 'a chunk');
    const lines = read.pages.map(page => {
      const wants = { lines: 'bytes', metadata: 'all' } as const;
      const rows = decodePage(read, page, object.subarray(page.offset), wants, 'a chunk');
      return rows.lines.toString('latin1');
    });
    expect(lines).toEqual(['x', 'xxxxx', 'xxxxx']);
  });

  test('has rows', async () => {
    await expect(new ChunkAssembler(QUICK_COMPRESSION).finish(HEAD)).rejects.toThrow('at least one row');
  });
});
