/** Hashes of lines equal those of the plain version, in any memory, and no other memory changes. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hashLines, hashMemoryBytes } from '../../shared/base/kernels/row-hash.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostilePage, mixedText, type Page, pageOf } from './hostile.ts';
import { hashOf } from './oracles/row-hash.ts';

const MAX_BYTES = 1024 * 1024;

/** Hashes of all lines, each of a row that gave its number. */
function hashesOf({ lines, lineOffsets, rows }: Page, guard?: Guard): bigint[] {
  guard?.allow([[4096, hashMemoryBytes() - MAX_BYTES + Math.min(lines.length, MAX_BYTES)]]);
  const one = Uint32Array.from({ length: rows }, (_, row) => row);
  const two = Uint32Array.from({ length: rows }, (_, row) => ~row);
  hashLines({ one, two }, lines, lineOffsets, rows);
  expect(guard?.faults ?? []).toEqual([]);
  return Array.from({ length: rows }, (_, row) => BigInt(one[row]) | (BigInt(two[row]) << 32n));
}

function expectedOf({ lines, lineOffsets, rows }: Page): bigint[] {
  return Array.from({ length: rows }, (_, row) => {
    let hash = BigInt(row) | (BigInt(~row >>> 0) << 32n);
    const line = lines.subarray(lineOffsets[row], lineOffsets[row + 1]);
    // Each MiB of a longer line is added separately.
    for (let from = 0; from === 0 || from < line.length; from += MAX_BYTES) {
      hash = hashOf(hash, line.subarray(from, from + MAX_BYTES));
    }
    return hash;
  });
}

const every = () => pageOf(Array.from({ length: 140 }, (_, length) => mixedText(length, length)));

// The instance is one for the thread: that under guard is made here, before there is another.
describe('hashes of lines under guard', () => {
  let guard: Guard;
  beforeAll(() => {
    guard = guardKernels();
  });
  afterAll(() => guard.release());

  test('are those of the plain version', () => {
    fc.assert(
      fc.property(hostilePage, page => expect(hashesOf(page, guard)).toEqual(expectedOf(page))),
      { numRuns: 1_000 },
    );
    expect(hashesOf(every(), guard)).toEqual(expectedOf(every()));
    expect(guard.accesses).toBeGreaterThan(1_000);
  });

  test('hashes lines of 10 MB, many rows, and a page at another offset', () => {
    const pages = [
      pageOf([
        Buffer.from('a'),
        mixedText(10_000_000),
        Buffer.from('b'),
        mixedText(MAX_BYTES),
        mixedText(MAX_BYTES + 1),
      ]),
      pageOf(Array.from({ length: 150_000 }, (_, i) => Buffer.from(String(i & 1023)))),
      { ...every(), lineOffsets: every().lineOffsets.subarray(20), rows: 100 },
    ];
    for (const page of pages) expect(hashesOf(page, guard)).toEqual(expectedOf(page));
  });
});

test('a bit of a line changes half the bits of its hash', () => {
  for (const length of [1, 7, 8, 31, 32, 33, 200]) {
    const line = mixedText(length);
    let changed = 0;
    for (let bit = 0; bit < 8 * length; bit++) {
      const other = Buffer.from(line);
      other[bit >> 3] ^= 1 << (bit & 7);
      const [a, b] = hashesOf(pageOf([line])).concat(hashesOf(pageOf([other])));
      changed += (a ^ b).toString(2).replaceAll('0', '').length;
    }
    expect(changed / (8 * length)).toBeGreaterThan(26);
    expect(changed / (8 * length)).toBeLessThan(38);
  }
});
