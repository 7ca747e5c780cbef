/** The vector loop finds the same literals as a plain search, for any bytes after the lines. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLineMemory, lineSpace } from '../../shared/base/kernels/line-memory.ts';
import { LiteralFinder, MAX_ROWS } from '../../shared/base/kernels/literal-finder.ts';
import type { PageRows } from '../../shared/base/model/page.ts';

const REGION = createLineMemory(1 << 20);

/** Few letters, so that literals overlap, repeat and nearly match; some lines are longer than the 16 bytes of a step. */
const bytes = (maxLength: number) =>
  fc
    .oneof(
      { weight: 3, arbitrary: fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength }) },
      { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom('a', '\u00e9', '"'), maxLength }) },
    )
    .map(text => Buffer.from(text));
const literal = bytes(6).filter(({ length }) => length > 0);

function pageOf(lines: readonly Buffer[], memory: Buffer, offset: number): PageRows {
  const lineOffsets = new Uint32Array(lines.length + 1);
  for (const [i, line] of lines.entries()) lineOffsets[i + 1] = lineOffsets[i] + line.length;
  const source = memory.subarray(offset, offset + lineOffsets[lines.length]);
  Buffer.concat(lines).copy(source);
  return {
    rows: lines.length,
    baseNs: 0n,
    times: new Float64Array(lines.length),
    lines: source,
    lineOffsets,
    runs: [],
    metadata: [],
  };
}

/** Places in the page, -1 from the first literal on that is not there. */
function expected(page: PageRows, row: number, literals: readonly Buffer[], lead: number): number[] {
  const end = page.lineOffsets[row + 1];
  let at = page.lineOffsets[row] + lead;
  return literals.map(needle => {
    const found = at < 0 || at > end ? -1 : page.lines.subarray(at, end).indexOf(needle);
    const offset = found < 0 ? -1 : at + found;
    at = found < 0 ? -1 : offset + needle.length;
    return offset;
  });
}

function found(finder: LiteralFinder, page: PageRows, row: number, count: number): number[] {
  const first = finder.find(page, page.lines, row);
  expect(first).toBeGreaterThanOrEqual(0);
  const { stops, base } = finder;
  return Array.from(stops.subarray(first, first + count), stop => (stop < 0 ? -1 : stop - base));
}

