import { expect, test } from '@jest/globals';
import { releaseBody, SharedBodies } from '../../shared/base/model/shared-bodies.ts';

const MIB = 1024 * 1024;

test('memory that was given back is used again, also for smaller bodies', () => {
  const bodies = new SharedBodies(64 * MIB);
  const first = bodies.take(10 * MIB)!;
  expect(first.length).toBe(10 * MIB);
  expect(bodies.take(MIB)!.buffer).not.toBe(first.buffer);
  releaseBody(first);
  expect(bodies.heldBytes).toBe(12 * MIB);
  expect(bodies.take(9 * MIB)!.buffer).toBe(first.buffer);
});

test('memory is bounded: free memory that is too small is forgotten, and memory in use is not', () => {
  const bodies = new SharedBodies(16 * MIB);
  const small = bodies.take(3 * MIB)!;
  expect(bodies.take(14 * MIB)).toBeUndefined();
  releaseBody(small);
  expect(bodies.take(14 * MIB)!.length).toBe(14 * MIB);
  expect(bodies.heldBytes).toBe(0);
});

test('memory that is never given back is forgotten after ten minutes, and not used again', () => {
  let nowMs = 0;
  const bodies = new SharedBodies(8 * MIB, () => nowMs);
  const lost = bodies.take(6 * MIB)!;
  nowMs = 599_000;
  expect(bodies.take(6 * MIB)).toBeUndefined();
  nowMs = 600_000;
  expect(bodies.take(6 * MIB)!.buffer).not.toBe(lost.buffer);
});
