/** Texts of columns: the kernel against a plain version, and under guard. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TextColumns, type TextRanges } from '../../shared/base/kernels/text-columns.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostileText } from './hostile.ts';
import { numberedTexts, textsOf, writtenTexts } from './oracles/text-columns.ts';

/** Ranges that overlap, are empty and repeat, also by other bytes. */
const someTexts: fc.Arbitrary<TextRanges> = fc
  .tuple(
    fc.array(hostileText, { minLength: 1, maxLength: 5 }),
    fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 40 }),
  )
  .map(([pieces, ranges]) => {
    const bytes = Buffer.concat([...pieces, ...pieces]);
    const starts = Uint32Array.from(ranges, ([start]) => start % (bytes.length + 1));
    const ends = Uint32Array.from(
      ranges,
      ([, length], i) => starts[i] + (length % (bytes.length - starts[i] + 1)),
    );
    return { bytes, starts, ends };
  });
const tried = fc.constantFrom(0, 4, 1000);
const limits = fc.constantFrom(1, 30, 2 ** 31 - 1);

interface Work {
  readonly texts: TextRanges;
  readonly tried: number;
  readonly limit: number;
  readonly isShared: boolean;
}

const works: fc.Arbitrary<Work> = fc.record({
  texts: someTexts,
  tried,
  limit: limits,
  isShared: fc.boolean(),
});

function numbersIn(columns: TextColumns, { texts, tried: least, isShared }: Work) {
  columns.unshare();
  if (isShared) columns.share(texts.bytes, texts.bytes.length);
  const numbered = columns.number(texts, least);
  return numbered && { numbers: [...numbered.numbers], firsts: [...numbered.firsts] };
}

/** All pages. Every second one gets the text after it, too. */
function pagesOf(columns: TextColumns, { texts, limit }: Work): Buffer[] {
  const pages: Buffer[] = [];
  const count = texts.starts.length;
  columns.open(texts);
  for (let from = 0; from < count; ) {
    let { bytes, next } = columns.write(from, count, limit);
    expect(next).toBeGreaterThan(from);
    if (pages.length % 2 === 1 && next < count)
      ({ bytes, next } = columns.write(next, next + 1, 2 ** 31 - 1, bytes.length));
    pages.push(Buffer.from(bytes));
    from = next;
  }
  return pages;
}

describe('texts of columns', () => {
  test('are numbered and written as by the plain version', () => {
    const columns = new TextColumns();
    fc.assert(
      fc.property(works, work => {
        const texts = textsOf(work.texts);
        expect(numbersIn(columns, work)).toEqual(numberedTexts(texts, work.tried));
        const pages = pagesOf(columns, work);
        expect(Buffer.concat(pages).equals(writtenTexts(texts, Number.POSITIVE_INFINITY))).toBe(true);
        if (pages.length > 0) expect(pages[0].equals(writtenTexts(texts, work.limit))).toBe(true);
      }),
    );
  });

  test('have any number and length', () => {
    const columns = new TextColumns();
    const texts = Array.from({ length: 70_000 }, (_, i) =>
      Buffer.from(`${i % 30_000}`.padStart(1 + (i % 5))),
    );
    texts.push(Buffer.alloc(3_000_000, 'long'));
    const ends = Uint32Array.from(
      texts,
      (
        end =>
        ({ length }: Buffer) =>
          (end += length)
      )(0),
    );
    const starts = Uint32Array.from(ends, (end, i) => end - texts[i].length);
    const ranges = { bytes: Buffer.concat(texts), starts, ends };
    const want = numberedTexts(texts, 70_000)!;
    const { numbers, firsts } = columns.number(ranges, 70_000)!;
    expect([Buffer.from(numbers.slice().buffer), Buffer.from(firsts.slice().buffer)]).toEqual([
      Buffer.from(Uint32Array.from(want.numbers).buffer),
      Buffer.from(Uint32Array.from(want.firsts).buffer),
    ]);
    const pages = pagesOf(columns, { texts: ranges, tried: 0, limit: 1_000_000, isShared: false });
    expect(Buffer.concat(pages).equals(writtenTexts(texts, Number.POSITIVE_INFINITY))).toBe(true);
  });
});

/** Texts of 16 bytes whose hashes are equal: the second half cancels the hash of the first (assembly/text-columns.ts). */
function collidingTexts(count: number): readonly Buffer[] {
  const [first, second] = [0x9e3779b97f4a7c15n, 0xc2b2ae3d27d4eb4fn];
  const mask = 0xffff_ffff_ffff_ffffn;
  return Array.from({ length: count }, (_, i) => {
    const text = Buffer.alloc(16);
    text.writeBigUInt64LE(BigInt(i));
    const product = ((((16n * second) & mask) ^ BigInt(i)) * first) & mask;
    text.writeBigUInt64LE(product ^ (product >> 32n), 8);
    return text;
  });
}

function inOneBuffer(texts: readonly Buffer[]): TextRanges {
  const starts = Uint32Array.from(texts, (_, i) => 16 * i);
  return { bytes: Buffer.concat(texts), starts, ends: starts.map(start => start + 16) };
}

describe('texts with equal hashes', () => {
  const columns = new TextColumns();

  test('are found if they are few', () => {
    const few = collidingTexts(4);
    const texts = Array.from({ length: 400 }, (_, i) => few[i % 4]);
    expect([...columns.number(inOneBuffer(texts), 512)!.numbers]).toEqual(texts.map((_, i) => i % 4));
    expect(columns.searchSteps).toBeGreaterThan(400);
  });

  test('get no numbers if they are many, after a bounded number of steps for each text', () => {
    const many = collidingTexts(10_000);
    const texts = [...many, ...many, ...many];
    expect(columns.number(inOneBuffer(texts), texts.length)).toBeUndefined();
    expect(columns.searchSteps).toBeLessThan(9 * texts.length);
    // Texts with other hashes need no more than a step each.
    const others = texts.map(text => Buffer.from(text).fill(0, 8));
    expect(columns.number(inOneBuffer(others), others.length)!.firsts.length).toBe(10_000);
    expect(columns.searchSteps).toBeLessThan(others.length);
  });
});

describe('under guard', () => {
  let guard: Guard;
  beforeAll(() => {
    guard = guardKernels();
  });
  afterAll(() => guard.release());

  test('reads and writes stay within the layout', () => {
    const columns = new TextColumns();
    fc.assert(
      fc.property(works, work => {
        guard.allow([[0, 2 ** 32]]);
        numbersIn(columns, work);
        guard.allow([[4096, columns.laidBytes]]);
        numbersIn(columns, work);
        expect(guard.faults).toEqual([]);
        columns.open(work.texts);
        guard.allow([[0, 2 ** 32]]);
        columns.write(0, work.texts.starts.length, work.limit);
        guard.allow([[4096, columns.laidBytes]]);
        columns.write(0, work.texts.starts.length, work.limit);
        expect(guard.faults).toEqual([]);
      }),
      { numRuns: 50 },
    );
    expect(guard.accesses).toBeGreaterThan(1000);
  });
});
