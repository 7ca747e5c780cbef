/**
 * When a day is requested: as often as its pushes fill a merge, a while after they make a final chunk, and after silence if they
 * fill a page.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { type FilledDay, fullMergeCounter } from '../../shared/upkeep/compaction/full-merges.ts';
import { MERGE_SIZES } from '../../shared/upkeep/compaction/merge-sizes.ts';
import {
  FULL_CHUNKS,
  FULL_LINE_BYTES,
  MERGE_WAIT_MS,
  SILENCE_MS,
} from '../../shared/upkeep/compaction/plan-merges.ts';
import { manualClock } from '../support/manual-clock.ts';

const ENOUGH = MERGE_SIZES.awaitedBytes;

const pushed = (tenant: string, day: number, lineBytes: number) =>
  ({ tenant, day, lineBytes }) as ChunkRecord;

function counter() {
  const asked: FilledDay[] = [];
  const clock = manualClock();
  const stopping = new AbortController();
  const { signal } = stopping;
  const count = fullMergeCounter({ request: day => asked.push(day), clock, signal });
  const wait = async (ms: number) => {
    clock.advance(ms);
    await nextTurn();
  };
  return { asked, count, wait, stopping };
}

test.each<[string, number, number, number, number]>([
  ['one less than fill a merge', FULL_CHUNKS - 1, 1, 0, 0],
  ['so many as fill it', FULL_CHUNKS, 1, 1, FULL_CHUNKS],
  ['twice as many', 2 * FULL_CHUNKS, 1, 2, FULL_CHUNKS],
  ['bytes that fill it', 4, FULL_LINE_BYTES / 4, 1, 4],
  ['one that fills it alone, each', 3, FULL_LINE_BYTES, 3, 1],
])('%s', (_name, chunks, lineBytes, want, ofEach) => {
  const { asked, count } = counter();
  for (let i = 0; i < chunks; i++) count([pushed('a', 7, lineBytes)]);
  const filled = { tenant: 'a', day: 7, chunks: ofEach, lineBytes: ofEach * lineBytes };
  expect(asked).toEqual(new Array(want).fill(filled));
});

test('tenants and days are counted apart', () => {
  const { asked, count } = counter();
  for (let i = 1; i < FULL_CHUNKS; i++) count([pushed('a', 7, 1), pushed('a', 8, 1), pushed('b', 7, 1)]);
  expect(asked).toEqual([]);
  count([pushed('a', 8, 1)]);
  expect(asked).toEqual([{ tenant: 'a', day: 8, chunks: FULL_CHUNKS, lineBytes: FULL_CHUNKS }]);
});

test('requests enough pushes after a while, also if more come', async () => {
  const { asked, count, wait } = counter();
  count([pushed('a', 7, ENOUGH / 2), pushed('b', 7, 1), pushed('c', 7, ENOUGH)]);
  count([pushed('a', 7, ENOUGH / 2), pushed('b', 7, 1)]);
  await wait(MERGE_WAIT_MS - 1);
  expect(asked).toEqual([]);
  count([pushed('a', 7, 1)]);
  await wait(1);
  expect(asked).toEqual([{ tenant: 'a', day: 7, chunks: 3, lineBytes: ENOUGH + 1 }]);
  count([pushed('a', 7, ENOUGH / 2), pushed('a', 7, ENOUGH / 2)]);
  await wait(MERGE_WAIT_MS);
  expect(asked).toHaveLength(2);
});

test('requests the pushes that a merge left, because they were too new, after silence', async () => {
  const { asked, count, wait } = counter();
  for (let i = 0; i < 2; i++)
    count([pushed('a', 7, FULL_LINE_BYTES / 2), pushed('b', 7, FULL_LINE_BYTES / 2)]);
  await wait(SILENCE_MS / 2);
  count([pushed('b', 7, 1)]);
  expect(asked).toHaveLength(2);
  await wait(SILENCE_MS / 2);
  expect(asked.slice(2)).toEqual([{ tenant: 'a', day: 7, chunks: 0, lineBytes: 0 }]);
  await wait(SILENCE_MS);
  expect(asked.slice(3)).toEqual([{ tenant: 'b', day: 7, chunks: 1, lineBytes: 1 }]);
  await wait(10 * SILENCE_MS);
  expect(asked).toHaveLength(4);
});

test('requests pushes that fill a merge in the meantime once', async () => {
  const { asked, count, wait } = counter();
  for (let i = 0; i < 2; i++) count([pushed('a', 7, ENOUGH / 2)]);
  for (let i = 2; i < FULL_CHUNKS; i++) count([pushed('a', 7, 1)]);
  expect(asked).toHaveLength(1);
  await wait(MERGE_WAIT_MS);
  await wait(MERGE_WAIT_MS);
  expect(asked).toHaveLength(1);
});

const PAGE = MERGE_SIZES.pageBytes;

test('requests a few pushes after silence, if they fill a page', async () => {
  const { asked, count, wait } = counter();
  count([pushed('a', 7, PAGE - 1), pushed('b', 7, PAGE), pushed('c', 7, PAGE - 2)]);
  count([pushed('a', 7, 1), pushed('c', 7, 1)]);
  await wait(SILENCE_MS);
  expect(asked).toEqual([]);
  await wait(SILENCE_MS);
  expect(asked).toEqual([{ tenant: 'a', day: 7, chunks: 2, lineBytes: PAGE }]);
  await wait(10 * SILENCE_MS);
  expect(asked).toHaveLength(1);
  // Those that were too few count with the next.
  count([pushed('b', 7, 1), pushed('c', 7, 1)]);
  await wait(SILENCE_MS);
  expect(asked.slice(1)).toEqual([
    { tenant: 'b', day: 7, chunks: 2, lineBytes: PAGE + 1 },
    { tenant: 'c', day: 7, chunks: 3, lineBytes: PAGE },
  ]);
});

test('waits for silence while pushes come', async () => {
  const { asked, count, wait } = counter();
  for (let i = 0; i < 10; i++) {
    count([pushed('a', 7, PAGE / 4)]);
    await wait(SILENCE_MS / 2);
  }
  expect(asked).toEqual([]);
  for (let i = 0; i < 4; i++) await wait(SILENCE_MS / 2);
  expect(asked).toEqual([{ tenant: 'a', day: 7, chunks: 10, lineBytes: 2.5 * PAGE }]);
});

test('requests nothing after the end', async () => {
  const { asked, count, wait, stopping } = counter();
  for (let i = 0; i < 2; i++) count([pushed('a', 7, ENOUGH), pushed('b', 7, PAGE)]);
  stopping.abort();
  await wait(MERGE_WAIT_MS);
  await wait(SILENCE_MS);
  expect(asked).toEqual([]);
});
