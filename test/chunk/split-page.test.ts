/**
 * Pages of split lines: which pages are split, that they are restored into any memory, and that damage is
 * detected.
 */
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { footerLength } from '../../shared/storage/chunk/footer-codec.ts';
import { ColumnKind, TRAILER_BYTES } from '../../shared/storage/chunk/format.ts';
import { PageColumns } from '../../shared/storage/chunk/page-columns.ts';
import { decodePage, footerOf, rowsOf as rowsOfColumns } from '../../shared/storage/chunk/reader.ts';
import { cutSplit, joinPage, packSplit, trySplit } from '../../shared/storage/chunk/split-page.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import {
  COMPACTION_COMPRESSION,
  type Compression,
  PUSH_COMPRESSION,
} from '../../shared/storage/codec/compression.ts';
import { mixedText, pageOf } from '../kernels/hostile.ts';
import { entriesOfPage, type PlainEntry, rowsOf } from '../support/rows.ts';
import { readEntries } from './independent-reader.ts';

const HEAD = {
  id: '000102030405060708090a0b0c0d0e0f',
  tenant: 't',
  day: 20_412,
  level: 1,
  createdMs: 1_763_600_000_000,
  inputs: [],
};
const WANTS = { lines: 'bytes', metadata: 'all' } as const;

const structured = (i: number) =>
  `{"n":${i},"level":"${i % 2 ? 'info' : 'warn'}","text":"one two three ${i * 7}"}`;
const lettersOf = (n: number) => [...String(n)].map(digit => 'abcdefghij'[Number(digit)]).join('');
const linesOf = (rows: number, line: (i: number) => string | Buffer) =>
  Array.from({ length: rows }, (_, i) => Buffer.from(line(i)));

async function split(texts: readonly Buffer[]): Promise<Buffer | undefined> {
  const { lines, lineOffsets: offsets, rows } = pageOf(texts);
  const tried = trySplit({ lines, offsets, rows });
  return tried && packSplit(cutSplit(tried, undefined), lines, COMPACTION_COMPRESSION);
}

function joined(bytes: Buffer, texts: readonly Buffer[]): Buffer {
  const { lines, lineOffsets: offsets, rows } = pageOf(texts);
  const into = Buffer.alloc(lines.length);
  joinPage(bytes, { offsets, rows }, into, 'page');
  return into;
}

test('pages that are split while another one is compressed', async () => {
  // Random digits do not become smaller, so their section is stored as it is.
  const random = (seed: number) => (i: number) => {
    const id = createHash('sha256')
      .update(`${seed + i}`)
      .digest('hex')
      .slice(0, 16);
    return `{"n":${i},"text":"one two three","id":"${id}"}`;
  };
  const pages = [0, 5000, 10_000].map(seed => linesOf(2500, random(seed)));
  const packing = pages.map(texts => split(texts));
  for (const [i, bytes] of (await Promise.all(packing)).entries())
    expect(joined(bytes!, pages[i]).equals(Buffer.concat(pages[i]))).toBe(true);
});

const entriesOf = (rows: number, line: (i: number) => string): PlainEntry[] =>
  Array.from({ length: rows }, (_, i) => ({ stream: { app: 'a' }, time: i, line: line(i), metadata: {} }));

async function objectOf(entries: readonly PlainEntry[], compression: Compression): Promise<Buffer> {
  const { parts, bytes } = await writeChunk(HEAD, rowsOf(entries), compression);
  return Buffer.concat(parts, bytes);
}

const kindsOf = (object: Buffer) =>
  footerOf(object, 'object').pages.map(({ columns }) => columns.at(-1)?.kind);

