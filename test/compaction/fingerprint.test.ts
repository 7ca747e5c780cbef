import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { arbitraryEntries, type PlainEntry } from '../support/rows.ts';
import { fingerprintOf } from './support/fingerprint-of.ts';
import { chunkId, keyOf, objectOf, pagesOf } from './support/merge-chunks.ts';

const printOf = async (...chunks: PlainEntry[][]) => {
  const objects = await Promise.all(
    chunks.filter(({ length }) => length > 0).map((entries, i) => objectOf(entries, chunkId(i))),
  );
  return fingerprintOf(objects.flatMap(pagesOf));
};

describe('a fingerprint', () => {
  test('does not depend on the distribution of entries to chunks, nor on the order of chunks and metadata', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), fc.nat(), async (entries, cut) => {
        const at = cut % (entries.length + 1);
        const turned = entries.map(entry => ({
          ...entry,
          metadata: Object.fromEntries(Object.entries(entry.metadata).reverse()),
        }));
        const whole = await printOf(entries);
        expect(await printOf(turned.slice(at), turned.slice(0, at))).toEqual(whole);
        expect(whole.rows).toBe(entries.length);
      }),
      { numRuns: 60 },
    );
  });

  test('differs in both lanes if one entry differs', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(20), arbitraryEntries(1), fc.nat(), async (entries, [other], cut) => {
        const at = cut % entries.length;
        fc.pre(keyOf(entries[at]) !== keyOf(other));
        const [one, two] = [await printOf(entries), await printOf(entries.with(at, other))];
        expect(one.one).not.toBe(two.one);
        expect(one.two).not.toBe(two.two);
      }),
      { numRuns: 200 },
    );
  });

  test.each([-106_752, -1, 0, 1])(
    'the fingerprint of day %d does not depend on page boundaries',
    async day => {
      const entry = (time: number): PlainEntry => ({ stream: { app: 'a' }, time, line: 'x', metadata: {} });
      const times = [0, 3_600_000_000_000, 86_399_999_999_999];
      const whole = await objectOf(times.map(entry), chunkId(1), day);
      const apart = await Promise.all(times.map((time, i) => objectOf([entry(time)], chunkId(i + 1), day)));
      expect(fingerprintOf(apart.flatMap(pagesOf))).toEqual(fingerprintOf(pagesOf(whole)));
    },
  );

  test('no two of many entries that differ in a bit have the same fingerprint', async () => {
    const entries = Array.from({ length: 20_000 }, (_, i): PlainEntry => {
      return { stream: { app: 'a' }, time: i % 64, line: `${i >> 6}`, metadata: {} };
    });
    const pages = pagesOf(await objectOf(entries, chunkId(1)));
    const prints = new Set<string>();
    for (const page of pages) {
      for (let row = 0; row < page.rows; row++) {
        const single = {
          ...page,
          rows: 1,
          runs: [{ stream: page.runs[0].stream, firstRow: 0, rows: 1 }],
          times: page.times.subarray(row, row + 1),
          lineOffsets: page.lineOffsets.subarray(row, row + 2),
        };
        const { one, two } = fingerprintOf([single]);
        prints.add(`${one} ${two}`);
      }
    }
    expect(prints.size).toBe(entries.length);
  });
});
