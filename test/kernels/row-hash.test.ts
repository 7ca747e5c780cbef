/** Hashes of lines equal those of the plain version, in any memory, and no other memory changes. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLineMemory, joinAreaOf, lineSpace } from '../../shared/base/kernels/line-memory.ts';
import { hashLines } from '../../shared/base/kernels/row-hash.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostilePage, mixedText, type Page, pageOf } from './hostile.ts';
import { hashOf } from './oracles/row-hash.ts';

const MAX_BYTES = 1024 * 1024;
const MAX_ROWS = 65_536;
/** Bytes of tables for each row: hash, time, offset. */
const ROW_BYTES = 20;
/** A word may begin at the last byte of a line. */
const SLACK = 7;

const BASE_NS = -3_600_000_000_000n;
const timeOf = (row: number) => (row % 70) * 1_234_567_890_123;

/** Hashes of all lines, each of a row whose seed is made of its number. */
function hashesOf({ lines, lineOffsets, rows }: Page, guard?: Guard): bigint[] {
  const own = joinAreaOf(lines);
  const { at } = own ?? joinAreaOf(lineSpace())!;
  const tables = ROW_BYTES * Math.min(rows, MAX_ROWS) + 4;
  const bytes = Math.min(lines.length, MAX_BYTES) + SLACK;
  if (own === undefined) guard?.allow([[at, at + tables + bytes]]);
  else
    guard?.allow([
      [at, at + tables],
      [lines.byteOffset, lines.byteOffset + bytes],
    ]);
  const words = Uint32Array.from({ length: 2 * rows }, (_, i) => (i & 1 ? ~(i >> 1) : i >> 1));
  const times = Float64Array.from({ length: rows }, (_, row) => timeOf(row));
  hashLines(words, { baseNs: BASE_NS, times, lines, lineOffsets, rows });
  expect(guard?.faults ?? []).toEqual([]);
  return Array.from(new BigUint64Array(words.buffer));
}

function expectedOf({ lines, lineOffsets, rows }: Page): bigint[] {
  return Array.from({ length: rows }, (_, row) => {
    let hash = BigInt(row) | (BigInt(~row >>> 0) << 32n);
    const line = lines.subarray(lineOffsets[row], lineOffsets[row + 1]);
    // Each MiB of a longer line is added separately.
    for (let from = 0; from === 0 || from < line.length; from += MAX_BYTES) {
      hash = hashOf(hash, BASE_NS + BigInt(timeOf(row)), line.subarray(from, from + MAX_BYTES));
    }
    return hash;
  });
}

const every = () => pageOf(Array.from({ length: 140 }, (_, length) => mixedText(length, length)));

// The line space is one for the thread: that under guard is made here, before there is another.
describe('hashes of lines under guard', () => {
  let guard: Guard;
  let memory: Buffer;
  beforeAll(() => {
    guard = guardKernels();
    memory = createLineMemory(MAX_BYTES);
  });
  afterAll(() => guard.release());

  test('are those of the plain version', () => {
    fc.assert(
      fc.property(hostilePage, fc.nat(100), (page, at) => {
        const expected = expectedOf(page);
        expect(hashesOf(page, guard)).toEqual(expected);
        page.lines.copy(memory, at);
        const inPlace = memory.subarray(at, at + page.lines.length);
        expect(hashesOf({ ...page, lines: inPlace }, guard)).toEqual(expected);
      }),
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

test('the hash depends on the order of the words of a line', () => {
  const words = Array.from({ length: 24 }, (_, i) => Buffer.from(String(1000 + i)));
  const hashes = new Set(hashesOf(pageOf([Buffer.concat(words)])));
  for (let a = 0; a < words.length; a++) {
    for (let b = 0; b < a; b++) {
      const line = Buffer.concat(words.with(a, words[b]).with(b, words[a]));
      hashes.add(hashesOf(pageOf([line]))[0]);
    }
  }
  expect(hashes.size).toBe(1 + (words.length * (words.length - 1)) / 2);
});
