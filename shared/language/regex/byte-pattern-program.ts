/**
 * Compiles byte patterns to a program for the kernel that searches for many of them in one pass.
 * kernels/assembly/multi-search.ts describes the layout.
 */
import { PROGRAM_BYTES } from '../../base/kernels/line-memory.ts';
import type { BytePattern } from '../../base/model/byte-pattern.ts';

/**
 * Minimum number of patterns. Fewer are faster with one pass each: 0.04 ns per byte and pass, against 0.2 ns
 * for one pass for many.
 */
const MIN_PATTERNS = 6;
const MAX_PATTERNS = 64;
const BUCKETS = 8;
/** Number of leading bytes that decide whether a pattern is compared. */
const KEY_BYTES = 3;

const BUCKETS_AT = 2 * 16 * KEY_BYTES;
const PATTERNS_AT = BUCKETS_AT + 8 * BUCKETS + 16;

/** Compiles the program. Returns undefined for few, very many, or very long patterns. */
export function bytePatternProgram(patterns: readonly BytePattern[]): Uint8Array | undefined {
  const bytesAt = PATTERNS_AT + 8 * patterns.length;
  const size = patterns.reduce((sum, { bytes }) => sum + 2 * bytes.length, bytesAt);
  if (patterns.length < MIN_PATTERNS || patterns.length > MAX_PATTERNS || size > PROGRAM_BYTES)
    return undefined;
  const program = Buffer.alloc(size);
  let at = bytesAt;
  for (const [i, { bytes, others }] of patterns.entries()) {
    if (bytes.length < KEY_BYTES) return undefined;
    program.writeUInt32LE(at, PATTERNS_AT + 8 * i);
    program.writeUInt32LE(bytes.length, PATTERNS_AT + 8 * i + 4);
    program.set(bytes, at);
    program.set(others, at + bytes.length);
    at += 2 * bytes.length;
  }
  // Patterns with the same beginning share a bucket, so that a position selects few buckets.
  const order = patterns.map((_, i) => i);
  order.sort((a, b) => Buffer.compare(patterns[a].bytes, patterns[b].bytes) || a - b);
  for (const [index, i] of order.entries()) {
    const bucket = Math.floor((index * BUCKETS) / order.length);
    program[BUCKETS_AT + 8 * bucket + (i >> 3)] |= 1 << (i & 7);
    const { bytes, others } = patterns[i];
    for (let key = 0; key < KEY_BYTES; key++) {
      for (const byte of [bytes[key], others[key]]) {
        program[32 * key + (byte & 15)] |= 1 << bucket;
        program[32 * key + 16 + (byte >> 4)] |= 1 << bucket;
      }
    }
  }
  return program;
}
