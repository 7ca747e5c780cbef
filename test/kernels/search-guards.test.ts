/**
 * The kernels that search lines in place, under guard: they read little after the lines, and write only to
 * their results.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  createLineMemory,
  findPair,
  LineMarks,
  nextMark,
  ProgramSearch,
} from '../../shared/base/kernels/line-memory.ts';
import { LiteralFinder } from '../../shared/base/kernels/literal-finder.ts';
import type { BytePattern } from '../../shared/base/model/byte-pattern.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { bytePatternProgram } from '../../shared/language/regex/byte-pattern-program.ts';

import { requiredByteSets } from '../../shared/language/regex/byte-set-search.ts';
import { parseRegex } from '../../shared/language/regex/parse.ts';
import { bySuite } from '../support/suite.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostilePage, mixedText, pageOf } from './hostile.ts';

const LINE_BYTES = 16 * 1024 * 1024;
/** Inputs and results of kernels follow the lines and their margin. */
const BESIDE = LINE_BYTES + 64 * 1024;

let guard: Guard;
let memory: Buffer;
beforeAll(() => {
  guard = guardKernels();
  memory = createLineMemory(LINE_BYTES);
});
afterAll(() => guard.release());

/** The lines in memory, at `at`; reads may go so far behind their end. */
function place(lines: Buffer, at: number, readsBehind: number): Buffer {
  lines.copy(memory, at);
  guard.allow([
    [at & ~31, at + lines.length + readsBehind],
    [BESIDE, memory.buffer.byteLength],
  ]);
  return memory.subarray(at, at + lines.length);
}

const at = fc.nat(1_000);

test('a search for pairs of bytes stays within its memory', () => {
  const byte = fc.constantFrom(...Buffer.from('"\\ ea1\0é'));
  const pair = fc.record({ distance: fc.nat(255), first: byte, first2: byte, second: byte, second2: byte });
  fc.assert(
    fc.property(hostilePage, at, pair, ({ lines }, where, wanted) => {
      const source = place(lines, where, 80 + wanted.distance);
      const exact = { ...wanted, first2: wanted.first, second2: wanted.second };
      for (const one of [wanted, exact]) {
        for (let from = 0; from >= 0 && from < lines.length; ) {
          const found = findPair(source, from, lines.length, one);
          from = found < 0 ? -1 : found + 1;
        }
      }
    }),
    { numRuns: 1_000 },
  );
  findPair(place(mixedText(10_000_000), 7, 80), 0, 10_000_000, {
    distance: 0,
    first: 1,
    first2: 1,
    second: 2,
    second2: 2,
  });
  expect(guard.faults).toEqual([]);
  expect(guard.accesses).toBeGreaterThan(10_000);
});

test('many patterns in one pass match as in a plain search', () => {
  const byte = fc.constantFrom(...Buffer.from('ab":e1\0\xff', 'latin1'));
  const onePattern = fc
    .array(fc.tuple(byte, byte, fc.boolean()), { minLength: 3, maxLength: 6 })
    .map((pairs): BytePattern => {
      const bytes = Uint8Array.from(pairs, ([a]) => a);
      return { bytes, others: Uint8Array.from(pairs, ([a, b, isTwo]) => (isTwo ? b : a)) };
    });
  const patterns = fc.array(onePattern, { minLength: 6, maxLength: 64 });
  const text = fc.array(byte, { maxLength: 200 }).map(bytes => Buffer.from(bytes));
  let hits = 0;
  fc.assert(
    fc.property(
      patterns,
      fc.oneof(
        text,
        hostilePage.map(({ lines }) => lines),
      ),
      at,
      (wanted, bytes, where) => {
        const search = new ProgramSearch(bytePatternProgram(wanted)!);
        const source = place(bytes, where, 33);
        const isAt = (place: number) => (one: BytePattern) =>
          place + one.bytes.length <= bytes.length &&
          one.bytes.every((value, i) => bytes[place + i] === value || bytes[place + i] === one.others[i]);
        for (let from = 0; from <= bytes.length; ) {
          let want = from;
          while (want < bytes.length && !wanted.some(isAt(want))) want++;
          const found = search.find(source, from, bytes.length);
          expect(found).toBe(want < bytes.length ? want : -1);
          if (found < 0) break;
          expect(search.length).toBe(wanted.find(isAt(found))!.bytes.length);
          hits++;
          from = found + 1;
        }
      },
    ),
    { numRuns: 2_000 },
  );
  expect(hits).toBeGreaterThan(bySuite({ fast: 50, full: 200 }));
  const twelve = Array.from({ length: 12 }, (_, i) => Buffer.from(`not there ${i}`));
  const search = new ProgramSearch(bytePatternProgram(twelve.map(bytes => ({ bytes, others: bytes })))!);
  expect(search.find(place(mixedText(10_000_000), 5, 33), 0, 10_000_000)).toBe(-1);
  expect(guard.faults).toEqual([]);
});

