/** Pages that a merge copies from its inputs: which ones, and that the output equals one of encoded pages. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PageRows } from '../../shared/base/model/page.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { decodeSummaries } from '../../shared/execution/text-index/summary-codec.ts';
import { keyOfChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { recordOf } from '../../shared/storage/catalog/chunk-record.ts';
import { ChunkAssembler } from '../../shared/storage/chunk/chunk-assembler.ts';
import { ColumnKind, type Footer, SectionKind, TRAILER_BYTES } from '../../shared/storage/chunk/format.ts';
import { packPage } from '../../shared/storage/chunk/page-writer.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { withDecodedColumns } from '../../shared/storage/chunk/stored-page.ts';
import { loadBlock, QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import type { MergeOptions } from '../../shared/upkeep/compaction/merge.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { checkChunk } from '../../shared/upkeep/integrity/check-chunk.ts';
import { arbitraryEntries, entriesOfPage, type PlainEntry, rowsOf } from '../support/rows.ts';
import {
  chunkId,
  copyableInputsOf,
  DAY,
  DAY_START,
  inOrder,
  inputOf,
  keyOf,
  merge,
  pagesOf,
  sectionOf,
} from './support/merge-chunks.ts';

/** Tiny, so that few entries make many pages. */
const PAGE_BYTES = 60;

async function chunkOf(entries: readonly PlainEntry[], number = 1, pageBytes = PAGE_BYTES): Promise<Buffer> {
  const assembler = new ChunkAssembler(QUICK_COMPRESSION, chunkIndexers(0)(), pageBytes);
  await assembler.add(rowsOf(entries));
  const head = { id: chunkId(number), tenant: 't-1', day: DAY, level: 3, createdMs: 1, inputs: [] };
  const { parts } = await assembler.finish(head);
  return Buffer.concat(parts);
}

/** 1 for each row of the page that is deleted. */
function marksOf(page: PageRows, goes: (entry: PlainEntry) => boolean): Uint8Array | undefined {
  const marks = Uint8Array.from(entriesOfPage(page, DAY_START), entry => (goes(entry) ? 1 : 0));
  return marks.includes(1) ? marks : undefined;
}

/** Merges with and without copying. */
async function mergeBoth(objects: readonly Buffer[], given: Partial<MergeOptions> = {}) {
  const options = { level: 3, pageBytes: PAGE_BYTES, ...given };
  const { inputs, indexer } = await copyableInputsOf(objects);
  const copying = await merge(inputs, { ...options, indexer });
  const encoding = await merge(
    objects.map(object => inputOf(object)),
    { ...options, indexer: chunkIndexers(0) },
  );
  return { copying, encoding };
}

/** Counts by stream, level and minute. */
function countsOf({ streams, levels, counts }: Footer): string[] {
  return [...counts]
    .flatMap((ofStream, s) =>
      ofStream.flatMap(({ level, minutes, entries, lineBytes, metadataBytes }) =>
        minutes.map((minute, i) =>
          [streams[s].text, levels[level], minute, entries[i], lineBytes[i], metadataBytes[i]].join(' '),
        ),
      ),
    )
    .sort();
}

/** Every byte that a reader could find in the object: as stored, and unpacked. */
function everythingIn(object: Buffer): string {
  const { pages, sections, counts, ...footer } = footerOf(object, 'a chunk');
  const blocks = pages.flatMap(({ offset, columns }) =>
    columns.map(({ block }) => {
      const start = offset + block.offset;
      return loadBlock(object.subarray(start, start + block.storedBytes), block, 'a column');
    }),
  );
  for (const { kind } of sections) blocks.push(sectionOf(object, kind)!);
  const decoded = pages.map(withDecodedColumns);
  return [JSON.stringify({ footer, pages: decoded, counts: [...counts] }), object, ...blocks]
    .map(part => part.toString('latin1'))
    .join('\n');
}

async function doctorLooks(object: Buffer): Promise<void> {
  const footer = footerOf(object, 'a chunk');
  const footerBytes = object.readUInt32LE(object.length - TRAILER_BYTES) + TRAILER_BYTES;
  const tail = object.subarray(object.length - footerBytes);
  const record = recordOf(footer, object.length, footerBytes, { inline: undefined, tail });
  const store = memoryObjectStore();
  await store.putIfAbsent(keyOfChunk(record), object);
  await checkChunk(store, record, { objectBytes: object.length, full: true });
}

