/** Days whose chunks are divided among functions, which plan them. */
import { describe, expect, test } from '@jest/globals';
import { NS_OF_HOUR, NS_OF_MINUTE, NS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { compileSelector } from '../../../shared/read/query/selector.ts';
import { dayOfChunks } from '../../../shared/read/query/tasks/chunk-days.ts';
import { functionTaskSizes } from '../../../shared/read/query/tasks/plan-tasks.ts';
import { costOfChunk } from '../../../shared/read/query/tasks/task-cost.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';

const DAY = 20_000;
const START_NS = BigInt(DAY) * NS_PER_DAY;
const WHOLE_DAY = { startNs: START_NS, endNs: START_NS + NS_PER_DAY };
const MIB = 1024 * 1024;
const PARTS = 8;

/** An hour of chunks that follow each other, those of 8 parts of the streams at the same time. */
function hourOf(totalBytes: number, chunkBytes: number): ChunkRecord[] {
  const spans = Math.ceil(totalBytes / chunkBytes / PARTS);
  return Array.from({ length: spans * PARTS }, (_, i) => {
    const span = Math.floor(i / PARTS);
    return {
      id: `${i}`.padStart(32, '0'),
      first: Math.floor((span * NS_OF_HOUR) / spans),
      last: Math.floor(((span + 1) * NS_OF_HOUR) / spans) - 1,
      lineBytes: chunkBytes,
      rows: Math.floor(chunkBytes / 190),
      streamPart: PARTS + (i % PARTS),
    } as ChunkRecord;
  });
}

/** Ranges of a query that prunes nothing, so that workers scan all of them. */
function rangesOf(records: readonly ChunkRecord[], direction?: 'forward' | 'backward') {
  const asked = { selector: compileSelector([]), range: WHOLE_DAY, prunes: false };
  const split = { ...functionTaskSizes(200), direction };
  return dayOfChunks({ day: DAY, records, indexes: [] }, asked, split)!.ranges;
}

describe('tasks of a query that scans a TB', () => {
  // As compaction leaves pushes until the hour is over, and then.
  test.each([8, 64, 128, 300, 640])('are one to four thousand if chunks have %i MiB of lines', chunkMib => {
    for (const direction of [undefined, 'backward'] as const) {
      const ranges = rangesOf(hourOf(1e12, chunkMib * MIB), direction);
      expect(ranges.length).toBeGreaterThan(1000);
      expect(ranges.length).toBeLessThan(4000);
      for (const { own } of ranges) {
        const cost = own.reduce((sum, record) => sum + costOfChunk(record), 0);
        // A worker would give a larger one back.
        if (own.length > 1) expect(cost).toBeLessThanOrEqual(512 * MIB);
      }
    }
  });
});

test('tasks of 60 GB are as many as workers', () => {
  const ranges = rangesOf(hourOf(60e9, 64 * MIB));
  expect(ranges.length).toBeGreaterThan(150);
  expect(ranges.length).toBeLessThan(350);
});

test('the first task of a log query has one chunk, also if chunks are small', () => {
  const ranges = rangesOf(hourOf(100e9, 8 * MIB), 'backward');
  const ofPart = ranges.filter(({ own }) => own[0].streamPart === PARTS);
  expect(ofPart.slice(0, 6).map(({ own }) => own.length)).toEqual([1, 2, 4, 8, 16, 32]);
  expect(ofPart[0].own[0].last).toBeGreaterThan(NS_OF_HOUR - NS_OF_MINUTE);
});
