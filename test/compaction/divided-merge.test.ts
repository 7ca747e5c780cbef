/** Merges that write a chunk for each part of the streams. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { partBits, partOfStream } from '../../shared/storage/catalog/stream-part.ts';
import { arbitraryEntries, type PlainEntry, streamOf } from '../support/rows.ts';
import {
  chunkId,
  copyableInputsOf,
  inOrder,
  inputOf,
  inputsOf,
  keyOf,
  merge,
} from './support/merge-chunks.ts';

/** Lists of entries of up to 16 streams that repeat some of each other's. */
function arbitraryChunks(): fc.Arbitrary<PlainEntry[][]> {
  return fc.tuple(arbitraryEntries(40), fc.integer({ min: 1, max: 16 })).chain(([entries, streams]) => {
    const spread = entries.map((entry, i) => ({
      ...entry,
      stream: { ...entry.stream, pod: `${i % streams}` },
    }));
    const some = fc.array(fc.constantFrom(...spread), { minLength: 1, maxLength: 30 });
    return fc.array(some, { minLength: 1, maxLength: 6 });
  });
}

const partOf = ({ stream }: PlainEntry, bits: number) => partOfStream(streamOf(stream), bits);

describe('a divided merge', () => {
  test('has each entry once, in the chunk of its part, in the order of an undivided one', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryChunks(),
        fc.integer({ min: 1, max: 8 }),
        // Batches of a few rows, and all rows in one.
        fc.constantFrom(50, 1024 * 1024),
        async (chunks, streamBits, batchBytes) => {
          const inputs = await inputsOf(chunks);
          const { summary, parts, footers, entries } = await merge(inputs, { streamBits, batchBytes });
          const want = inOrder(chunks.flat());
          expect(entries).toEqual(want.toSorted((a, b) => partOf(a, streamBits) - partOf(b, streamBits)));
          expect(parts).toEqual([...new Set(want.map(one => partOf(one, streamBits)))].sort((a, b) => a - b));
          for (const [i, { streams, inputs: merged, origin, rows }] of footers.entries()) {
            for (const stream of streams) expect(partOfStream(stream, streamBits)).toBe(parts[i]);
            expect(merged).toEqual(inputs.map(({ footer }) => footer.id));
            expect(origin).toBe(chunkId(1));
            expect(rows).toBe(want.filter(one => partOf(one, streamBits) === parts[i]).length);
          }
          const rowsIn = chunks.flat().length;
          expect(summary).toMatchObject({ rowsIn, rowsOut: want.length, duplicates: rowsIn - want.length });
        },
      ),
      { numRuns: 80 },
    );
  });

  test('has the bytes of an undivided one if all streams are in one part', async () => {
    const inputs = await inputsOf(
      [0, 1].map(i => [{ stream: { app: 'a' }, time: i, line: 'one', metadata: {} }]),
    );
    const [whole, divided] = [await merge(inputs), await merge(inputs, { streamBits: 8 })];
    expect(divided.objects).toEqual(whole.objects);
    expect([whole.parts, divided.parts]).toEqual([[1], [partOfStream(streamOf({ app: 'a' }), 8)]]);
  });

  test('emits nothing if one of the outputs cannot be encoded', async () => {
    const apps = Array.from({ length: 16 }, (_, i) => `${i}`);
    const inputs = await inputsOf([
      apps.map(app => ({ stream: { app }, time: 1, line: 'one', metadata: {} })),
      apps.map(app => ({ stream: { app }, time: 2, line: 'two', metadata: {} })),
    ]);
    let writers = 0;
    const options = {
      streamBits: 2,
      newId: () => {
        if (++writers === 3) throw new Error('no third output');
        return chunkId(0xf000 + writers);
      },
    };
    await expect(merge(inputs, options)).rejects.toThrow('no third output');
    expect(writers).toBe(3);
  });
});

describe('pages of divided chunks', () => {
  const LINE_BYTES = 2000;
  /** A small page ends at half of that where a stream ends. */
  const PAGE_BYTES = 8 * LINE_BYTES;
  /** Chunks of one hour each: every stream has a page of its time. */
  const hours = (apps: readonly string[]) =>
    [1, 2].map(hour =>
      apps.flatMap(app =>
        Array.from({ length: 16 }, (_, i) => ({
          stream: { app },
          time: hour * 3_600_000_000_000 + i,
          line: `${hour} ${i} ${app}`.padEnd(LINE_BYTES, '.'),
          metadata: {},
        })),
      ),
    );

  test('are copied by later merges of their part', async () => {
    const apps = Array.from({ length: 8 }, (_, i) => `app-${i}`);
    const made = await Promise.all(
      hours(apps).map(async (entries, i) => {
        const [push, same] = [entries.slice(0, 16), entries.slice(16)];
        const inputs = await inputsOf([push, same]);
        const { indexer } = await copyableInputsOf([]);
        let id = 0xa000 + 0x100 * i;
        return merge(inputs, {
          streamBits: 1,
          level: 2,
          indexer,
          pageBytes: PAGE_BYTES,
          newId: () => chunkId(++id),
        });
      }),
    );
    for (const part of [2, 3]) {
      const objects = made.map(({ objects: all, parts }) => all[parts.indexOf(part)]);
      const { inputs, indexer } = await copyableInputsOf(objects);
      const { parts, summary } = await merge(inputs, { streamBits: 1, indexer, pageBytes: PAGE_BYTES });
      expect(parts).toEqual([part]);
      const pages = inputs.reduce((sum, { footer }) => sum + footer.pages.length, 0);
      // The last page of the first hour's stream and the first one of the next hour follow each other.
      expect(summary.encoded.pages).toBe(0);
      expect(summary.copied.pages).toBe(pages);
    }
  });

  test('are encoded again if a merge divides their streams', async () => {
    const apps = Array.from({ length: 16 }, (_, i) => `app-${i}`);
    const entries = apps.map((app, i) => ({
      stream: { app },
      time: i,
      line: app.padEnd(LINE_BYTES, '.'),
      metadata: {},
    }));
    const { indexer: first } = await copyableInputsOf([]);
    const whole = await merge(await inputsOf([entries]), { level: 2, indexer: first, pageBytes: PAGE_BYTES });
    const { pages, streams } = whole.footers[0];
    // Each page has four streams, of several parts.
    expect(pages).toHaveLength(4);
    for (const { runs } of pages) {
      expect(new Set(runs.map(({ stream }) => partOfStream(streams[stream], 2))).size).toBeGreaterThan(1);
    }
    const { inputs, indexer } = await copyableInputsOf(whole.objects);
    const divided = await merge(inputs, { streamBits: 2, indexer, pageBytes: PAGE_BYTES });
    expect(divided.summary.copied.pages).toBe(0);
    expect(divided.parts.map(partBits)).toEqual([2, 2, 2, 2]);
    expect(divided.entries.map(keyOf).sort()).toEqual(entries.map(keyOf).sort());
    const again = await merge(inputs, { indexer, pageBytes: PAGE_BYTES });
    expect(again.summary.copied.pages).toBe(4);
    const joined = await merge(divided.objects.map(inputOf));
    expect(joined.entries).toEqual(inOrder(entries));
  });
});