function storedPages(object: Buffer): string[] {
  const { pages } = footerOf(object, 'a chunk');
  return pages.map(({ offset, storedBytes }) => object.toString('latin1', offset, offset + storedBytes));
}

/** Expects sections that say of each page what those of a chunk of its rows say. */
async function expectIndexed(object: Buffer): Promise<void> {
  const indexer = chunkIndexers(0)();
  const pages = pagesOf(object);
  for (const page of pages) {
    const rows = rowsOf(entriesOfPage(page, DAY_START));
    await packPage(rows, 0, rows.rows, QUICK_COMPRESSION, indexer);
  }
  for (const { kind, bytes } of indexer.finish()) {
    const stored = sectionOf(object, kind)!;
    if (kind === SectionKind.summaries) {
      const expected = decodeSummaries(Buffer.from(bytes), pages.length);
      expect(decodeSummaries(stored, pages.length)).toEqual(expected);
    } else expect(stored.equals(bytes)).toBe(true);
  }
}

/** Chooses entries by what the seed makes of them: some one by one, or those of a stream, a level or a time. */
function chosenBy(seed: number): (entry: PlainEntry) => boolean {
  const bits = (text: string) =>
    [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, seed);
  const kinds: ((entry: PlainEntry) => boolean)[] = [
    entry => Math.abs(bits(keyOf(entry))) % 7 === 0,
    entry => Math.abs(bits(keyOf(entry))) % 2 === 0,
    ({ stream }) => stream.pod === '1',
    ({ metadata }) => metadata.detected_level !== undefined,
    ({ time }) => time < 40_000_000_000_000,
    () => false,
  ];
  return kinds[seed % kinds.length];
}

const line = (number: number, text = '') => `{"n":${number},"user":"u-${number % 5}","text":"${text}"}`;

/** One stream after the other, a page for every two or three entries. */
function someEntries(count: number): PlainEntry[] {
  return Array.from({ length: count }, (_, i) => ({
    stream: { app: `app-${Math.floor((i * 4) / count)}` },
    time: i * 7_000_000_000,
    line: line(i),
    metadata: { detected_level: i % 3 === 0 ? 'warn' : 'info', trace: `t-${i}` },
  }));
}

/** Entries of three streams that all have rows from `from` to `to`. */
function entriesBetween(from: number, to: number): PlainEntry[] {
  return ['a', 'b', 'c'].flatMap(app =>
    Array.from({ length: to - from }, (_, i): PlainEntry => {
      return { stream: { app }, time: (from + i) * 1e9, line: line(from + i), metadata: {} };
    }),
  );
}

