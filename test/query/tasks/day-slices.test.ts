/** Days of which too many chunks share one time for workers to plan them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  MINUTES_PER_DAY,
  NS_OF_DAY,
  NS_OF_MINUTE,
  NS_PER_DAY,
  NS_PER_MINUTE,
} from '../../../shared/base/model/time-units.ts';
import { compileSelector } from '../../../shared/read/query/selector.ts';
import { slicesOfDay } from '../../../shared/read/query/tasks/day-slices.ts';
import { functionTaskSizes } from '../../../shared/read/query/tasks/plan-tasks.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import type { IndexRecord } from '../../../shared/storage/catalog/day-item.ts';

const DAY = 20_000;
const START_NS = BigInt(DAY) * NS_PER_DAY;
const WHOLE_DAY = { startNs: START_NS, endNs: START_NS + NS_PER_DAY };
const INDEX: IndexRecord = { fromMinute: 0, id: 'index', storedBytes: 0, headBytes: 0 };
const SPLIT = functionTaskSizes(200);

/** @param minutes times of the day */
function chunkOf(number: number, fromMinute: number, toMinute: number): ChunkRecord {
  return {
    id: `${number}`.padStart(32, '0'),
    first: Math.floor(fromMinute * NS_OF_MINUTE),
    last: Math.min(NS_OF_DAY, Math.floor(toMinute * NS_OF_MINUTE)) - 1,
    lineBytes: 100,
    footerBytes: 10,
  } as ChunkRecord;
}

function sliced(records: readonly ChunkRecord[], { range = WHOLE_DAY, split = {} } = {}) {
  const asked = { selector: compileSelector([]), range, prunes: true };
  return slicesOfDay({ day: DAY, records, indexes: [INDEX] }, asked, { ...SPLIT, ...split });
}

/** Many chunks that follow each other. */
const MANY = Array.from({ length: 5000 }, (_, i) =>
  chunkOf(i, (i * MINUTES_PER_DAY) / 5000, ((i + 1) * MINUTES_PER_DAY) / 5000),
);

test('a day whose chunks follow each other is one slice', () => {
  const slices = sliced(MANY);
  expect(slices).toHaveLength(1);
  expect(slices[0]).toMatchObject({ range: WHOLE_DAY, share: 1 });
  expect(slices[0].chunks).toBeDefined();
});

test('one push with entries of the whole day leaves everything to workers', () => {
  const slices = sliced([...MANY, chunkOf(MANY.length, 0, MINUTES_PER_DAY)]);
  expect(slices.length).toBeGreaterThan(1);
  expect(slices.length).toBeLessThanOrEqual(4);
  expect(slices.every(({ chunks }) => chunks !== undefined)).toBe(true);
});

test('the query function plans only the minutes of many small pushes', () => {
  const pushes = Array.from({ length: 9000 }, (_, i) => chunkOf(10_000 + i, 1000.1, 1001.9));
  const slices = sliced([...MANY, ...pushes], { split: { direction: 'backward' } });
  const here = slices.filter(({ chunks }) => chunks === undefined);
  expect(here).toHaveLength(1);
  const [{ range, ofSlice }] = here;
  expect(range).toEqual({
    startNs: START_NS + 1000n * NS_PER_MINUTE,
    endNs: START_NS + 1002n * NS_PER_MINUTE,
  });
  expect(ofSlice.records.length).toBeLessThan(9000 + 10);
  expect(slices.map(one => one.range.startNs)).toEqual(
    slices.map(one => one.range.startNs).toSorted((a, b) => (a > b ? -1 : 1)),
  );
  const tasks = slices.reduce((sum, { chunks }) => sum + (chunks?.ranges.length ?? 0), 0);
  expect(tasks).toBeLessThan(2 * SPLIT.tasksOfDay);
});

test('more than the query function can plan is refused, with what to do', () => {
  const pushes = Array.from({ length: 5000 }, (_, i) => chunkOf(i, 0, MINUTES_PER_DAY));
  expect(() => sliced(pushes, { split: { maxFooterBytesHere: 49_999 } })).toThrow(
    /^too many chunks of 2024-10-04 overlap in time: .* query a shorter time range or fewer streams/,
  );
  expect(sliced(pushes, { split: { maxFooterBytesHere: 50_000 } })).toHaveLength(1);
});

describe('slices of any day', () => {
  const minute = fc.integer({ min: 0, max: 4000 }).map(tenths => tenths / 10);
  const chunks = fc
    .array(fc.tuple(minute, fc.integer({ min: 1, max: 500 })), { minLength: 1, maxLength: 30 })
    .map(list => list.map(([from, span], i) => chunkOf(i, from, from + span / 10)));
  const range = fc.tuple(minute, fc.integer({ min: 1, max: 4000 })).map(([from, span]) => ({
    startNs: START_NS + BigInt(Math.floor(from * NS_OF_MINUTE)),
    endNs: START_NS + BigInt(Math.floor((from + span / 10) * NS_OF_MINUTE)),
  }));

  test('cover the chunks of the range once, in the direction of the query', () => {
    fc.assert(
      fc.property(chunks, range, fc.boolean(), (all, asked, isBackward) => {
        const from = Number(asked.startNs - START_NS);
        const to = Number(asked.endNs - START_NS);
        const records = all.filter(({ first, last }) => first < to && last >= from);
        fc.pre(records.length > 0);
        const direction = isBackward ? 'backward' : 'forward';
        const slices = sliced(records, { range: asked, split: { maxNeighbors: 1, direction } });
        const inOrder = isBackward ? slices.toReversed() : slices;
        for (const [i, { range: one }] of inOrder.entries()) {
          expect(one.startNs < one.endNs).toBe(true);
          if (i > 0) expect(one.startNs >= inOrder[i - 1].range.endNs).toBe(true);
        }
        // At each start and end of a chunk, the slice there has all chunks that meet it.
        for (const { first, last } of records) {
          for (const time of [Math.max(first, from), Math.min(last, to - 1)]) {
            const atNs = START_NS + BigInt(time);
            const [slice, ...others] = slices.filter(
              ({ range: one }) => one.startNs <= atNs && atNs < one.endNs,
            );
            expect(others).toEqual([]);
            const known = new Set(slice.ofSlice.records);
            const missing = records.filter(one => one.first <= time && one.last >= time && !known.has(one));
            expect(missing).toEqual([]);
          }
        }
        expect(slices.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
      }),
    );
  });
});