test('a sequence of sets matches as in a plain search', () => {
  const set = fc.constantFrom('[ab]', '[0-9]', '[a-f1]', '[\\x00-\\x7f]', '[e":]', '[^\\x01-\\x{10ffff}]');
  const text = fc.array(fc.constantFrom(...Buffer.from('ab":e19\0\xff', 'latin1')), { maxLength: 200 });
  let hits = 0;
  fc.assert(
    fc.property(fc.array(set, { minLength: 2, maxLength: 8 }), text, at, (sets, values, where) => {
      const pattern = sets.join('');
      const { search, exact } = requiredByteSets(parseRegex(pattern).node)!;
      expect([search.length, exact]).toEqual([sets.length, true]);
      const bytes = Buffer.from(values);
      const source = place(bytes, where, 192);
      const plain = new RegExp(pattern.replaceAll('[^\\x01-\\x{10ffff}]', '\\x00'), 'g');
      for (let from = 0; from <= bytes.length; ) {
        plain.lastIndex = from;
        const found = search.find(source, from, bytes.length);
        expect(found).toBe(plain.exec(bytes.toString('latin1'))?.index ?? -1);
        if (found < 0) break;
        hits++;
        from = found + 1;
      }
    }),
    { numRuns: 1_000 },
  );
  expect(hits).toBeGreaterThan(bySuite({ fast: 20, full: 100 }));
  const { search } = requiredByteSets(parseRegex('[\\x01-\\x03]{8}').node)!;
  expect(search.find(place(mixedText(10_000_000), 5, 192), 0, 10_000_000)).toBe(-1);
  expect(guard.faults).toEqual([]);
});

test('refuse few patterns, very many, and very long ones', () => {
  const some = (count: number, length: number) =>
    Array.from({ length: count }, (_, i) => {
      const bytes = new Uint8Array(length).fill(i);
      return { bytes, others: bytes };
    });
  expect([some(5, 9), some(65, 9), some(6, 2), some(8, 4_096)].map(bytePatternProgram)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(bytePatternProgram(some(64, 200))).toBeDefined();
});

test('marking lines stays within its memory', () => {
  const marks = new LineMarks({ a: 0x22, b: 0x5c, c: 0x3d, below: 0x21 });
  fc.assert(
    fc.property(hostilePage, at, ({ lines, lineOffsets, rows }, where) => {
      const source = place(lines, where, 32);
      for (let row = 0; row < rows; row++) {
        marks.set(source, lineOffsets[row], lineOffsets[row + 1]);
        nextMark(marks.words, marks.shift, lineOffsets[row]);
      }
    }),
    { numRuns: 1_000 },
  );
  marks.set(place(mixedText(8_000_000), 100, 32), 0, 8_000_000);
  expect(guard.faults).toEqual([]);
});

test('a search for literals stays within its memory', () => {
  const literals = fc.array(
    fc.constantFrom('"', 'a', '":"', ' msg="', 'connection refused', 'x'.repeat(32)),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  const split = (
    { lines, lineOffsets, rows }: ReturnType<typeof pageOf>,
    texts: readonly string[],
    where: number,
  ) => {
    const source = place(lines, where, 16 + 32);
    const numbered = [...texts, ''].map((_, i) => ({ capture: i, before: i > 0 ? texts[i - 1].length : 0 }));
    const finder = LiteralFinder.of(
      texts.map(text => Buffer.from(text)),
      1,
      numbered,
    )!;
    for (let row = 0; row < rows; row++) finder.find({ lineOffsets, rows } as PageRows, source, row);
  };
  fc.assert(fc.property(hostilePage, literals, at, split), { numRuns: 1_000 });
  split(pageOf([mixedText(10_000_000), Buffer.alloc(0), mixedText(100)]), ['"', 'not there'], 3);
  expect(guard.faults).toEqual([]);
});
