/** The kernel of text-index terms finds what the rules of terms.ts say, of any bytes, and touches nothing else. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TermSet } from '../../shared/base/kernels/term-set.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostilePage, hostileText, mixedText, type Page, pageOf } from './hostile.ts';
import { addTerms, type TextTerms, thinned } from './oracles/text-terms.ts';

/** Sorts terms, because millions of numbers are slow to compare otherwise. */
const ascending = (terms: Iterable<number>) => Uint32Array.from(terms).sort();

function expectSet(terms: Iterable<number>, want: Iterable<number>): void {
  const [a, b] = [ascending(terms), ascending(want)];
  if (!Buffer.from(a.buffer).equals(Buffer.from(b.buffer))) expect(a).toEqual(b);
}

function expectedOf(texts: readonly Uint8Array[], startIsKnown = true, endIsKnown = true): TextTerms {
  const into: TextTerms = { terms: new Set(), longestRun: 0 };
  for (const text of texts) addTerms(text, startIsKnown, endIsKnown, into);
  return into;
}

function linesOf({ lines, lineOffsets, rows }: Page): Buffer[] {
  return Array.from({ length: rows }, (_, i) => lines.subarray(lineOffsets[i], lineOffsets[i + 1]));
}

let set: TermSet;
let guard: Guard | undefined;
let memoryBytes = 0;
/** Slack in the layout of assembly/text-terms.ts. */
const SLACK = 64;

function expectTerms(page: Page): void {
  guard?.allow([
    [4096, memoryBytes - 1024 * 1024 - SLACK + Math.min(page.lines.length, 1024 * 1024) + SLACK],
  ]);
  set.clear();
  set.addLines(page.lines, page.lineOffsets, page.rows);
  const { terms, longestRun } = expectedOf(linesOf(page));
  const want = thinned(terms);
  expect([set.overflowed, set.thinning]).toEqual([false, want?.thinning]);
  expectSet(set.terms, want?.kept ?? []);
  expect(Math.min(set.longestRun, 512)).toBe(Math.min(longestRun, 512));
  expect(guard?.faults ?? []).toEqual([]);
}

describe.each(['as compiled', 'under guard'])('terms of a page, %s', kind => {
  beforeAll(() => {
    guard = kind === 'under guard' ? guardKernels() : undefined;
    set = new TermSet();
    memoryBytes = set.memoryBytes;
  });
  afterAll(() => guard?.release());

  test('equal those of its lines, for any bytes', () => {
    fc.assert(fc.property(hostilePage, expectTerms), { numRuns: kind === 'under guard' ? 300 : 2_000 });
  });

  test('finds terms of every length around the blocks and looks of the kernel', () => {
    const texts = ['a', '1', 'a1', '1.', 'abcde12345'].flatMap(text =>
      Array.from({ length: 140 }, (_, length) => Buffer.from(text.repeat(70).slice(0, length))),
    );
    for (const text of texts) expectTerms(pageOf([text]));
    expectTerms(pageOf(texts));
  });

  test('finds terms of a needle, whose ends are known or not', () => {
    fc.assert(
      fc.property(hostileText, fc.boolean(), (text, endsAreKnown) => {
        guard?.allow([[4096, memoryBytes]]);
        set.clear();
        set.addText(text, endsAreKnown);
        expectSet(set.terms, expectedOf([text], endsAreKnown, endsAreKnown).terms);
        expect(guard?.faults ?? []).toEqual([]);
      }),
      { numRuns: kind === 'under guard' ? 200 : 1_000 },
    );
  });

  test('a line of 10 MB, cut into parts that overlap, has the terms of the whole', () => {
    // A run across each cut, which are multiples of 1 MiB less 512.
    const text = mixedText(10_000_000);
    const step = 1024 * 1024 - 512;
    for (let i = 1; i * step + 300 < text.length; i++) {
      text.fill(i % 2 === 0 ? 'ab' : 'c', i * step - 40 * i, i * step + 300);
      text[i * step - 100 + 37 * i] = 0x37;
      text.write(' 10.168.13.7 a1b2 ', i * step + 250);
    }
    expectTerms(pageOf([Buffer.from('x1'), text, Buffer.from('y2')]));
  });

  test('more rows than one call takes, most of them empty', () => {
    const rows = 150_000;
    const lineOffsets = new Uint32Array(rows + 1);
    const line = Buffer.from('job a1b2c3 done');
    lineOffsets.fill(line.length, 70_000);
    expectTerms({ lines: line, lineOffsets, rows });
  });

  test('uses the guard', () => {
    if (guard !== undefined) expect(guard.accesses).toBeGreaterThan(10_000);
    guard?.allow([]);
    set.addText(Buffer.from('a1b2c3'), true);
    if (guard !== undefined) expect(guard.faults.length).toBeGreaterThan(0);
  });
});

/** Bytes that are not digits, so that nearly each begins a separate term. */
function lettersOf(length: number): Buffer {
  const text = Buffer.alloc(length);
  for (let at = 0, state = 1; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text[at] = 0x40 + (state >>> 25);
  }
  return text;
}

describe('many terms', () => {
  beforeAll(() => {
    guard = undefined;
    set = new TermSet();
  });

  test('more terms than the set holds are thinned out', () => {
    const page = pageOf([lettersOf(1_000_000)]);
    expectTerms(page);
    expect(set.thinning).toBeGreaterThan(0);
  });

  test('far more terms than that are none', () => {
    const page = pageOf([lettersOf(12_000_000)]);
    set.clear();
    set.addLines(page.lines, page.lineOffsets, page.rows);
    expect(set.overflowed).toBe(true);
    set.clear();
    expect([set.overflowed, set.terms.length]).toEqual([false, 0]);
  });

  test('terms that the caller adds count once', () => {
    set.clear();
    for (let i = 0; i < 20_000; i++) set.add((i % 10_000) << 2);
    expect(set.terms.length).toBe(10_000);
    // 0 marks a free slot and is kept as another term.
    expect(set.terms.includes(0)).toBe(false);
  });
});
