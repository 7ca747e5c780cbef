/** Rows of a split page that may contain a text, found without joining lines: none is missed, and only marked rows are joined. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SplitPage } from '../../shared/base/kernels/join-lines.ts';
import { createLineMemory } from '../../shared/base/kernels/line-memory.ts';
import { splitLines } from '../../shared/base/kernels/split-lines.ts';
import type { BytePattern } from '../../shared/base/model/byte-pattern.ts';
import { hostilePage } from './hostile.ts';
import { numberedPage, pageOfTexts, shapedPage, type TimedPage, timedPage } from './shaped-lines.ts';

const MEMORY = createLineMemory(512 * 1024);

function opened(page: TimedPage): { readonly split: SplitPage; readonly lines: Buffer } {
  const { frame, columns } = splitLines(page)!;
  const lines = MEMORY.subarray(100, 100 + page.lines.length);
  const split = new SplitPage(frame.length + columns.length, lines);
  split.bytes.set(frame);
  split.bytes.set(columns, frame.length);
  expect(split.open(page.rows, page.times && { base: 0, offsets: page.times })).toBe(true);
  return { split, lines };
}

const patternOf = (text: string): BytePattern => {
  const bytes = Buffer.from(text, 'latin1');
  return { bytes, others: bytes };
};

const folded = (bytes: Uint8Array): BytePattern => {
  const isLetter = (byte: number) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
  return { bytes, others: bytes.map(byte => (isLetter(byte) ? byte ^ 0x20 : byte)) };
};

function contains(line: Uint8Array, { bytes, others }: BytePattern): boolean {
  for (let at = 0; at + bytes.length <= line.length; at++) {
    if (bytes.every((byte, i) => line[at + i] === byte || line[at + i] === others[i])) return true;
  }
  return false;
}

/** Parts of the page's bytes: most are in a line, some cross the end of one, and some have another byte. */
const search = fc
  .oneof<fc.Arbitrary<TimedPage>[]>(shapedPage, hostilePage, timedPage, numberedPage)
  .chain(page =>
    fc.record({
      page: fc.constant(page),
      patterns: fc.array(
        fc
          .tuple(fc.nat(page.lines.length), fc.integer({ min: 2, max: 90 }), fc.boolean(), fc.nat(900))
          .map(([from, length, isFolded, at]) => {
            const bytes = Uint8Array.from(page.lines.subarray(from, from + length));
            if (bytes.length < 2) return patternOf('xy');
            if (at < bytes.length) bytes[at] ^= 1;
            return isFolded ? folded(bytes) : { bytes, others: bytes };
          }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  );

const marksOf = (lines: readonly string[], text: string) => {
  const { split } = opened(pageOfTexts(lines));
  expect(split.markRows([patternOf(text)])).toBe(true);
  return [...split.marks].map(Number);
};

describe('rows that may contain a text', () => {
  test('no row is missed, and the lines of marked rows are joined', () => {
    fc.assert(
      fc.property(search, ({ page, patterns }) => {
        const { split, lines } = opened(page);
        expect(split.markRows(patterns)).toBe(true);
        const marks = [...split.marks];
        expect(split.join(page.lineOffsets, true)).toBe(true);
        for (let row = 0; row < page.rows; row++) {
          const [from, to] = [page.lineOffsets[row], page.lineOffsets[row + 1]];
          const line = page.lines.subarray(from, to);
          if (patterns.some(pattern => contains(line, pattern))) expect(marks[row]).toBe(1);
          const want = marks[row] === 1 ? line : Buffer.alloc(line.length);
          expect(lines.toString('hex', from, to)).toBe(want.toString('hex'));
        }
      }),
      { numRuns: 2000 },
    );
  });

  const levels = ['info', 'error', 'warn', 'info', 'error', 'info'];
  const logfmt = levels.map(
    (level, i) => `ts=${i}0 level=${level} msg="took ${i}ms" path=/a/${'bc'[i % 2]} n=${i}.5`,
  );
  const hits = (...rows: readonly number[]) => levels.map((_, row) => Number(rows.includes(row)));
  test.each([
    ['a whole word', 'error', hits(1, 4)],
    ['a part of a word', 'rro', hits(1, 4)],
    ['a key and its value', 'level=error', hits(1, 4)],
    ['a key and the start of its value', 'level=w', hits(2)],
    ['the end of a value and what follows', 'arn msg="', hits(2)],
    ['several values', 'level=warn msg="took 2', hits(2)],
    ['a literal', ' path=', hits(0, 1, 2, 3, 4, 5)],
    ['text without word', 'absent', hits()],
    ['a key with a value that no row has', 'level=debug', hits()],
    ['a text that is in a value of another column', 'level=/a/', hits()],
    ['letters in a number', 'n=x', hits()],
  ])('%s', (_, text, want) => {
    expect(marksOf(logfmt, text)).toEqual(want);
  });

  const ids = [0x0123456789abcdefn, 0xfedcba9876543210n, 0x00aabbccddeeff11n, 0x99887766554433a2n];
  const traces = ids.map(id => `trace="${id.toString(16).padStart(16, '0')}" done`);
  const uuids = ids.map(id => {
    const hex = (id * 0x1_0001_0001n).toString(16).padStart(32, '0').slice(-32);
    return `id ${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')} done`;
  });
  const rowsWith = (lines: readonly string[], text: string) => lines.map(line => Number(line.includes(text)));
  test.each([
    ['a whole ID', traces, 'fedcba9876543210'],
    ['an ID that no row has', traces, 'fedcba9876543211'],
    ['a part of an ID', traces, 'ccddee'],
    ['digits that are in two IDs, next to each other', traces, '1000aa'],
    ['a key and the start of its ID', traces, 'trace="99'],
    ['a key and the start of an ID that no row has', traces, 'trace="9a'],
    ['the end of an ID and what follows', traces, 'a2" done'],
    ['an ID of digits alone', traces, '3210'],
    ['a whole UUID', uuids, uuids[2].slice(3, 39)],
    ['a part of a UUID over a dash', uuids, uuids[1].slice(9, 14)],
  ])('%s', (_, lines, text) => {
    expect(marksOf(lines, text)).toEqual(rowsWith(lines, text));
  });

  test('letters of both cases', () => {
    const { split } = opened(pageOfTexts(logfmt.map((line, i) => (i === 2 ? line.toUpperCase() : line))));
    expect(split.markRows([folded(Buffer.from('Level=WARN'))])).toBe(true);
    expect([...split.marks].map(Number)).toEqual(hits(2));
  });

  test('the start of a long text counts', () => {
    const long = 'x'.repeat(64);
    const lines = [`${long}a 1`, `${long}b 2`, `${long.slice(1)} 3`];
    expect(marksOf(lines, `${long}a`)).toEqual([1, 1, 0]);
  });
});
