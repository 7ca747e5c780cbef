/**
 * The kernels of pushes under guard: for any bytes, no access is outside input and output with their slack.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import snappyjs from 'snappyjs';
import { decodeInKernel } from '../../shared/base/kernels/snappy.ts';
import { BLOCK_BYTES, KernelBody } from '../../shared/base/kernels/unquote.ts';
import { bySuite } from '../support/suite.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostileText, mixedText } from './hostile.ts';

const BASE = 4096;
const SLACK = 64;

let guard: Guard;
beforeAll(() => {
  guard = guardKernels();
});
afterAll(() => guard.release());

/** A block that may be changed and cut. */
const block = fc
  .tuple(fc.array(hostileText, { maxLength: 6 }), fc.nat(), fc.nat(255), fc.nat(400))
  .map(([texts, at, byte, cut]) => {
    const bytes = Buffer.from(snappyjs.compress(Buffer.concat([...texts, ...texts])));
    if (bytes.length > 0 && byte > 100) bytes[at % bytes.length] = byte;
    return cut > 200 ? bytes : bytes.subarray(0, cut);
  });

test('decoding snappy blocks, also broken ones, stays within its memory', () => {
  const decode = (bytes: Buffer, length: number) => {
    const end = BASE + bytes.length;
    const start = end + SLACK;
    guard.allow([
      [BASE, end + 31],
      [start, start + length + 31],
    ]);
    decodeInKernel(bytes, 0, Buffer.alloc(length), length);
  };
  fc.assert(fc.property(block, fc.nat(2_000), decode), { numRuns: 3_000 });
  const large = Buffer.from(snappyjs.compress(mixedText(4_000_000)));
  decode(large.subarray(3), 4_000_000);
  expect(guard.faults).toEqual([]);
  expect(guard.accesses).toBeGreaterThan(bySuite({ fast: 1_000, full: 10_000 }));
});

test('JSON strings with any end', () => {
  const escapes = Uint8Array.from({ length: 256 }, (_, byte) =>
    '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? byte : 0,
  );
  const unquote = (text: Buffer) => {
    const body = Buffer.concat([Buffer.alloc(BLOCK_BYTES, ' '), text]);
    const end = BASE + 256 + body.length;
    // The bytes after the body are quotes, which end the search.
    guard.allow([[BASE, end + 128]]);
    const kernel = KernelBody.open(body, escapes)!;
    const ended = kernel.unquote(BLOCK_BYTES, 0);
    expect(ended).toBeLessThanOrEqual(body.length + 2);
    expect(kernel.written).toBeLessThanOrEqual(ended);
    kernel.close();
  };
  fc.assert(fc.property(hostileText, unquote), { numRuns: 3_000 });
  unquote(Buffer.alloc(0));
  unquote(Buffer.from('\\'.repeat(4_001)));
  unquote(Buffer.alloc(7_000_000, 'x'));
  expect(guard.faults).toEqual([]);
});
