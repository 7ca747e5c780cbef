/** A page with a line that contains the needle is never pruned, for any bytes. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { termSetOfThread } from '../../shared/base/kernels/term-set.ts';
import { containing } from '../../shared/execution/text-index/pruning-predicate.ts';
import { ask, buildSection, cut, cutFrom, line, pages } from './support.ts';

function termsOf(bytes: Buffer, endsAreKnown: boolean): { terms: number[]; longestRun: number } {
  const found = termSetOfThread();
  found.clear();
  found.addText(bytes, endsAreKnown);
  return { terms: [...found.terms], longestRun: found.longestRun };
}

const upper = (bytes: Buffer) => bytes.map(byte => (byte >= 0x61 && byte <= 0x7a ? byte - 32 : byte));

describe('terms', () => {
  test('all terms of a needle are terms of a line that contains it, in any ASCII case', () => {
    fc.assert(
      fc.property(line, fc.nat(1_000), fc.nat(1_000), (bytes, a, b) => {
        const [from, to] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y);
        const needle = bytes.subarray(from, to);
        const whole = termsOf(bytes, true);
        const known = new Set(whole.terms);
        for (const cased of [needle, Buffer.from(upper(needle))]) {
          const part = termsOf(cased, false);
          expect(part.terms.filter(term => !known.has(term))).toEqual([]);
          expect(part.longestRun).toBeLessThanOrEqual(whole.longestRun);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  // [text, minimum number of terms]: useful terms must not vanish.
  test.each([
    ['connection refused', 14],
    ['error', 1],
    ['" 4711 "', 1],
    ['/123456/', 1],
    ['id=a1b2c3', 1],
    ['needle-0123456789abcdef', 3],
    ['4bf92f3577b34da6a3ce929d0e0e4736', 2],
    ['10.168.13.7', 1],
    ['caf\u00e9', 1],
  ])('%s has terms', (text, atLeast) => {
    expect(termsOf(Buffer.from(text), false).terms.length).toBeGreaterThanOrEqual(atLeast);
  });

  test('an ID of 13 letters and digits has a sample in any place', () => {
    const digit = fc.constantFrom(...'0123456789abcdefghijklmnopqrstuvwxyz');
    fc.assert(
      fc.property(fc.array(digit, { minLength: 13, maxLength: 13 }), fc.nat(9), (digits, d) => {
        // A digit in every eight characters, since letters alone are grams.
        digits[5] = digits[7] = String(d);
        expect(termsOf(Buffer.from(digits.join('')), false).terms.length).toBeGreaterThan(0);
      }),
      { numRuns: 600 },
    );
  });

  test.each([
    ['a number at the end of a needle may go on', 'x 4711', []],
    ['a part of a second is nobody\u2019s search', ':07.123456Z', []],
    ['too short', 'abcd', []],
  ])('%s', (_, text, want) => {
    expect(termsOf(Buffer.from(text), false).terms).toEqual(want);
  });
});

describe('pruned pages', () => {
  test('a needle cut from a line keeps its page', () => {
    fc.assert(
      fc.property(pages, fc.array(cut, { minLength: 6, maxLength: 6 }), (lines, cuts) => {
        const section = buildSection(lines);
        for (const where of cuts) {
          const needle = cutFrom(lines, where);
          const kept = ask(section, lines.length, containing(needle));
          for (const [page, rows] of lines.entries()) {
            if (rows.some(row => row.includes(needle))) expect(kept[page]).toBe(true);
          }
        }
      }),
      { numRuns: 600 },
    );
  });

  test('a needle changed in one byte keeps the pages that still hold it', () => {
    fc.assert(
      fc.property(pages, cut, fc.nat(1_000), fc.nat(255), (lines, where, at, byte) => {
        const needle = Buffer.from(cutFrom(lines, where));
        if (needle.length > 0) needle[at % needle.length] = byte;
        const kept = ask(buildSection(lines), lines.length, containing(needle));
        for (const [page, rows] of lines.entries()) {
          if (rows.some(row => row.includes(needle))) expect(kept[page]).toBe(true);
        }
      }),
      { numRuns: 600 },
    );
  });

  test('a page with more terms than the set holds is thinned, and stays right', () => {
    let seed = 1;
    const next = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return seed.toString(16).padStart(8, '0');
    };
    const crowded = Array.from({ length: 12_000 }, () => `${next()}${next()} ${next()}${next()}${next()}`);
    const section = buildSection([crowded, ['nothing here']]);
    for (let i = 0; i < crowded.length; i += 40) {
      const kept = ask(section, 2, containing(Buffer.from(crowded[i].slice(3, 30))));
      expect(kept[0]).toBe(true);
      expect(kept[1]).toBe(false);
    }
  });
});
