import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { runtimeEnvironment, runtimeFlags } from '../../bin/tuning.mjs';
import { keepAllocatorSmall, returnFreeMemory } from '../../local/allocator-memory.ts';

const CHILD = path.join(import.meta.dirname, 'allocator-memory-child.ts');
const isGlibc = process.platform === 'linux' && returnFreeMemory();
const onGlibc = isGlibc ? test : test.skip;

onGlibc('returns the memory between buffers in use to the system', () => {
  const output = execFileSync(process.execPath, [...runtimeFlags(), CHILD], {
    env: { ...process.env, ...runtimeEnvironment() },
    encoding: 'utf8',
  });
  const { before, after, ...others } = JSON.parse(output) as { before: number; after: number };
  // 118 of 120 MB are free then; V8 frees some of them later.
  expect(before - after).toBeGreaterThan(60);
  expect(others).toEqual({ isPossible: true, isPossibleAgain: true, stays: 800 });
});

test('stops with the store, and does nothing more where the allocator cannot do it', async () => {
  const stop = new AbortController();
  const pauses: number[] = [];
  const clock = {
    async sleep(ms: number) {
      pauses.push(ms);
      if (pauses.length === 3) stop.abort();
    },
  };
  await keepAllocatorSmall(clock, stop.signal);
  expect(pauses).toEqual(isGlibc ? [5_000, 5_000, 5_000] : []);
});
