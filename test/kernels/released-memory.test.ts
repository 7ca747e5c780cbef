/** Line memory that a pool releases is returned by one garbage collection. */

import { setImmediate as nextRound } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { isInLineSpace, LineMarks } from '../../shared/base/kernels/line-memory.ts';
import { LinePool } from '../../shared/base/kernels/line-pool.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('a released line memory is collected, even if its lines were the last that kernels searched and marked', async () => {
  const pool = new LinePool(1024 * 1024);
  const useMemory = () => {
    const slot = pool.take(100)!;
    expect(isInLineSpace(slot)).toBe(true);
    new LineMarks({ a: 1, b: 2, c: 3, below: 0 }).set(slot, 0, slot.length);
    return new WeakRef(slot.buffer);
  };
  const memory = useMemory();
  await nextRound();
  collect();
  expect(memory.deref() === undefined).toBe(false);
  await nextRound();
  pool.reset();
  await nextRound();
  collect();
  expect(memory.deref() === undefined).toBe(true);
});
