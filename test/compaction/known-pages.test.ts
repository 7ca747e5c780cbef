/** Pages that know all fields of their lines keep that property in every chunk that is made of them. */
import { expect, test } from '@jest/globals';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { KnownLines } from '../../shared/execution/fields/synthesized-lines.ts';
import { keyOfChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { recordOf } from '../../shared/storage/catalog/chunk-record.ts';
import { ChunkAssembler } from '../../shared/storage/chunk/chunk-assembler.ts';
import { ColumnKind, TRAILER_BYTES } from '../../shared/storage/chunk/format.ts';
import { decodePage, footerOf } from '../../shared/storage/chunk/reader.ts';
import { renameTenant } from '../../shared/storage/chunk/rename-tenant.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { checkChunk } from '../../shared/upkeep/integrity/check-chunk.ts';
import { expectSameSaid } from '../fields/said.ts';
import { entriesOfPage, type PlainEntry, rowsOf } from '../support/rows.ts';
import { chunkId, copyableInputsOf, DAY, DAY_START, inputOf, merge } from './support/merge-chunks.ts';

const PAGE_BYTES = 96 * 1024;
const PADDING = 'x'.repeat(50);
const ALL = { lines: 'bytes', metadata: 'all', fieldColumns: { parser: 'either', names: 'all' } } as const;

function lineOf(i: number): string {
  const rare = i % 97 === 0;
  switch (i % 3) {
    case 0:
      return `{"n":${i % 10},"pad":"${PADDING}"${rare ? ',"err":{"kind":"x"}' : ''}}`;
    case 1:
      // The line contains its own time.
      return `ts=${new Date(7 * i).toISOString()} n=${i % 10} pad=${PADDING}${rare ? ' err=x' : ''}`;
    default:
      return `${PADDING} number ${i}${rare ? ' err=x' : ''}`;
  }
}

/** Entries of one stream. */
function entriesFrom(first: number, count: number): PlainEntry[] {
  return Array.from({ length: count }, (_, i) => {
    const time = (first + i) * 7_000_000;
    return { stream: { n: '1' }, time, line: lineOf(first + i), metadata: {} };
  });
}

async function chunkOf(entries: readonly PlainEntry[], number: number): Promise<Buffer> {
  const assembler = new ChunkAssembler(QUICK_COMPRESSION, chunkIndexers(0)(), PAGE_BYTES);
  await assembler.add(rowsOf(entries));
  const head = { id: chunkId(number), tenant: 't-1', day: DAY, level: 3, createdMs: 1, inputs: [] };
  const { parts } = await assembler.finish(head);
  return Buffer.concat(parts);
}

/** Expects of all lines of all pages that the page knows what they say. How many lines there are. */
function expectKnown(object: Buffer, leastPages = 3): number {
  const footer = footerOf(object, 'a chunk');
  let lines = 0;
  for (const page of footer.pages) {
    expect(page.columns.filter(({ kind }) => kind === ColumnKind.residuals)).toHaveLength(1);
    const rows = decodePage(footer, page, object.subarray(page.offset), ALL, 'a chunk');
    const known = new KnownLines(rows.fieldColumns!.known!);
    const said = expectSameSaid(rows, known, { n: '1' }, page.base);
    expect(said).toBe(page.rows);
    lines += said;
  }
  expect(footer.pages.length).toBeGreaterThanOrEqual(leastPages);
  return lines;
}

async function objectOfMerge(objects: readonly Buffer[]): Promise<Buffer> {
  const made = await merge(
    objects.map(object => inputOf(object)),
    { level: 3, indexer: chunkIndexers(0), pageBytes: PAGE_BYTES },
  );
  expect(made.objects).toHaveLength(1);
  return made.objects[0];
}

test('pages stay known if they are merged, rewritten with most pages unchanged, or moved to another tenant', async () => {
  const first = entriesFrom(0, 4000);
  const second = entriesFrom(4000, 2000);
  const merged = await objectOfMerge([await chunkOf(first, 1), await chunkOf(second, 2)]);
  expect(expectKnown(merged)).toBe(6000);

  const { inputs, indexer } = await copyableInputsOf([merged]);
  const { summary, objects } = await merge(inputs, {
    level: 3,
    indexer,
    pageBytes: PAGE_BYTES,
    dropRows: page => {
      const goes = entriesOfPage(page, DAY_START).map(({ time }) => (time / 7_000_000) % 4000 === 500);
      return goes.includes(true) ? Uint8Array.from(goes, one => (one ? 1 : 0)) : undefined;
    },
  });
  expect(summary.copied.pages).toBeGreaterThan(2);
  expect(summary.encoded.pages).toBeGreaterThan(0);
  const [rewritten] = objects;
  expect(expectKnown(rewritten)).toBe(5998);

  expect(expectKnown(renameTenant(rewritten, 't-2', 'a chunk').object)).toBe(5998);
});

test('a page with damaged residuals knows no fields, and the doctor finds it', async () => {
  const object = await chunkOf(entriesFrom(0, 2000), 1);
  expect(expectKnown(object, 1)).toBe(2000);
  const footer = footerOf(object, 'a chunk');
  const [page] = footer.pages;
  const { block } = page.columns.find(({ kind }) => kind === ColumnKind.residuals)!;
  object[page.offset + block.offset + 3] ^= 1;
  expect(
    decodePage(footer, page, object.subarray(page.offset), ALL, 'a chunk').fieldColumns!.known,
  ).toBeUndefined();

  const footerBytes = object.readUInt32LE(object.length - TRAILER_BYTES) + TRAILER_BYTES;
  const tail = object.subarray(object.length - footerBytes);
  const record = recordOf(footer, object.length, footerBytes, { inline: undefined, tail });
  const store = memoryObjectStore();
  await store.putIfAbsent(keyOfChunk(record), object);
  await expect(checkChunk(store, record, { objectBytes: object.length, full: true })).rejects.toThrow(
    /: residual fields/,
  );
});
