/**
 * Chunks whose checksums are right and whose footers are not: a merge that copies pages relies on them. It refuses them,
 * and finds which input it was, so that the others are merged.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { keyOfChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { type ChunkRecord, recordOf } from '../../shared/storage/catalog/chunk-record.ts';
import { ChunkAssembler } from '../../shared/storage/chunk/chunk-assembler.ts';
import { type Footer, type RunMeta, TRAILER_BYTES } from '../../shared/storage/chunk/format.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { brokenOf, isOfInputs } from '../../shared/upkeep/compaction/broken-inputs.ts';
import { checkSums } from '../../shared/upkeep/compaction/footer-sums.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { withFooter, withFooterByte } from '../support/changed-footer.ts';
import { type PlainEntry, rowsOf, streamOf } from '../support/rows.ts';
import { chunkId, copyableInputsOf, DAY, inOrder, merge } from './support/merge-chunks.ts';

const PAGE_BYTES = 100;
const GOLDEN = new URL('../chunk/golden/', import.meta.url);

/** Entries of four streams, some pages of which have two. */
function entriesFrom(second: number): PlainEntry[] {
  return ['a', 'b', 'c', 'd'].flatMap(app =>
    Array.from({ length: 12 }, (_, i): PlainEntry => {
      const metadata = { detected_level: i % 2 === 0 ? 'warn' : 'info' };
      return { stream: { app }, time: (second + 20 * i) * 1e9, line: `line ${second + i}`, metadata };
    }),
  );
}

async function chunkOf(entries: readonly PlainEntry[], number: number): Promise<Buffer> {
  const assembler = new ChunkAssembler(QUICK_COMPRESSION, chunkIndexers(0)(), PAGE_BYTES);
  await assembler.add(rowsOf(entries));
  const head = { id: chunkId(number), tenant: 't-1', day: DAY, level: 2, createdMs: 1, inputs: [] };
  const { parts } = await assembler.finish(head);
  return Buffer.concat(parts);
}

/** Changes a run of the page in the middle, which is the only one with rows of others among its own or not. */
function withRun({ pages }: Footer, change: (run: RunMeta) => Partial<RunMeta>): Partial<Footer> {
  const middle = pages.length >> 1;
  return {
    pages: pages.map((page, i) => {
      if (i !== middle) return page;
      return { ...page, runs: page.runs.map((run, r) => (r === 0 ? { ...run, ...change(run) } : run)) };
    }),
  };
}

type Counts = { minutes: number[]; entries: number[]; lineBytes: number[]; metadataBytes: number[] }[][];

/** Moves amounts of the first bucket of a stream to one of another stream, level or minute. */
function moved(from: [number, number, number], to: [number, number, number], field: keyof Counts[0][0]) {
  return ({ counts }: Footer): Partial<Footer> => {
    const known = counts as unknown as Counts;
    const amount = known[from[0]][from[1]][field][from[2]];
    known[from[0]][from[1]][field][from[2]] = 0;
    known[to[0]][to[1]][field][to[2]] += amount;
    return { counts };
  };
}

const LIES: readonly [string, (footer: Footer) => Partial<Footer>][] = [
  ['counts entries for another stream', moved([0, 0, 0], [3, 0, 0], 'entries')],
  ['counts bytes of lines for another stream', moved([1, 0, 0], [2, 0, 0], 'lineBytes')],
  ['counts bytes of metadata for another stream', moved([3, 0, 0], [2, 0, 0], 'metadataBytes')],
  ['counts entries in another minute', moved([1, 0, 0], [1, 0, 1], 'entries')],
  ['counts entries for another level', moved([2, 0, 0], [2, 1, 0], 'entries')],
  ['has another number of bytes', ({ lineBytes }) => ({ lineBytes: lineBytes + 1 })],
  [
    'has a page of more bytes',
    ({ pages }) => ({
      pages: pages.map((page, i) => (i > 0 ? page : { ...page, lineBytes: page.lineBytes + 1 })),
    }),
  ],
  ['has a run of more bytes', footer => withRun(footer, ({ lineBytes }) => ({ lineBytes: lineBytes + 1 }))],
  [
    'has a run of more metadata',
    footer => withRun(footer, run => ({ metadataBytes: run.metadataBytes + 1 })),
  ],
  ['has a run that ends later', footer => withRun(footer, ({ last }) => ({ last: last + 1 }))],
  ['has a run that ends earlier', footer => withRun(footer, ({ last }) => ({ last: last - 1 }))],
  ['has streams that descend', ({ streams }) => ({ streams: streams.toReversed() })],
  [
    'has a stream twice',
    ({ streams }) => ({ streams: streams.map((stream, i) => (i === 1 ? streams[0] : stream)) }),
  ],
  [
    'has no counts',
    ({ counts }) => ({ counts: Array.from(counts, () => []) as unknown as Footer['counts'] }),
  ],
];

