import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  findPair,
  isInLineSpace,
  LineMarks,
  lineSpace,
  nextMark,
} from '../../shared/base/kernels/line-memory.ts';

const byte = fc.constantFrom(...Buffer.from('"\\ =ab\0\n\x80\xff', 'latin1'));
const bytes = fc.oneof(
  fc.array(byte, { maxLength: 200 }),
  fc.array(fc.constantFrom(0x61, 0x62), { maxLength: 200 }),
  fc.array(byte, { maxLength: 40 }).map(list => [...new Array<number>(9000).fill(0x63), ...list]),
);

/** The same bytes inside and outside the line space. */
function bothMemories(list: readonly number[], offset: number): Buffer[] {
  const elsewhere = Buffer.from(list);
  const inside = lineSpace().subarray(offset, offset + list.length);
  elsewhere.copy(inside);
  return [inside, elsewhere];
}

describe('the line space', () => {
  test('knows its own', () => {
    expect(isInLineSpace(lineSpace().subarray(3, 9))).toBe(true);
    expect(isInLineSpace(Buffer.alloc(8))).toBe(false);
  });

  test('marks of line after line are those of a byte by byte look', () => {
    const marked = fc.record({ a: byte, b: byte, c: byte, below: fc.constantFrom(0, 1, 0x21, 0xff) });
    const cuts = fc.array(fc.nat(9300), { maxLength: 8 });
    fc.assert(
      fc.property(bytes, fc.nat(100), marked, cuts, (list, offset, wanted, starts) => {
        const isMarked = (value: number) =>
          value === wanted.a || value === wanted.b || value === wanted.c || value < wanted.below;
        for (const source of bothMemories(list, offset)) {
          const marks = new LineMarks(wanted);
          const other = new LineMarks({ a: 0x61, b: 0x61, c: 0x61, below: 0 });
          const ends = [...starts.filter(start => start < list.length), list.length].sort((a, b) => a - b);
          let start = 0;
          for (const [i, end] of ends.entries()) {
            // Another parser that marks the same line in between must not be seen.
            if (i % 3 === 2) other.set(source, start, end);
            marks.set(source, start, end);
            const wrong: number[] = [];
            for (let at = start; at <= end; at += 1 + (end - at > 300 ? 97 : 0)) {
              let want = at;
              while (want < end && !isMarked(list[want])) want++;
              const next = nextMark(marks.words, marks.shift, at);
              if (Math.min(next, end) !== want) wrong.push(at);
            }
            expect(wrong).toEqual([]);
            start = end;
          }
        }
      }),
    );
  });

  test('finds pairs as a byte by byte look does', () => {
    fc.assert(
      fc.property(
        bytes,
        fc.nat(100),
        fc.tuple(byte, byte, byte, byte),
        fc.nat(255),
        fc.nat(220),
        (list, offset, [a, b, c, d], distance, from) => {
          const [source] = bothMemories(list, offset);
          const to = Math.max(0, list.length - distance);
          const pair = { distance, first: a, first2: b, second: c, second2: d };
          const isOne = (at: number) =>
            (list[at] === a || list[at] === b) && (list[at + distance] === c || list[at + distance] === d);
          const want = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i).find(isOne) ?? -1;
          expect(findPair(source, from, to, pair)).toBe(want);
        },
      ),
    );
  });
});