describe('a merge that copies pages', () => {
  test('has the entries and counts of one that encodes all, for any chunks and deleted rows', async () => {
    let copied = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryEntries(), { minLength: 1, maxLength: 4 }),
        fc.nat(60),
        fc.boolean(),
        async (chunks, seed, isLater) => {
          const goes = chosenBy(seed);
          // Chunks one after the other, as windows make them, or among each other.
          const shifted = chunks.map((entries, i) =>
            entries.map(entry => (isLater ? { ...entry, time: (entry.time % 1e13) + i * 1e13 } : entry)),
          );
          const objects = await Promise.all(shifted.map((entries, i) => chunkOf(inOrder(entries), i + 1)));
          const dropRows = (page: PageRows) => marksOf(page, goes);
          const mayDrop = () => seed % 6 !== 5;
          const { copying, encoding } = await mergeBoth(objects, { dropRows, mayDrop });
          copied += copying.summary.copied.pages;
          expect(copying.entries).toEqual(encoding.entries);
          for (const field of ['rowsIn', 'rowsOut', 'dropped', 'duplicates', 'lineBytes'] as const) {
            expect(copying.summary[field]).toBe(encoding.summary[field]);
          }
          if (encoding.footers.length === 0) return;
          const [[made], [expected]] = [copying.footers, encoding.footers];
          for (const field of ['rows', 'lineBytes', 'metadataBytes', 'first', 'last', 'streams'] as const) {
            expect(made[field]).toEqual(expected[field]);
          }
          expect(made.levels.toSorted()).toEqual(expected.levels.toSorted());
          expect(countsOf(made)).toEqual(countsOf(expected));
          await doctorLooks(copying.objects[0]);
          await expectIndexed(copying.objects[0]);
        },
      ),
      { numRuns: 60 },
    );
    expect(copied).toBeGreaterThan(0);
  });

  test('copies pages of long streams from chunks one after the other, and encodes the others', async () => {
    const objects = [
      await chunkOf(entriesBetween(0, 20), 1),
      await chunkOf(entriesBetween(20, 45), 2),
      await chunkOf(entriesBetween(45, 60), 3),
    ];
    const { copying, encoding } = await mergeBoth(objects);
    expect(copying.entries).toEqual(encoding.entries);
    const { copied, encoded } = copying.summary;
    expect(copied.pages).toBeGreaterThan(2 * encoded.pages);
    const known = new Set(objects.flatMap(storedPages));
    const made = storedPages(copying.objects[0]);
    expect(made.filter(page => known.has(page)).length).toBeGreaterThanOrEqual(copied.pages);
    expect(made).toHaveLength(copied.pages + encoded.pages);
    await expectIndexed(copying.objects[0]);
    await doctorLooks(copying.objects[0]);
  });

  test.each([2, 3])('copies pages of several streams in a merge of level %d', async level => {
    const pageBytes = 100 * PAGE_BYTES;
    const objects = [
      await chunkOf(entriesBetween(0, 30), 1, pageBytes),
      await chunkOf(entriesBetween(30, 60), 2, pageBytes),
    ];
    const { copying } = await mergeBoth(objects, { level, pageBytes });
    expect(copying.summary.encoded.pages).toBe(0);
    expect(copying.footers[0].pages.map(({ runs }) => runs.length)).toEqual([3, 3]);
  });

  test('copies no page that another input has rows among', async () => {
    const even = entriesBetween(0, 40).filter(({ time }) => (time / 1e9) % 2 === 0);
    const odd = entriesBetween(0, 40).filter(({ time }) => (time / 1e9) % 2 === 1);
    const pageBytes = 10 * PAGE_BYTES;
    const objects = [await chunkOf(even, 1, pageBytes), await chunkOf(odd, 2, pageBytes)];
    const { copying } = await mergeBoth(objects, { pageBytes });
    expect(copying.summary.copied.pages).toBe(0);
    expect(copying.entries).toEqual(inOrder(entriesBetween(0, 40)));
  });

  test('finds duplicate entries at the timestamp at which one chunk ends and another begins', async () => {
    const first = entriesBetween(0, 21);
    const second = entriesBetween(20, 40);
    const { copying } = await mergeBoth([await chunkOf(first, 1), await chunkOf(second, 2)]);
    expect(copying.summary.duplicates).toBe(3);
    expect(copying.summary.copied.pages).toBeGreaterThan(0);
    expect(copying.entries).toEqual(inOrder([...first, ...second]));
  });

  test('copies pages that continue a timestamp in their order', async () => {
    const entries = Array.from({ length: 30 }, (_, i): PlainEntry => {
      return { stream: { app: 'a' }, time: 5, line: line(i), metadata: {} };
    });
    const { copying } = await mergeBoth([await chunkOf(entries)]);
    expect(copying.entries).toEqual(entries);
    expect(copying.summary.encoded.pages).toBe(0);
  });

  test('does not copy pages of a chunk without index parts', async () => {
    const assembler = new ChunkAssembler(QUICK_COMPRESSION, undefined, PAGE_BYTES);
    await assembler.add(rowsOf(someEntries(40)));
    const head = { id: chunkId(1), tenant: 't-1', day: DAY, level: 3, createdMs: 1, inputs: [] };
    const { parts } = await assembler.finish(head);
    const { copying } = await mergeBoth([Buffer.concat(parts)]);
    expect(copying.summary.copied.pages).toBe(0);
    await expectIndexed(copying.objects[0]);
  });
});