async function brokenAmong(objects: readonly Buffer[]): Promise<number[]> {
  const store = memoryObjectStore();
  const records: ChunkRecord[] = [];
  for (const object of objects) {
    const footer = footerOf(object, 'a chunk');
    const footerBytes = object.readUInt32LE(object.length - TRAILER_BYTES) + TRAILER_BYTES;
    const tail = object.subarray(object.length - footerBytes);
    const record = recordOf(footer, object.length, footerBytes, { inline: undefined, tail });
    await store.putIfAbsent(keyOfChunk(record), object);
    records.push(record);
  }
  const broken = await brokenOf(store, records, async () => undefined);
  return broken.map(record => records.indexOf(record));
}

describe('a chunk whose footer', () => {
  test.each(LIES)('%s is refused by a merge that decodes it, or found by the next', async (_, change) => {
    const lying = withFooter(await chunkOf(entriesFrom(0), 1), change);
    // The other chunk has entries among those of each page of the first one, of all pages but one, or of none.
    const others = [
      entriesFrom(10),
      entriesFrom(10).filter(({ stream }) => stream.app !== 'b'),
      entriesFrom(10).filter(({ stream }) => stream.app === 'b'),
      entriesFrom(500),
    ];
    let refused = 0;
    for (const entries of others) {
      const other = await chunkOf(entries, 2);
      const { inputs, indexer } = await copyableInputsOf([lying, other]);
      try {
        await merge(inputs, { level: 2, pageBytes: PAGE_BYTES, indexer });
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptionError);
        expect(await brokenAmong([other, lying])).toEqual([1]);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(0);
  });

  test('says the truth is not refused', async () => {
    const objects = [await chunkOf(entriesFrom(0), 1), await chunkOf(entriesFrom(10), 2)];
    expect(await brokenAmong(objects.map(object => withFooter(object, () => ({}))))).toEqual([]);
  });

  test('has a run without rows is merged, and the output has no such stream', async () => {
    const object = await chunkOf(entriesFrom(0), 1);
    const emptied = withFooter(object, ({ streams, pages, counts }) => ({
      streams: [...streams, streamOf({ app: 'z' })],
      counts: [...counts, []] as unknown as Footer['counts'],
      pages: pages.map(page => {
        const [first] = page.runs;
        const empty = { ...first, stream: streams.length, rows: 0, lineBytes: 0, metadataBytes: 0 };
        return { ...page, runs: [...page.runs, empty] };
      }),
    }));
    const { inputs, indexer } = await copyableInputsOf([emptied, await chunkOf(entriesFrom(500), 2)]);
    const { entries, footers } = await merge(inputs, { level: 2, pageBytes: PAGE_BYTES, indexer });
    expect(entries).toEqual(inOrder([...entriesFrom(0), ...entriesFrom(500)]));
    expect(footers[0].streams).toHaveLength(4);
  });

  test.each(readdirSync(GOLDEN).filter(name => name.endsWith('.chunk')))('is that of %s', name => {
    const { counts, ...footer } = footerOf(readFileSync(new URL(name, GOLDEN)), name);
    checkSums({ counts, footer, storedBytes: 0, read: () => Promise.reject(new Error('nothing is read')) });
  });
});

test('a footer with any byte changed is refused as an error of the inputs, or merged', async () => {
  const object = await chunkOf(entriesFrom(0), 1);
  const other = await chunkOf(
    entriesFrom(10).filter(({ stream }) => stream.app !== 'c'),
    2,
  );
  await fc.assert(
    fc.asyncProperty(fc.noBias(fc.nat(100_000)), fc.noBias(fc.nat(255)), async (at, value) => {
      try {
        const { inputs, indexer } = await copyableInputsOf([withFooterByte(object, at, value), other]);
        if (inputs[0].footer.tenant !== 't-1' || inputs[0].footer.day !== DAY) return;
        await merge(inputs, { level: 2, pageBytes: PAGE_BYTES, indexer });
      } catch (error) {
        // Copied pages are not decoded, so the error may be one of reading the output.
        expect([at, value, isOfInputs(error), error]).toEqual([at, value, true, error]);
      }
    }),
    { numRuns: 1000 },
  );
});
