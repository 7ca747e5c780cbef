/** When a day is asked for: as often as its pushes fill a merge. */
import { expect, test } from '@jest/globals';
import type { ChunkRecord } from '../../shared/catalog/chunk-record.ts';
import { fullMergeCounter, type PackedDay } from '../../shared/compaction/full-merges.ts';
import { FULL_LINE_BYTES, MAX_INPUTS } from '../../shared/compaction/plan-merges.ts';

const pushed = (tenant: string, day: number, lineBytes: number) =>
  ({ tenant, day, lineBytes }) as ChunkRecord;

test.each<[string, number, number, number]>([
  ['one less than fill a merge', MAX_INPUTS - 1, 1, 0],
  ['so many as fill it', MAX_INPUTS, 1, 1],
  ['twice as many', 2 * MAX_INPUTS, 1, 2],
  ['bytes that fill it', 4, FULL_LINE_BYTES / 4, 1],
  ['one that fills it alone, each', 3, FULL_LINE_BYTES, 3],
])('%s', (_name, chunks, lineBytes, want) => {
  const asked: PackedDay[] = [];
  const count = fullMergeCounter(day => asked.push(day));
  for (let i = 0; i < chunks; i++) count([pushed('a', 7, lineBytes)]);
  expect(asked).toEqual(new Array(want).fill({ tenant: 'a', day: 7 }));
});

test('tenants and days are counted apart', () => {
  const asked: PackedDay[] = [];
  const count = fullMergeCounter(day => asked.push(day));
  for (let i = 1; i < MAX_INPUTS; i++) count([pushed('a', 7, 1), pushed('a', 8, 1), pushed('b', 7, 1)]);
  expect(asked).toEqual([]);
  count([pushed('a', 8, 1)]);
  expect(asked).toEqual([{ tenant: 'a', day: 8 }]);
});