describe('a chunk that is merged alone, without some rows', () => {
  async function without(object: Buffer, goes: (entry: PlainEntry) => boolean) {
    const dropRows = (page: PageRows) => marksOf(page, goes);
    const { copying, encoding } = await mergeBoth([object], { dropRows });
    expect(copying.entries).toEqual(encoding.entries);
    return copying;
  }

  test('has the pages that lose no row byte for byte', async () => {
    const object = await chunkOf(someEntries(80));
    const { summary, objects } = await without(object, ({ time }) => (time / 7_000_000_000) % 20 === 9);
    expect(summary.dropped).toBe(4);
    expect(summary.copied.pages).toBeGreaterThan(20);
    const known = new Set(storedPages(object));
    expect(storedPages(objects[0]).filter(page => known.has(page)).length).toBeGreaterThan(20);
    await expectIndexed(objects[0]);
  });

  test('opens only pages of streams that may lose rows', async () => {
    const object = await chunkOf(someEntries(80));
    const { inputs, indexer } = await copyableInputsOf([object]);
    const opened: string[] = [];
    const { summary } = await merge(inputs, {
      level: 3,
      pageBytes: PAGE_BYTES,
      indexer,
      mayDrop: ({ text }) => text === '{app="app-2"}',
      dropRows: page => {
        for (const { stream } of page.runs) opened.push(stream.text);
        return undefined;
      },
    });
    const pages = footerOf(object, 'the chunk').pages.length;
    expect(summary.copied.pages).toBeGreaterThan(pages - 3);
    expect(opened.length).toBeLessThan(pages / 2);
  });

  test('contains nothing of removed rows: no lines, labels, levels, metadata, columns or sections', async () => {
    const secret = (i: number) => i % 30 === 12;
    const entries = someEntries(90).map((entry, i): PlainEntry => {
      if (!secret(i)) return entry;
      return {
        ...entry,
        line: line(i, 'xsecretx'),
        metadata: { detected_level: 'ysecrety', zsecretz: 'wsecretw' },
      };
    });
    const gone = { stream: { app: 'zz', owner: 'vsecretv' }, time: 1, line: 'usecretu', metadata: {} };
    const object = await chunkOf([...entries, gone]);
    for (const text of ['usecretu', 'vsecretv', 'wsecretw', 'xsecretx', 'ysecrety', 'zsecretz']) {
      expect(everythingIn(object)).toContain(text);
    }
    const goes = (entry: PlainEntry) => JSON.stringify(entry).includes('secret');
    const { summary, objects } = await without(object, goes);
    expect(summary.dropped).toBe(4);
    expect(summary.copied.pages).toBeGreaterThan(0);
    expect(everythingIn(objects[0])).not.toContain('secret');
  });

  test('joins the rest of a page with the next one if both fit into one', async () => {
    const entries = Array.from({ length: 40 }, (_, i): PlainEntry => {
      return { stream: { app: 'a' }, time: i, line: i % 2 === 0 ? 'a' : 'b'.repeat(40), metadata: {} };
    });
    const object = await chunkOf(entries);
    const pages = footerOf(object, 'the chunk').pages.length;
    const { footers } = await without(object, ({ line: text, time }) => text.length > 1 && time < 30);
    expect(footers[0].pages.length).toBeLessThan(pages / 2);
    expect(footers[0].rows).toBe(25);
  });

  test('loses empty metadata values that earlier versions stored', async () => {
    const entries = someEntries(80).map(entry => ({ ...entry, metadata: { ...entry.metadata, empty: '' } }));
    const { inputs, indexer } = await copyableInputsOf([await chunkOf(entries)]);
    const { entries: left } = await merge(inputs, { level: 3, pageBytes: PAGE_BYTES, indexer });
    expect(left).toEqual(inOrder(someEntries(80)));
  });

  test('is refused if a column of entries is damaged', async () => {
    const object = await chunkOf(someEntries(80));
    const { pages } = footerOf(object, 'the chunk');
    const { inputs, indexer } = await copyableInputsOf([object]);
    for (const { offset, columns } of [pages[0], pages[pages.length - 1]]) {
      for (const { block } of columns) {
        if (block.storedBytes === 0) continue;
        object[offset + block.offset] ^= 1;
        const merging = merge(inputs, { level: 3, pageBytes: PAGE_BYTES, indexer });
        await expect(merging).rejects.toThrow('checksum');
        object[offset + block.offset] ^= 1;
      }
    }
  });

  test('derives damaged field columns again', async () => {
    const entries = Array.from({ length: 9000 }, (_, i): PlainEntry => {
      return { stream: { app: 'a' }, time: i, line: `{"status":${200 + (i % 3)},"n":${i}}`, metadata: {} };
    });
    const pageBytes = 64 * 1024;
    const object = await chunkOf(entries, 1, pageBytes);
    const { pages } = footerOf(object, 'the chunk');
    const { inputs, indexer } = await copyableInputsOf([object]);
    const { offset, columns } = pages[1];
    const field = columns.find(({ kind }) => kind === ColumnKind.field)!;
    object[offset + field.block.offset + 1] ^= 1;
    const { summary, objects } = await merge(inputs, { level: 3, pageBytes, indexer });
    expect(summary.encoded.pages).toBeGreaterThan(0);
    expect(summary.copied.pages).toBeGreaterThan(0);
    await doctorLooks(objects[0]);
  });
});
