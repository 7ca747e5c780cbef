/** Indexes of earlier versions keep every page that holds a needle, although terms set other bits there. */
import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { termSetOfThread } from '../../shared/base/kernels/term-set.ts';
import {
  bitIn,
  decodeHeader,
  encodeHeader,
  firstBits,
  laterBits,
  PARTITION_COUNT,
  partitionOf,
} from '../../shared/execution/text-index/filter-layout.ts';
import { containing } from '../../shared/execution/text-index/pruning-predicate.ts';
import { StoredFilter } from '../../shared/execution/text-index/stored-filter.ts';
import { kindOf, TermKind, termIn } from '../../shared/execution/text-index/terms.ts';
import { ask, cut, cutFrom, pageOf, pages } from './support.ts';

const OLD_VERSION = 2;
/** Bits of a block: whole bytes, to keep the test simple. */
const BLOCK_BITS = 64;

/** Section of one page as version 2 had it: parts are exact terms, and a kind sets its number plus 1 bits. */
function oldSection(lines: readonly (string | Buffer)[]): Buffer {
  const found = termSetOfThread();
  found.clear();
  const page = pageOf(lines);
  found.addLines(page.lines, page.lineOffsets, lines.length);
  const partitions = Buffer.alloc((PARTITION_COUNT * BLOCK_BITS) / 8);
  for (const latest of found.terms) {
    const kind = kindOf(latest) === TermKind.part ? TermKind.exact : kindOf(latest);
    const term = (latest | kind) >>> 0;
    const [first, later] = [firstBits(term), laterBits(term)];
    for (const half of [first, first >>> 16, later, later >>> 16].slice(0, kind + 1)) {
      const at = partitionOf(term) * BLOCK_BITS + bitIn(half, BLOCK_BITS);
      partitions[at >>> 3] |= 1 << (at & 7);
    }
  }
  const header = encodeHeader(
    [{ blockBits: BLOCK_BITS, longestRun: Math.min(found.longestRun, 255), flags: 0, thinning: 0 }],
    [crc32(partitions)],
  );
  header.writeUInt32LE(OLD_VERSION, 0);
  header.writeUInt32LE(crc32(header.subarray(0, header.length - 4)), header.length - 4);
  return Buffer.concat([header, partitions]);
}

describe('an index of version 2', () => {
  test('keeps a page that holds the needle', () => {
    fc.assert(
      fc.property(pages, fc.array(cut, { minLength: 6, maxLength: 6 }), (lines, cuts) => {
        const section = oldSection(lines.flat());
        expect(decodeHeader(section, 1).version).toBe(OLD_VERSION);
        for (const where of cuts) expect(ask(section, 1, containing(cutFrom(lines, where)))).toEqual([true]);
      }),
      { numRuns: 600 },
    );
  });

  test.each(['needle-0123456789abcdef', 'id=a1b2c3', '" 4711 "', '/123456/', 'connection refused'])(
    'excludes a page without %s',
    text => {
      const section = oldSection(['GET /api/v1/users/77123 took=3ms', 'id=f0e1d2c3 done']);
      expect(ask(section, 1, containing(Buffer.from(text)))).toEqual([false]);
    },
  );

  test('is not copied into an object of the latest version', () => {
    expect(StoredFilter.of(oldSection(['a line']), 1)).toBeUndefined();
  });

  test('has a part under its earlier kind, and it is unknown if the part is 0', () => {
    expect(termIn(OLD_VERSION, 0xfffffff0)).toBe(0xfffffff3);
    expect(termIn(OLD_VERSION, 0x9e3779b2)).toBeUndefined();
    expect(termIn(3, 0x9e3779b2)).toBe(0x9e3779b2);
    for (const kept of [0xfffffff1, 0xfffffff2, 0xfffffff3]) expect(termIn(OLD_VERSION, kept)).toBe(kept);
  });
});
