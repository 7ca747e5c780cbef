import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findPair, isInLineSpace, LineMarks, nextMark } from '../../shared/base/kernels/line-memory.ts';
import { LinePool } from '../../shared/base/kernels/line-pool.ts';

const BYTES = 256 * 1024;

test('slots do not overlap, keep their bytes, and are released as a whole', () => {
  const lengths = fc.oneof(fc.integer({ min: 1, max: 9000 }), fc.integer({ min: 1, max: BYTES }));
  const step = fc.oneof(fc.record({ take: lengths }), fc.record({ give: fc.nat(40) }));
  const pool = new LinePool(BYTES + 5000);
  expect(pool.bytes).toBe(BYTES);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const held: { slot: Buffer; mark: number }[] = [];
      let mark = 0;
      for (const one of steps) {
        if ('take' in one) {
          const slot = pool.take(one.take);
          const heldBytes = held.reduce(
            (sum, { slot: { length } }) => sum + Math.ceil(length / 4096) * 4096,
            0,
          );
          // Every slot is free if nothing is held.
          if (held.length === 0) expect(slot?.length).toBe(one.take);
          if (slot === undefined) continue;
          expect(heldBytes + slot.length).toBeLessThanOrEqual(BYTES);
          expect(isInLineSpace(slot)).toBe(true);
          mark = (mark % 250) + 1;
          held.push({ slot: slot.fill(mark), mark });
        } else if (held.length > 0) {
          const [{ slot }] = held.splice(one.give % held.length, 1);
          pool.give(slot);
        }
        for (const { slot, mark: own } of held) expect(slot.every(byte => byte === own)).toBe(true);
      }
      for (const { slot } of held) pool.give(slot);
      const whole = pool.take(BYTES);
      expect(whole?.length).toBe(BYTES);
      pool.give(whole!);
    }),
    { numRuns: 60 },
  );
});

test('a pool recognizes bytes that are not lines of a page', () => {
  expect(new LinePool(1000).take(10)).toBeUndefined();
  expect(new LinePool(BYTES).take(0)).toBeUndefined();
  expect(new LinePool(64 * 1024 * 1024).take(8 * 1024 * 1024 + 1)).toBeUndefined();
});

const MIB = 1024 * 1024;

test('lines that are deleted in the order of their arrival leave regions empty; these are released if no lines take them', () => {
  const pool = new LinePool(40 * MIB);
  const slots = Array.from({ length: 36 }, () => pool.take(MIB)!);
  const regions = [...new Set(slots.map(({ buffer }) => buffer))];
  const countsOf = () => regions.map(buffer => slots.filter(slot => slot.buffer === buffer).length);
  expect(countsOf()).toEqual([16, 16, 4]);
  const dropped: number[] = [];
  const release = () =>
    pool.releaseUnused(buffers => {
      for (const slot of slots.filter(({ buffer }) => buffers.has(buffer))) {
        dropped.push(slots.indexOf(slot));
        slots.splice(slots.indexOf(slot), 1);
        pool.give(slot);
      }
    });
  for (const slot of slots.splice(0, 15)) pool.give(slot);
  expect(release()).toEqual({ hasReleased: false, hasUnused: true });
  for (const slot of slots.splice(1, 7)) pool.give(slot);
  // The last slot of the first region is dropped with it. A little more than half of the second region is used, and
  // all that was written to the third.
  expect(release()).toEqual({ hasReleased: true, hasUnused: false });
  expect(dropped).toEqual([0]);
  expect(countsOf()).toEqual([0, 9, 4]);
  expect(pool).toMatchObject({ touchedBytes: 20 * MIB, usedBytes: 13 * MIB });
  // The released bytes are available again, in a new region, after the free ranges of the others.
  for (let i = 0; i < 27; i++) slots.push(pool.take(MIB)!.fill(i));
  expect(pool.take(1)).toBeUndefined();
  expect(countsOf()).toEqual([0, 16, 8]);
  expect(slots.slice(-16).map(slot => slot.buffer)).toEqual(Array(16).fill(slots.at(-1)!.buffer));
});

test('slots are searched and marked in place', () => {
  const pool = new LinePool(BYTES);
  const text = Buffer.from('{"a":"b","c":"d"} '.repeat(700));
  const slots = Array.from({ length: 5 }, () => pool.take(text.length)!);
  for (const [i, slot] of slots.entries()) {
    text.copy(slot);
    slot.write('needle', 1000 + 977 * i);
  }
  const pair = { distance: 5, first: 0x6e, first2: 0x4e, second: 0x65, second2: 0x45 };
  const exact = { ...pair, first2: pair.first, second2: pair.second };
  for (const [i, slot] of slots.entries()) {
    const at = 1000 + 977 * i;
    for (const one of [pair, exact]) {
      expect(findPair(slot, 0, slot.length, one)).toBe(at);
      expect(findPair(slot, at, slot.length, one)).toBe(at);
      expect(findPair(slot, at + 1, slot.length, one)).toBe(-1);
      expect(findPair(slot, 0, at, one)).toBe(-1);
    }
    const marks = new LineMarks({ a: 0x6e, b: 0x6e, c: 0x6e, below: 0 });
    marks.set(slot, 18 * 3, slot.length);
    expect(nextMark(marks.words, marks.shift, 18 * 3)).toBe(at);
    expect(nextMark(marks.words, marks.shift, at + 1)).toBeGreaterThanOrEqual(slot.length);
  }
});
