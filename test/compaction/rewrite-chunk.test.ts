import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PageRows } from '../../shared/base/model/page.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { decodeSummaries } from '../../shared/execution/text-index/summary-codec.ts';
import { keyOfChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { recordOf } from '../../shared/storage/catalog/chunk-record.ts';
import { ChunkAssembler } from '../../shared/storage/chunk/chunk-assembler.ts';
import { type Footer, SectionKind, TRAILER_BYTES } from '../../shared/storage/chunk/format.ts';
import { packPage } from '../../shared/storage/chunk/page-writer.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { loadBlock, QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { type Rewritten, rewriteChunk } from '../../shared/upkeep/compaction/rewrite-chunk.ts';
import { chunkEnrichers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { readStoredExtras } from '../../shared/upkeep/indexing/stored-extras.ts';
import { checkChunk } from '../../shared/upkeep/integrity/check-chunk.ts';
import { arbitraryEntries, entriesOfPage, type PlainEntry, rowsOf } from '../support/rows.ts';
import { chunkId, DAY, DAY_START, inOrder, inputOf, keyOf, merge, pagesOf } from './support/merge-chunks.ts';

/** Tiny, so that few entries make many pages. */
const PAGE_BYTES = 60;

async function chunkOf(entries: readonly PlainEntry[], pageBytes = PAGE_BYTES): Promise<Buffer> {
  const assembler = new ChunkAssembler(QUICK_COMPRESSION, chunkEnrichers(0)(), pageBytes);
  await assembler.add(rowsOf(entries));
  const head = { id: chunkId(1), tenant: 't-1', day: DAY, level: 3, createdMs: 1, inputs: [chunkId(7)] };
  const { parts } = await assembler.finish(head);
  return Buffer.concat(parts);
}

function loaderOf(object: Buffer) {
  const { sections } = footerOf(object, 'a chunk');
  return async (kind: number) => {
    const section = sections.find(one => one.kind === kind);
    if (section === undefined) return undefined;
    const { place } = section;
    return loadBlock(object.subarray(place.offset, place.offset + place.storedBytes), place, 'a section');
  };
}

/** 1 for each row of the page that is deleted. */
function marksOf(page: PageRows, goes: (entry: PlainEntry) => boolean): Uint8Array | undefined {
  const marks = Uint8Array.from(entriesOfPage(page, DAY_START), entry => (goes(entry) ? 1 : 0));
  return marks.includes(1) ? marks : undefined;
}

async function rewrite(
  object: Buffer,
  goes: (entry: PlainEntry) => boolean,
  changes: Partial<Footer> = {},
): Promise<Rewritten> {
  const input = inputOf(object);
  const footer = { ...footerOf(object, 'a chunk'), ...changes };
  const extras = await readStoredExtras(loaderOf(object), footer.pages.length);
  return rewriteChunk(
    { ...input, footer },
    {
      id: chunkId(0xff),
      createdMs: 5,
      enricher: chunkEnrichers(0)(extras),
      pageBytes: PAGE_BYTES,
      mayTouch: () => true,
      dropRows: page => marksOf(page, goes),
      pause: async () => undefined,
    },
  );
}

function objectOf({ chunk }: Rewritten): Buffer {
  if (chunk === undefined) throw new Error('no row stays');
  return Buffer.concat(chunk.parts);
}

/** By stream, level and minute. */
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
    columns.map(({ place }) => {
      const start = offset + place.offset;
      return loadBlock(object.subarray(start, start + place.storedBytes), place, 'a column');
    }),
  );
  for (const { place } of sections) {
    blocks.push(
      loadBlock(object.subarray(place.offset, place.offset + place.storedBytes), place, 'a section'),
    );
  }
  return [JSON.stringify({ footer, pages, counts: [...counts] }), object, ...blocks]
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

describe('a rewritten chunk', () => {
  test('equals a merge of the chunk without the rows, for any deleted rows', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), fc.nat(60), async (entries, seed) => {
        const goes = chosenBy(seed);
        const object = await chunkOf(inOrder(entries));
        const whole = await merge([inputOf(object)], {
          level: 3,
          enricher: chunkEnrichers(0),
          pageBytes: PAGE_BYTES,
          dropRows: page => marksOf(page, goes),
        });
        const rewritten = await rewrite(object, goes);
        expect(rewritten.dropped).toBe(whole.summary.dropped);
        if (whole.footers.length === 0) {
          expect(rewritten.chunk).toBeUndefined();
          return;
        }
        const made = objectOf(rewritten);
        const footer = footerOf(made, 'the new chunk');
        expect(pagesOf(made).flatMap(page => entriesOfPage(page, DAY_START))).toEqual(whole.entries);
        for (const field of [
          'rows',
          'lineBytes',
          'metadataBytes',
          'first',
          'last',
          'streams',
          'level',
        ] as const) {
          expect(footer[field]).toEqual(whole.footers[0][field]);
        }
        expect(footer.levels.toSorted()).toEqual(whole.footers[0].levels.toSorted());
        expect(countsOf(footer)).toEqual(countsOf(whole.footers[0]));
        expect(footer.inputs).toEqual([chunkId(1)]);
        await doctorLooks(made);
      }),
      { numRuns: 60 },
    );
  });

  test('has the pages that lose no row byte for byte, and says of each what a filter of it alone says', async () => {
    const entries = someEntries(80);
    const object = await chunkOf(entries);
    const before = footerOf(object, 'the chunk');
    const rewritten = await rewrite(object, ({ time }) => (time / 7_000_000_000) % 20 === 9);
    const made = objectOf(rewritten);
    const after = footerOf(made, 'the new chunk');
    const { copied } = rewritten.chunk!;
    expect(copied.filter(is => !is).length).toBeLessThanOrEqual(8);
    expect(copied.filter(is => is).length).toBeGreaterThan(20);
    const bytesOf = (from: Buffer, { pages }: Footer) =>
      pages.map(({ offset, storedBytes }) => from.subarray(offset, offset + storedBytes).toString('latin1'));
    const known = new Set(bytesOf(object, before));
    expect(bytesOf(made, after).filter(page => known.has(page))).toHaveLength(copied.filter(is => is).length);

    const anew = chunkEnrichers(0)();
    for (const page of pagesOf(made)) {
      const rows = rowsOf(entriesOfPage(page, DAY_START));
      await packPage(rows, 0, rows.rows, QUICK_COMPRESSION, anew);
    }
    const load = loaderOf(made);
    for (const { kind, bytes } of anew.finish()) {
      const stored = await load(kind);
      if (kind === SectionKind.summaries) {
        expect(decodeSummaries(stored!, copied.length)).toEqual(
          decodeSummaries(Buffer.from(bytes), copied.length),
        );
      } else expect(stored!.equals(bytes)).toBe(true);
    }
  });

  test('holds nothing of what went: not in lines, labels, levels, metadata, columns or sections', async () => {
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
    const rewritten = await rewrite(object, entry => JSON.stringify(entry).includes('secret'));
    expect(rewritten.dropped).toBe(4);
    expect(everythingIn(objectOf(rewritten))).not.toContain('secret');
    expect(rewritten.chunk!.copied).toContain(true);
  });

  test('joins the rest of a page with the next one if both fit into one', async () => {
    const entries = Array.from({ length: 40 }, (_, i): PlainEntry => {
      return { stream: { app: 'a' }, time: i, line: i % 2 === 0 ? 'a' : 'b'.repeat(40), metadata: {} };
    });
    const object = await chunkOf(entries);
    const pages = footerOf(object, 'the chunk').pages.length;
    const rewritten = await rewrite(object, ({ line: text, time }) => text.length > 1 && time < 30);
    const { copied, footer } = rewritten.chunk!;
    expect(copied).toContain(true);
    expect(footer.pages.length).toBeLessThan(pages / 2);
    expect(footer.rows).toBe(25);
  });

  test('packs whole pages of many kept rows as the cutter says', async () => {
    const object = await chunkOf(someEntries(40), 4000);
    const rewritten = await rewrite(object, ({ time }) => time === 0);
    const made = footerOf(objectOf(rewritten), 'the new chunk');
    expect(made.rows).toBe(39);
    for (const { lineBytes, rows } of made.pages) expect(rows === 1 || lineBytes <= PAGE_BYTES).toBe(true);
  });

  test.each<[string, Partial<Footer>]>([
    ['the footer counts other rows', { rows: 81 }],
    ['the footer counts other bytes', { lineBytes: 1 }],
    ['the counts lack what goes', { counts: footerCounts(0) }],
    ['the counts have other levels', { levels: ['', 'else', 'none'] }],
  ])('is refused if %s', async (_, changes) => {
    const object = await chunkOf(someEntries(80));
    const rewriting = rewrite(object, ({ time }) => time === 0, changes);
    await expect(rewriting).rejects.toThrow(/^chunk t-1\/0+1: /);
  });

  test('is refused if a repacked row has an empty metadata value, which the footer counts', async () => {
    const entries = someEntries(80).map(entry => ({ ...entry, metadata: { ...entry.metadata, empty: '' } }));
    const object = await chunkOf(entries);
    const goes = ({ time }: PlainEntry) => time === 0;
    await expect(rewrite(object, goes)).rejects.toThrow(/metadataBytes \d+ of \d+$/);
    // Fallback: a merge of the chunk alone counts again.
    const dropRows = (page: PageRows) => marksOf(page, goes);
    const merged = await merge([inputOf(object)], { dropRows });
    expect(merged.entries).toEqual(inOrder(someEntries(80).filter(entry => !goes(entry))));
  });

  test('is refused if a copied column is damaged', async () => {
    const object = await chunkOf(someEntries(80));
    const { pages } = footerOf(object, 'the chunk');
    const last = pages[pages.length - 1];
    const lines = last.columns[last.columns.length - 1];
    object[last.offset + lines.place.offset] ^= 1;
    const touched = rewriteChunk(
      { ...inputOf(object), footer: footerOf(object, 'the chunk') },
      {
        id: chunkId(0xff),
        createdMs: 5,
        enricher: undefined,
        pageBytes: PAGE_BYTES,
        mayTouch: ({ text }) => text === '{app="app-0"}',
        dropRows: page => marksOf(page, ({ time }) => time === 0),
        pause: async () => undefined,
      },
    );
    await expect(touched).rejects.toThrow('checksum');
  });
});

/** Of four streams, each with no entry. */
function footerCounts(level: number): Footer['counts'] {
  return Array.from({ length: 4 }, () => [
    { level, minutes: [], entries: [], lineBytes: [], metadataBytes: [] },
  ]);
}
