/** When a day is asked for: as often as its pushes fill a merge. */
import { expect, test } from '@jest/globals';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { type FilledDay, fullMergeCounter } from '../../shared/upkeep/compaction/full-merges.ts';
import { FULL_LINE_BYTES, MAX_INPUTS } from '../../shared/upkeep/compaction/plan-merges.ts';

const pushed = (tenant: string, day: number, lineBytes: number) =>
  ({ tenant, day, lineBytes }) as ChunkRecord;

test.each<[string, number, number, number, number]>([
  ['one less than fill a merge', MAX_INPUTS - 1, 1, 0, 0],
  ['so many as fill it', MAX_INPUTS, 1, 1, MAX_INPUTS],
  ['twice as many', 2 * MAX_INPUTS, 1, 2, MAX_INPUTS],
  ['bytes that fill it', 4, FULL_LINE_BYTES / 4, 1, 4],
  ['one that fills it alone, each', 3, FULL_LINE_BYTES, 3, 1],
])('%s', (_name, chunks, lineBytes, want, ofEach) => {
  const asked: FilledDay[] = [];
  const count = fullMergeCounter(day => asked.push(day));
  for (let i = 0; i < chunks; i++) count([pushed('a', 7, lineBytes)]);
  const filled = { tenant: 'a', day: 7, chunks: ofEach, lineBytes: ofEach * lineBytes };
  expect(asked).toEqual(new Array(want).fill(filled));
});

test('tenants and days are counted apart', () => {
  const asked: FilledDay[] = [];
  const count = fullMergeCounter(day => asked.push(day));
  for (let i = 1; i < MAX_INPUTS; i++) count([pushed('a', 7, 1), pushed('a', 8, 1), pushed('b', 7, 1)]);
  expect(asked).toEqual([]);
  count([pushed('a', 8, 1)]);
  expect(asked).toEqual([{ tenant: 'a', day: 8, chunks: MAX_INPUTS, lineBytes: MAX_INPUTS }]);
});