describe('which pages are split', () => {
  const noise = (i: number) => mixedText(90, i).toString('latin1');
  const repeated = (i: number) => `some words: "${'abcdefgh '.repeat(6)}${lettersOf(i % 300)}"`;
  test.each([
    ['structured lines', 2000, structured, true],
    ['structured lines under 64 KiB', 1000, structured, false],
    ['words that repeat nowhere', 1000, noise, false],
    // Half of a line is a value that differs a little, which zstd stores as well.
    ['text that repeats', 2000, repeated, false],
    ['one line over 2 MiB', 1, () => 'a 1'.repeat(800_000), false],
    ['one line of 100 KiB', 1, () => 'a 1'.repeat(40_000), false],
    ['no bytes', 3, () => '', false],
  ])('%s', async (_, rows, line, want) => {
    const texts = linesOf(rows as number, line as (i: number) => string);
    const bytes = await split(texts);
    expect(bytes !== undefined).toBe(want);
    if (bytes === undefined) return;
    expect(joined(bytes, texts).equals(Buffer.concat(texts))).toBe(true);
  });

  test('merges split lines and pushes do not; an object of a push has version 1', async () => {
    const entries = entriesOf(2000, structured);
    const merged = await objectOf(entries, COMPACTION_COMPRESSION);
    const pushed = await objectOf(entries, PUSH_COMPRESSION);
    expect([kindsOf(merged), footerOf(merged, 'merged').version]).toEqual([[ColumnKind.splitLines], 6]);
    expect([kindsOf(pushed), footerOf(pushed, 'pushed').version]).toEqual([[ColumnKind.lines], 1]);
    const plain = await objectOf(entriesOf(10, structured), COMPACTION_COMPRESSION);
    expect([kindsOf(plain), footerOf(plain, 'plain').version]).toEqual([[ColumnKind.lines], 6]);
  });

  test('lines that show the times of their rows take less', async () => {
    const timeMs = (i: number) =>
      1_000 * i + (createHash('sha256').update(`${i}`).digest().readUInt16LE() % 1_000);
    const line = (i: number) =>
      `{"ts":"${new Date(timeMs(i)).toISOString()}","level":"${i % 2 ? 'info' : 'warn'}"}`;
    const shown = entriesOf(2000, line).map((entry, i) => ({ ...entry, time: 1_000_000 * timeMs(i) + 999 }));
    const object = await objectOf(shown, COMPACTION_COMPRESSION);
    const { version, pages } = footerOf(object, 'object');
    expect([kindsOf(object), version, pages[0].columns.at(-1)?.isTimed]).toEqual([
      [ColumnKind.splitLines],
      6,
      true,
    ]);
    expect(readEntries(object).map(entry => entry.line)).toEqual(shown.map(entry => entry.line));
    const late = shown.map(entry => ({ ...entry, time: entry.time + 1_000_000 }));
    const other = await objectOf(late, COMPACTION_COMPRESSION);
    expect(footerOf(other, 'other').pages[0].columns.at(-1)?.isTimed).toBeUndefined();
    // The times in these lines take over a byte each.
    expect(other.length - object.length).toBeGreaterThan(2000);
  });

  test('an object has pages of both forms', async () => {
    const entries = entriesOf(6000, i =>
      i < 3000 ? structured(i).padEnd(400) : Buffer.from(mixedText(400, i)).toString('base64'),
    );
    const object = await objectOf(entries, COMPACTION_COMPRESSION);
    expect(new Set(kindsOf(object))).toEqual(new Set([ColumnKind.splitLines, ColumnKind.lines]));
    expect(readEntries(object).map(({ line }) => line)).toEqual(entries.map(({ line }) => line));
  });
});

describe('reading', () => {
  test('reads lines into the line space and into a slot of a keeper', async () => {
    const entries = entriesOf(2000, structured);
    const object = await objectOf(entries, COMPACTION_COMPRESSION);
    const footer = footerOf(object, 'object');
    const [page] = footer.pages;
    const stored = object.subarray(page.offset, page.offset + page.storedBytes);
    const dayStart = BigInt(HEAD.day) * 86_400_000_000_000n;
    const want = entries.map(({ line }) => line);
    const plain = entriesOfPage(decodePage(footer, page, stored, WANTS, 'object'), dayStart);
    expect(plain.map(({ line }) => line)).toEqual(want);

    const slot = Buffer.alloc(page.lineBytes);
    const columns = new PageColumns(footer, page, 'object', {
      slotFor: () => slot,
      usedLines: () => undefined,
      forget: () => undefined,
      noteLearned: () => undefined,
      hasLearned: () => false,
    });
    columns.add(0, stored);
    expect(entriesOfPage(rowsOfColumns(columns, WANTS), dayStart).map(({ line }) => line)).toEqual(want);
    expect(slot.toString()).toBe(want.join(''));
  });

  test('a version that is not known is refused before anything else', async () => {
    const object = await objectOf(entriesOf(2000, structured), COMPACTION_COMPRESSION);
    const at =
      object.length - TRAILER_BYTES - footerLength(object.subarray(-TRAILER_BYTES), object.length, 'object');
    expect(object[at]).toBe(6);
    object[at] = 8;
    expect(() => footerOf(object, 'object')).toThrow('format version 8; this program reads up to 7');
  });

  test('bytes that are cut off or changed are found, or leave lines of the same length', async () => {
    const texts = linesOf(2000, structured);
    const bytes = (await split(texts))!;
    const { length } = Buffer.concat(texts);
    const read = (changed: Buffer) => joined(changed, texts);
    for (let end = 0; end < bytes.length; end += 11) {
      expect(() => read(bytes.subarray(0, end))).toThrow(CorruptionError);
      const changed = Buffer.from(bytes);
      changed[end] ^= 0x55;
      try {
        expect(read(changed).length).toBe(length);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptionError);
      }
    }
    expect(() => read(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow('after its last section');
    const huge = Buffer.from([1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0]);
    expect(() => read(huge)).toThrow('is too large');
  });
});