describe('literals one behind the other', () => {
  test.each([
    ['the line space', lineSpace()],
    ['a region', REGION],
  ])('finds literals of lines in %s', (_, memory) => {
    fc.assert(
      fc.property(
        fc.array(bytes(70), { minLength: 1, maxLength: 40 }),
        fc.array(literal, { minLength: 1, maxLength: 5 }),
        fc.nat(3),
        fc.nat(70),
        fc.array(fc.nat(39), { maxLength: 10 }),
        (lines, literals, lead, offset, rows) => {
          // The bytes after the last line would match.
          memory.fill('a b', 0, 4096);
          const page = pageOf(lines, memory, offset);
          const finder = LiteralFinder.of(literals, lead)!;
          const all = lines.map((_line, row) => row);
          for (const row of [...all, ...rows.filter(one => one < lines.length)]) {
            expect(found(finder, page, row, literals.length)).toEqual(expected(page, row, literals, lead));
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('finders share one memory', () => {
    const page = pageOf([Buffer.from('a=1 b=2'), Buffer.from('b=3 a=4')], lineSpace(), 5);
    const [first, second] = ['a=', 'b='].map(text => LiteralFinder.of([Buffer.from(text)], 0)!);
    expect([0, 1].map(row => [found(first, page, row, 1), found(second, page, row, 1)])).toEqual([
      [[0], [4]],
      [[11], [7]],
    ]);
  });

  test('leaves lines outside the line space to the caller', () => {
    const page = pageOf([Buffer.from('a b')], Buffer.alloc(10), 0);
    expect(LiteralFinder.of([Buffer.from(' ')], 0)!.find(page, page.lines, 0)).toBe(-1);
  });

  test.each([
    ['a long one', [Buffer.alloc(33, 'x')]],
    ['many', Array.from({ length: 33 }, () => Buffer.from('x'))],
    ['an empty one', [Buffer.alloc(0)]],
  ])('%s: not searched so', (_, literals) => {
    expect(LiteralFinder.of(literals, 0)).toBeUndefined();
  });

  test('without literals, a line is one capture', () => {
    const page = pageOf([Buffer.from('a b'), Buffer.alloc(0), Buffer.from('a b')], REGION, 0);
    const finder = LiteralFinder.of([], 0, [{ capture: 0, before: 0 }])!;
    expect(finder.find(page, page.lines, 0)).toBe(0);
    expect([...finder.numbersOf().numbers.subarray(0, 3)]).toEqual([1, 0, 1]);
    expect(finder.numberedTexts()).toEqual({ texts: Buffer.from('a b'), starts: Uint32Array.of(0, 3) });
  });

  test('finds literals of 32 bytes, and 32 of them', () => {
    const line = Buffer.from(`${'x'.repeat(31)}y${'ab'.repeat(31)}`);
    const literals = [
      Buffer.from(`${'x'.repeat(31)}y`),
      ...Array.from({ length: 31 }, () => Buffer.from('b')),
    ];
    const page = pageOf([line, line.subarray(1), line], REGION, 0);
    const finder = LiteralFinder.of(literals, 0)!;
    for (const row of [0, 1, 2]) {
      expect(found(finder, page, row, 32)).toEqual(expected(page, row, literals, 0));
    }
  });
});

/** Texts between the literals of a row; undefined after a missing literal. */
function capturesOf(page: PageRows, row: number, literals: readonly Buffer[]): (string | undefined)[] {
  const stops = expected(page, row, literals, 0);
  const [start, end] = [page.lineOffsets[row], page.lineOffsets[row + 1]];
  return [...literals, undefined].map((_, i) => {
    if (start === end || (i > 0 && stops[i - 1] < 0)) return undefined;
    const from = i === 0 ? start : stops[i - 1] + literals[i - 1].length;
    const to = i < literals.length && stops[i] >= 0 ? stops[i] : end;
    return page.lines.latin1Slice(from, to);
  });
}

const everyCapture = (literals: readonly Buffer[]) =>
  [...literals, undefined].map((_, i) => ({ capture: i, before: i > 0 ? literals[i - 1].length : 0 }));

describe('numbers of captures', () => {
  test('are equal for equal texts only, in each page of a memory', () => {
    const page = fc.array(bytes(40), { minLength: 1, maxLength: 30 });
    const literals = fc.array(literal, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        fc.array(page, { minLength: 1, maxLength: 3 }),
        literals,
        fc.nat(40),
        (pages, texts, offset) => {
          const finder = LiteralFinder.of(texts, 0, everyCapture(texts))!;
          const seen = new Map<string, number>();
          const textOf = new Map<number, string>();
          let list: unknown;
          for (const lines of pages) {
            const rows = pageOf(lines, REGION, offset);
            for (let row = 0; row < rows.rows; row++) {
              finder.find(rows, rows.lines, row);
              const { first, end, numbers, noted } = finder.numbersOf();
              list ??= noted;
              expect(noted).toBe(list);
              expect(row >= first && row < end).toBe(true);
              for (const [i, text] of capturesOf(rows, row, texts).entries()) {
                const number = numbers[i * MAX_ROWS + row - first];
                if (text === undefined) expect(number).toBe(0);
                else {
                  expect(number).toBeGreaterThan(0);
                  expect(seen.get(text) ?? number).toBe(number);
                  expect(textOf.get(number) ?? text).toBe(text);
                  seen.set(text, number);
                  textOf.set(number, text);
                }
              }
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  const numbersOf = (finder: LiteralFinder, page: PageRows) =>
    Array.from({ length: page.rows }, (_, row) => {
      finder.find(page, page.lines, row);
      const { first, numbers } = finder.numbersOf();
      return numbers[row - first];
    });
  const space = [Buffer.from(' ')];
  const first = [{ capture: 0, before: 0 }];

  test('long texts have none, nor those for which the table has no space', () => {
    const finder = LiteralFinder.of(space, 0, first)!;
    const long = ['x'.repeat(256), 'x'.repeat(257), 'x'.repeat(256)].map(text => Buffer.from(`${text} y`));
    expect(numbersOf(finder, pageOf(long, REGION, 0))).toEqual([1, -1, 1]);
    const many = Array.from({ length: 5000 }, (_, i) => Buffer.from(`${i} y`));
    const numbers = numbersOf(LiteralFinder.of(space, 0, first)!, pageOf(many, REGION, 0));
    const distinct = new Set(numbers.filter(number => number > 0));
    expect(distinct.size).toBeGreaterThan(4000);
    expect(Math.max(...distinct)).toBeLessThanOrEqual(4096);
    expect(new Set(numbers.slice(4200))).toEqual(new Set([-1]));
  });

  test('another finder starts over, and both keep their own list', () => {
    const [one, other] = [0, 1].map(() => LiteralFinder.of(space, 0, first)!);
    const page = pageOf([Buffer.from('a y'), Buffer.from('b y')], REGION, 0);
    const later = pageOf([Buffer.from('c y'), Buffer.from('a y')], REGION, 100);
    expect(numbersOf(one, page)).toEqual([1, 2]);
    const { noted } = one.numbersOf();
    expect(numbersOf(other, page)).toEqual([1, 2]);
    expect(numbersOf(one, later)).toEqual([1, 2]);
    expect(one.numbersOf().noted).not.toBe(noted);
    expect(one.numbersOf().noted).not.toBe(other.numbersOf().noted);
  });
});
