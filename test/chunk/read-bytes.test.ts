/** The bytes of a read are released when its pages are processed, and not before. */
import { expect, test } from '@jest/globals';
import { ColumnKind } from '../../shared/storage/chunk/format.ts';
import { PageColumns } from '../../shared/storage/chunk/page-columns.ts';
import {
  footerOf,
  missingRange,
  type PageWants,
  rowsOf as viewOf,
} from '../../shared/storage/chunk/reader.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { CODEC_RAW, QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { ReadBytes } from '../../shared/storage/codec/read-bytes.ts';
import { rowsOf } from '../support/rows.ts';

const WANTS: PageWants = { lines: 'bytes', metadata: 'all' };
/** Few bytes without repetitions are stored as they are. */
const LINES = Array.from({ length: 20 }, (_, row) => ({
  packed: `line ${row} `.padEnd(400, 'and so on, '),
  raw: 'qwertyuiopasdfghjklz'[row],
}));

async function chunkOf(kind: 'packed' | 'raw') {
  const entries = LINES.map((line, row) => ({
    stream: { app: 'a' },
    time: row * 1e9,
    line: line[kind],
    metadata: { trace: `t${row}` },
  }));
  const head = { id: '0'.repeat(32), tenant: 't', day: 20_000, level: 0, createdMs: 0, inputs: [] };
  const { parts, bytes } = await writeChunk(head, rowsOf(entries), QUICK_COMPRESSION);
  const object = Buffer.concat(parts, bytes);
  return { object, footer: footerOf(object, 'chunk') };
}

function isGone({ buffer }: Buffer): boolean {
  return (buffer as ArrayBuffer).detached;
}

/** The same bytes as a separate buffer. */
function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

test.each(['packed', 'raw'] as const)(
  'a page without lines gives equal results for all other columns: %s',
  async kind => {
    const { object, footer } = await chunkOf(kind);
    const [page] = footer.pages;
    const stored = ownCopy(object.subarray(page.offset, page.offset + page.storedBytes));
    const lent = new ReadBytes(stored);
    const columns = new PageColumns(footer, page, 'x');
    columns.add(0, stored, lent);
    lent.freeUnheld();
    expect(isGone(stored)).toBe(false);
    const block = page.columns.find(column => column.kind === ColumnKind.lines)?.block;
    expect(block?.codec === CODEC_RAW).toBe(kind === 'raw');
    const rows = viewOf(columns, WANTS);
    expect(rows.lines.toString()).toBe(LINES.map(line => line[kind]).join(''));
    columns.release();
    columns.release();
    expect(isGone(stored)).toBe(true);
    expect(rows.times[3] - rows.times[0]).toBe(3e9);
    expect(rows.metadata[0].valueAt(rows.metadata[0].ids[7] - 1)).toBe('t7');
    expect(rows.lineOffsets.at(-1)).toBe(footer.lineBytes);
    // Lines that are gone are not silently others.
    expect(() => rows.lines).toThrow('0 bytes, expected');
    const { start, end } = missingRange(columns, WANTS);
    columns.add(start, object.subarray(page.offset + start, page.offset + end));
    expect(rows.lines.toString()).toBe(LINES.map(line => line[kind]).join(''));
  },
);

test('keeps bytes until the last page in them is done', async () => {
  const { object, footer } = await chunkOf('packed');
  const [page] = footer.pages;
  const stored = ownCopy(object.subarray(page.offset, page.offset + page.storedBytes));
  const lent = new ReadBytes(stored);
  const pages = [new PageColumns(footer, page, 'x'), new PageColumns(footer, page, 'y')];
  for (const columns of pages) columns.add(0, stored, lent);
  pages[0].release();
  expect(isGone(stored)).toBe(false);
  expect(viewOf(pages[1], WANTS).lines.length).toBe(footer.lineBytes);
  pages[1].release();
  expect(isGone(stored)).toBe(true);
});

test('a cached page takes over the bytes of a read for itself alone, and copies its part of a longer read', async () => {
  const { object, footer } = await chunkOf('packed');
  const [page] = footer.pages;
  const keeper = {
    slotFor: () => undefined,
    usedLines: () => undefined,
    forget: () => undefined,
    noteLearned: () => undefined,
    hasLearned: () => false,
  };
  for (const extraBytes of [0, 1]) {
    const read = ownCopy(object.subarray(page.offset, page.offset + page.storedBytes + extraBytes));
    const lent = new ReadBytes(read);
    const columns = new PageColumns(footer, page, 'x', keeper);
    columns.add(0, read.subarray(0, page.storedBytes), lent);
    lent.freeUnheld();
    expect(isGone(read)).toBe(extraBytes > 0);
    columns.release();
    expect(isGone(read)).toBe(extraBytes > 0);
    expect(viewOf(columns, WANTS).lines.toString()).toBe(LINES.map(line => line.packed).join(''));
    expect(columns.heldBytes).toBeGreaterThan(page.storedBytes);
  }
});

test('a part of a buffer that is not all theirs is left alone', () => {
  const whole = ownCopy(Buffer.from('somebody else reads here'));
  new ReadBytes(whole.subarray(0, 8)).freeUnheld();
  expect(whole.toString()).toBe('somebody else reads here');
});
