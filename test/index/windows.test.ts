/** Division of a large day among its indexes. */
import { describe, expect, test } from '@jest/globals';
import { NS_OF_MINUTE } from '../../shared/base/model/time-units.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import type { IndexRecord } from '../../shared/storage/catalog/day-item.ts';
import { type IndexWindow, indexesOf, indexWindows } from '../../shared/storage/index/windows.ts';

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
  const windows = indexWindows(chunksAt(...chunks), indexesAt(...indexes), CHUNKS_OF_INDEX);
  const isDivided = windows.some(one => one.isDivided);
  expect({ from: windows.map(({ fromMinute }) => fromMinute), isDivided }).toEqual(want);
});

describe('parts of the streams', () => {
  const HOURS_OF_CHUNKS = 24;
  /** Chunks of each hour, with the parts. */
  const chunksOf = (parts: readonly (number | undefined)[], hours = HOURS_OF_CHUNKS): ChunkRecord[] =>
    Array.from({ length: hours }, (_, hour) =>
      parts.map((streamPart, i) => ({ ...chunksAt(hour * 60)[0], id: `${hour}/${i}`, streamPart })),
    ).flat();
  const indexOf = ({ fromMinute, streamPart }: IndexWindow): IndexRecord => ({
    ...indexesAt(fromMinute)[0],
    streamPart: streamPart === 1 ? undefined : streamPart,
  });
  const EIGHTHS = [8, 9, 10, 11, 12, 13, 14, 15];

  test.each<[string, readonly (number | undefined)[], number, number[]]>([
    ['a window of few chunks has one index', EIGHTHS, 1000, [1]],
    ['a large window has an index for each part', EIGHTHS, 200, EIGHTHS],
    ['chunks of smaller parts are in the part that has them', [8, 9, 10, 11, 6, 7], 200, [4, 5, 6, 7]],
    [
      'chunks without a part are in the index of all streams',
      [...EIGHTHS, ...EIGHTHS, undefined],
      500,
      [1, ...EIGHTHS],
    ],
    ['a window is not divided if many chunks have no part', [...EIGHTHS, undefined], 300, [1]],
    [
      'a window has up to 8 parts',
      [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
      400,
      EIGHTHS,
    ],
  ])('%s', (_name, parts, chunksOfIndex, want) => {
    const records = chunksOf(parts);
    const windows = indexWindows(records, [], chunksOfIndex);
    expect(windows.map(({ streamPart }) => streamPart)).toEqual(want);
    expectOnce(windows, records);
  });

  test('windows of a large day become as many as 24, and each has its parts', () => {
    const records = chunksOf([...EIGHTHS, ...EIGHTHS]);
    const windows = indexWindows(records, [], 1);
    expect(new Set(windows.map(({ fromMinute }) => fromMinute)).size).toBe(24);
    expect(windows).toHaveLength(24 * 8);
    expectOnce(windows, records);
  });

  test('a window is divided once, and stays divided when it has fewer chunks', () => {
    const before = indexWindows(chunksOf(EIGHTHS), [], 1000).map(indexOf);
    const divided = indexWindows(chunksOf(EIGHTHS), before, 200);
    expect(divided.every(({ isDivided }) => isDivided)).toBe(true);
    const after = indexWindows(chunksOf([8, 9, undefined], 1), divided.map(indexOf), 200);
    expect(after.map(({ streamPart, isDivided }) => [streamPart, isDivided])).toEqual([
      [1, false],
      [8, false],
      [9, false],
    ]);
  });

  test('queries read the index that each chunk is in', () => {
    for (const parts of [EIGHTHS, [...EIGHTHS, ...EIGHTHS, undefined], [8, 9, 10, 11, 6, 7]]) {
      for (const chunksOfIndex of [1, 10, 100, 1000]) {
        const records = chunksOf(parts);
        const windows = indexWindows(records, [], chunksOfIndex);
        const indexes = windows.map(indexOf);
        for (const [i, window] of windows.entries()) {
          expect(indexesOf(window.records, indexes)).toEqual([indexes[i]]);
        }
        expect(indexesOf(records, indexes)).toEqual(indexes);
      }
    }
  });

  function expectOnce(windows: readonly IndexWindow[], records: readonly ChunkRecord[]): void {
    const ids = windows.flatMap(window => window.records.map(({ id }) => id));
    expect(ids.sort()).toEqual(records.map(({ id }) => id).sort());
  }
});
