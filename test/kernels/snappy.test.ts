/** The kernel against the loop in JavaScript, on elements that are right, wrong, and cut off. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeInKernel } from '../../shared/base/kernels/snappy.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { decodeElements } from '../../shared/write/ingest/snappy.ts';
import { bySuite } from '../support/suite.ts';

function expectSame(elements: Buffer, length: number): void {
  const [want, got] = [Buffer.alloc(length), Buffer.alloc(length)];
  // The body is not at the start of its memory, and other bytes follow it.
  const body = Buffer.concat([Buffer.from('head'), elements]);
  const right = atOnce(decodeElements(body, 4, want, length));
  expect(decodeInKernel(body, 4, got, length)).toBe(right);
  if (right) expect(got.equals(want)).toBe(true);
}

interface Element {
  readonly bytes: readonly number[];
  readonly size: number;
}

const literal = fc.uint8Array({ minLength: 1, maxLength: 300 }).chain(text =>
  fc.integer({ min: 1, max: 4 }).map((extra): Element => {
    const size = text.length - 1;
    const short = size < 60;
    const head = short ? [size << 2] : [(59 + (size > 255 ? Math.max(extra, 2) : extra)) << 2];
    const sizeBytes = short ? 0 : (head[0] >> 2) - 59;
    for (let i = 0; i < sizeBytes; i++) head.push((size >>> (8 * i)) & 255);
    return { bytes: [...head, ...text], size: text.length };
  }),
);
const nearCopy = fc.tuple(fc.integer({ min: 4, max: 11 }), fc.nat(80)).map(
  ([size, offset]): Element => ({
    bytes: [1 | ((size - 4) << 2) | ((offset >> 8) << 5), offset & 255],
    size,
  }),
);
const copy = fc.tuple(fc.integer({ min: 1, max: 64 }), fc.nat(400), fc.boolean()).map(
  ([size, offset, far]): Element => ({
    bytes: [(far ? 3 : 2) | ((size - 1) << 2), offset & 255, offset >> 8, ...(far ? [0, 0] : [])],
    size,
  }),
);
const elements = fc.array(fc.oneof(literal, nearCopy, copy), { maxLength: 20 });

describe('the snappy kernel', () => {
  test('accepts and refuses the same input as the loop, with equal results', () => {
    let right = 0;
    fc.assert(
      fc.property(literal, elements, fc.constantFrom(0, 0, 0, 0, -1, 1), (first, others, wrong) => {
        const all = [first, ...others];
        const length = all.reduce((sum, { size }) => sum + size, 0) + wrong;
        const bytes = Buffer.from(all.flatMap(element => element.bytes));
        expectSame(bytes, length);
        if (decodeInKernel(bytes, 0, Buffer.alloc(length), length)) right++;
      }),
      { numRuns: 1500 },
    );
    // Most are whole blocks, or little would be shown.
    expect(right).toBeGreaterThan(bySuite({ fast: 12, full: 50 }));
  });

  test('reads blocks that are cut off anywhere, or have any byte changed, as the plain version does', () => {
    const blocks = fc
      .tuple(literal, elements)
      .map(([first, others]): readonly Element[] => [first, ...others]);
    for (const all of fc.sample(blocks, { numRuns: 40, seed: 7 })) {
      const bytes = Buffer.from(all.flatMap(element => element.bytes));
      const length = all.reduce((sum, { size }) => sum + size, 0);
      for (let end = 0; end < bytes.length; end += 3) expectSame(bytes.subarray(0, end), length);
      for (let at = 0; at < bytes.length; at += 5) {
        const changed = Buffer.from(bytes);
        changed[at] ^= 0xff;
        expectSame(changed, length);
      }
    }
  });

  test('reads random bytes as the plain version does', () => {
    const bytes = fc.uint8Array({ maxLength: 200 }).map(all => Buffer.from(all));
    fc.assert(fc.property(bytes, fc.nat(1000), expectSame), { numRuns: 2000 });
  });

  test.each([1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 60])('a pattern of %d bytes, repeated', period => {
    const text = Buffer.from('abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ').subarray(
      0,
      period,
    );
    const bytes = [(period - 1) << 2, ...text];
    for (let i = 0; i < 3; i++) bytes.push(2 | (63 << 2), period, 0);
    const out = Buffer.alloc(period + 192);
    expect(decodeInKernel(Buffer.from(bytes), 0, out, out.length)).toBe(true);
    expect(out.toString()).toBe(text.toString().repeat(200).slice(0, out.length));
  });

  test('sizes that no input has are refused, and large blocks left to the loop', () => {
    expectSame(Buffer.from([63 << 2, 255, 255, 255, 255, 1, 2, 3]), 100);
    expectSame(Buffer.from([62 << 2, 255, 255, 255, 1, 2, 3]), 100);
    expectSame(Buffer.from([0, 65, 3 | (3 << 2), 255, 255, 255, 255]), 5);
    expectSame(Buffer.alloc(0), 0);
    expect(decodeInKernel(Buffer.alloc(8), 0, Buffer.alloc(0), 8 * 1024 * 1024 + 1)).toBeUndefined();
  });
});
