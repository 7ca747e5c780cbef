/** Lines as templates and columns: the kernel against the plain version, and what it wrote read back by two readers. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SplitPage } from '../../shared/base/kernels/join-lines.ts';
import { createLineMemory } from '../../shared/base/kernels/line-memory.ts';
import { splitLines } from '../../shared/base/kernels/split-lines.ts';
import { readSplitLines } from '../chunk/independent-split.ts';
import { hostilePage, mixedText, type Page, pageOf } from './hostile.ts';
import { packColumn, splitOf, variablesOf } from './oracles/split-lines.ts';
import { numberedPage, pageOfTexts, shapedPage, type TimedPage, timedPage } from './shaped-lines.ts';

const MEMORY = createLineMemory(512 * 1024);

const linesOf = ({ lines, lineOffsets, rows }: Page) =>
  Array.from({ length: rows }, (_, row) => lines.latin1Slice(lineOffsets[row], lineOffsets[row + 1]));

function splitBytes(page: TimedPage): Buffer {
  const split = splitLines(page);
  expect(split).toBeDefined();
  return Buffer.concat([split!.frame, split!.columns]);
}

function joined(
  bytes: Buffer,
  lineOffsets: Uint32Array,
  rows: number,
  times?: Float64Array,
): Buffer | undefined {
  // Lines in line memory, but not at its start. Bytes after the lines stay.
  const lines = MEMORY.subarray(100, 100 + lineOffsets[rows]);
  MEMORY.fill(0xee, 100 + lines.length, 300 + lines.length);
  const page = new SplitPage(bytes.length, lines);
  bytes.copy(page.bytes);
  // Times of a page are relative to its earliest one.
  const base = times?.[0] ?? 0;
  const rowTimes = times && { base, offsets: times.map(time => time - base) };
  const isRight = page.open(rows, rowTimes) && page.join(lineOffsets);
  expect(MEMORY.subarray(100 + lines.length, 300 + lines.length).every(byte => byte === 0xee)).toBe(true);
  return isRight ? Buffer.from(lines) : undefined;
}

function expectSame(page: TimedPage): void {
  const bytes = splitBytes(page);
  const want = splitOf(linesOf(page), page.times);
  expect(bytes.toString('hex')).toBe(Buffer.concat([want.frame, want.columns]).toString('hex'));
  const { lineOffsets, rows, times } = page;
  expect(joined(bytes, lineOffsets, rows, times)?.equals(page.lines)).toBe(true);
  expect(readSplitLines(bytes, rows, times && [...times])).toEqual(linesOf(page));
}

describe('lines as templates and columns', () => {
  test.each([
    ['a word with a digit', 'at 10.0.0.7:8080 blk_-12 x', ['10.0.0.7:8080', 'blk_-12']],
    ['a time', '2026-11-23T14:12:51.5Z end.', ['2026-11-23T14:12:51.5Z']],
    ['a joint with no digit behind', 'v1. 2: 3.x', ['v1', '2', '3']],
    ['values of JSON', '{"a":"b c","n": 12,"o":{"k":null},"l":[1,2]}', ['b c', '12', 'null', '1', '2']],
    ['a string with an escape', '{"a":"b\\"c","d":1}', ['b\\"c', '1']],
    ['a string that does not end', '{"a":"b\\', ['b\\']],
    ['values of logfmt', 'a=b msg="c d" e= f="', ['b', 'c d']],
    ['a string of its own', '- "GET /a b" "" "open', ['GET /a b']],
    ['an equals sign behind no word', '= ==x', []],
    ['nothing', '', []],
  ])('variables: %s', (_, line, want) => {
    const found = variablesOf(line as string);
    expect(found?.map(({ start, end }) => (line as string).slice(start, end))).toEqual(want);
    expectSame(pageOfTexts([line as string]));
  });

  test.each([
    ['words', ['a', 'b', 'a', 'b'], 1],
    ['one word', ['a', 'a'], 1],
    ['values that are all different', ['a', 'b', 'c'], 0],
    ['integers', ['1', '-20', '300'], 2],
    ['decimals', ['1.50', '-0.25', '12.00'], 2],
    ['decimals of other digits', ['1.5', '0.25', '3'], 0],
    ['numbers with leading zeros', ['01', '02', '03'], 0],
    ['times', Array.from({ length: 9 }, (_, i) => `2026-11-23T14:12:5${i}.5Z`), 3],
    ['ids', Array.from({ length: 9 }, (_, i) => `a${i}b${i}c${i}d${9 - i}`), 3],
    ['hexadecimal ids', Array.from({ length: 9 }, (_, i) => `${'abcdef012'[i]}${i}b${i}c${i}d${9 - i}`), 4],
    ['texts with a number', Array.from({ length: 40 }, (_, i) => `server.go:${i * i}`), 6],
    [
      'numbers with units',
      Array.from({ length: 40 }, (_, i) => `${(i / 7).toFixed(3)}${i % 3 ? 'ms' : 's'}`),
      6,
    ],
    ['few texts with a number', Array.from({ length: 31 }, (_, i) => `server.go:${i * i}`), 0],
    [
      'texts with a number, and an eighth of others',
      Array.from({ length: 340 }, (_, i) => (i < 40 ? `${'x'.repeat(i)}a number ${i}` : `a number ${i}`)),
      6,
    ],
    [
      'texts with a number and many words',
      Array.from({ length: 600 }, (_, i) => `${'x'.repeat(i)}a ${i}`),
      0,
    ],
    ['addresses', Array.from({ length: 300 }, (_, i) => `${i % 251}.${(i * 7) % 253}.${i % 3}.${i % 99}`), 0],
  ])('types: %s', (_, values, want) => {
    expect(packColumn(values as string[]).record[0]).toBe(want);
    expectSame(pageOfTexts((values as string[]).map(value => `{"k":"${value}"}`)));
  });

  const clock = (seconds: number) => Array.from({ length: 9 }, (_, i) => (seconds + i) * 1e9 + 123_456_789);
  test.each([
    ['UTC', (i: number) => `2026-11-23T14:12:5${i}.123Z`, 5],
    ['another zone', (i: number) => `2026-11-23T08:27:5${i}.123456789-05:45`, 5],
    ['a comma and six digits', (i: number) => `14:12:5${i},123456`, 5],
    ['behind a year', (i: number) => `23/Nov/2026:14:12:5${i}`, 5],
    ['a second late', (i: number) => `14:12:5${(i + 1) % 10}.123`, 3],
    ['one value late', (i: number) => `14:12:5${i === 8 ? 9 : i}.123`, 3],
    ['rounded up', (i: number) => `14:12:5${i}.1${i % 2}`, 3],
    ['another number next to it', (i: number) => `14:12:5${i} ${i}`, 3],
  ])('times of rows: %s', (_, shown, want) => {
    const times = clock(14 * 3600 + 12 * 60 + 50);
    const texts = times.map((_, i) => (shown as (i: number) => string)(i));
    expect(packColumn(texts, times).record[0]).toBe(want);
    expect(packColumn(texts).record[0]).toBe(3);
    const page = pageOfTexts(texts.map(text => `{"k":"${text}"}`));
    expectSame(page);
    expectSame({ ...page, times: Float64Array.from(times) });
  });

  test('times of rows are not read without times, nor with others', () => {
    const times = Float64Array.from(clock(51_000));
    const texts = [...times].map(ns => `{"k":"${new Date(ns / 1e6).toISOString()}","n":${ns}}`);
    const page = { ...pageOfTexts(texts), times };
    const { lineOffsets, rows } = page;
    const bytes = splitBytes(page);
    expect(joined(bytes, lineOffsets, rows, times)?.equals(page.lines)).toBe(true);
    expect(joined(bytes, lineOffsets, rows)).toBeUndefined();
    const later = times.map(time => time + 1e9);
    expect(joined(bytes, lineOffsets, rows, later)?.equals(page.lines)).toBe(false);
    // Times that no row can have do not break the reader.
    const broken = times.map(() => 2 ** 53);
    expect(joined(bytes, lineOffsets, rows, broken)?.length).toBe(page.lines.length);
  });

  test('is the plain version on lines that show the times of their rows, and reads back', () => {
    fc.assert(fc.property(timedPage, expectSame), { numRuns: 600 });
  });

  test('is the plain version on lines of few shapes, and reads back', () => {
    fc.assert(fc.property(shapedPage, expectSame), { numRuns: 600 });
  });

  test('is the plain version on texts with a number, and reads back', () => {
    fc.assert(fc.property(numberedPage, expectSame), { numRuns: 600 });
  });

  test('is the plain version on hostile bytes, and reads back', () => {
    fc.assert(fc.property(hostilePage, expectSame), { numRuns: 600 });
  });

  test('splits lines and values of every length around blocks', () => {
    for (let length = 0; length <= 140; length++) {
      const texts = Array.from({ length: 9 }, (_, i) => mixedText(length, i + 1));
      expectSame(pageOf(texts));
      expectSame(pageOf(texts.map((_, i) => Buffer.from(`{"k":"${'f'.repeat(length)}${i}"}`))));
    }
  });

  test('a line too long, or with too many variables, is a value', () => {
    const long = `${'a'.repeat(40_000)} 1`;
    const many = 'a=1 '.repeat(513);
    const page = pageOfTexts([long, many, 'a=1 '.repeat(512), 'x=1']);
    expectSame(page);
    expect(splitBytes(page).readUInt32LE(0)).toBe(2);
  });

  test('a page with too many templates is not split', () => {
    const name = (i: number) => [...String(i)].map(digit => 'abcdefghij'[Number(digit)]).join('');
    expect(splitLines(pageOfTexts(Array.from({ length: 4094 }, (_, i) => name(i))))).toBeDefined();
    expect(splitLines(pageOfTexts(Array.from({ length: 5000 }, (_, i) => name(i))))).toBeUndefined();
  });

  test('splits lines of over 255 templates, and of more columns than the limit', () => {
    const line = (i: number) => Array.from({ length: 9 }, (_, j) => `k${i}_${j}=v`).join(' ');
    expectSame(pageOfTexts(Array.from({ length: 300 }, (_, i) => line(i))));
  });

  test('bytes that are cut off or changed anywhere give the same lines or none', () => {
    const texts = Array.from(
      { length: 40 },
      (_, i) =>
        `{"ts":"2026-11-23T14:12:51.0${i % 10}Z","n":${i * i},"f":${i}.5,"l":"${i % 3}a","id":"${`${i}abcdef0`.repeat(3)}","t":"${'x'.repeat(i)}"}`,
    );
    const page = pageOfTexts([...texts, ...texts.map((_, i) => `plain é ${i % 7}`)]);
    const bytes = splitBytes(page);
    for (let end = 0; end < bytes.length; end++)
      expect(joined(bytes.subarray(0, end), page.lineOffsets, page.rows)).toBeUndefined();
    for (let at = 0; at < bytes.length; at++) {
      for (const flip of [0xff, 1, 0x80]) {
        const changed = Buffer.from(bytes);
        changed[at] ^= flip;
        const lines = joined(changed, page.lineOffsets, page.rows);
        // If a byte is text, the result is another text of the same length.
        if (lines !== undefined) expect(lines.length).toBe(page.lines.length);
      }
    }
    expect(joined(bytes, page.lineOffsets, page.rows - 1)).toBeUndefined();
  });

  test('refuses random bytes', () => {
    const head = fc.tuple(
      fc.nat(3),
      fc.nat(6),
      fc.nat(9),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 2 }),
    );
    fc.assert(
      fc.property(
        head,
        fc.uint8Array({ maxLength: 300 }),
        ([templates, pieces, text, columns, width], rest) => {
          const bytes = Buffer.concat([
            Buffer.from(Uint32Array.of(templates, pieces, text, columns, 2, width).buffer),
            rest,
          ]);
          joined(bytes, Uint32Array.of(0, 5, 9), 2);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
