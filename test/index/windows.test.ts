/** Division of a large day among its indexes. */
import { expect, test } from '@jest/globals';
import { NS_OF_MINUTE } from '../../shared/base/model/time-units.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import type { IndexRecord } from '../../shared/storage/catalog/day-item.ts';
import { indexWindows } from '../../shared/storage/index/windows.ts';

const CHUNKS_OF_INDEX = 2;
const chunksAt = (...minutes: number[]) =>
  minutes.map((minute, i) => ({ id: `${i}`, first: minute * NS_OF_MINUTE }) as ChunkRecord);
const indexesAt = (...minutes: number[]): IndexRecord[] =>
  minutes.map(fromMinute => ({ fromMinute, id: `${fromMinute}`, storedBytes: 1, headBytes: 1 }));

test.each<[string, number[], number[], { from: number[]; isDivided: boolean }]>([
  ['a small day has one', [0, 700], [], { from: [0], isDivided: false }],
  ['a large one has several', [0, 1, 700], [], { from: [0, 360], isDivided: false }],
  ['a day that became large is divided', [0, 1, 700], [0], { from: [0, 360], isDivided: true }],
  ['once', [0, 1, 700], [0, 360], { from: [0, 360], isDivided: false }],
  ['not while one window has all its chunks', [0, 1, 2], [0], { from: [0], isDivided: false }],
  ['a new window divides no other', [0, 1, 400, 800], [0, 360], { from: [0, 360, 720], isDivided: false }],
  ['fewer chunks join no windows', [0, 700], [0, 360], { from: [0, 360], isDivided: false }],
])('%s', (_name, chunks, indexes, want) => {
  const { windows, isDivided } = indexWindows(chunksAt(...chunks), indexesAt(...indexes), CHUNKS_OF_INDEX);
  expect({ from: windows.map(({ fromMinute }) => fromMinute), isDivided }).toEqual(want);
});
