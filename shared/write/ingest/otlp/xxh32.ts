/** Computes the 32-bit xxHash, the checksum of LZ4 frames. */
import { atOnce, type Steps } from '../../../base/model/steps.ts';

const PRIME_1 = 0x9e3779b1 | 0;
const PRIME_2 = 0x85ebca77 | 0;
const PRIME_3 = 0xc2b2ae3d | 0;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;

/** Bytes per step: 0.2 ms. */
const STEP_BYTES = 256 * 1024;

/** Hashes `bytes[start, end)` with seed 0. The result is unsigned. */
export function xxh32(bytes: Uint8Array, start: number, end: number): number {
  return atOnce(hashInSteps(bytes, start, end));
}

/** Hashes in steps. */
export function* hashInSteps(bytes: Uint8Array, start: number, end: number): Steps<number> {
  const lanes = Int32Array.of((PRIME_1 + PRIME_2) | 0, PRIME_2, 0, -PRIME_1 | 0);
  const lanesEnd = end - ((end - start) % 16);
  for (let at = start; at < lanesEnd; at += STEP_BYTES) {
    if (at > start) yield;
    mixLanes(lanes, bytes, at, Math.min(at + STEP_BYTES, lanesEnd));
  }
  const [a, b, c, d] = lanes;
  const joined = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0;
  return mixRemainder(lanesEnd > start ? joined : PRIME_5, bytes, start, lanesEnd, end);
}

/** Mixes whole rounds of 16 bytes. */
function mixLanes(lanes: Int32Array, bytes: Uint8Array, start: number, end: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [a, b, c, d] = lanes;
  for (let at = start; at < end; at += 16) {
    a = round(a, view.getInt32(at, true));
    b = round(b, view.getInt32(at + 4, true));
    c = round(c, view.getInt32(at + 8, true));
    d = round(d, view.getInt32(at + 12, true));
  }
  lanes[0] = a;
  lanes[1] = b;
  lanes[2] = c;
  lanes[3] = d;
}

/** Mixes the bytes after the last full round, from `from` on. */
function mixRemainder(joined: number, bytes: Uint8Array, start: number, from: number, end: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = from;
  let hash = (joined + (end - start)) | 0;
  for (; at + 4 <= end; at += 4) {
    hash = (hash + Math.imul(view.getInt32(at, true), PRIME_3)) | 0;
    hash = Math.imul(rotate(hash, 17), PRIME_4);
  }
  for (; at < end; at++) {
    hash = (hash + Math.imul(bytes[at], PRIME_5)) | 0;
    hash = Math.imul(rotate(hash, 11), PRIME_1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function round(lane: number, word: number): number {
  return Math.imul(rotate((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1);
}

function rotate(value: number, count: number): number {
  return (value << count) | (value >>> (32 - count));
}
