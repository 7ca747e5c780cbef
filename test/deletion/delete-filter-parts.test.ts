/**
 * Parts of delete filters: rows removed from a selection, counts minus hidden rows, times of many requests.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_PER_DAY, NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { compileMatchers } from '../../shared/language/logql/matcher.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { coversChunk, type DeleteRequest, NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import { labelSketch } from '../../shared/storage/catalog/label-sketch.ts';
import { type LevelCounts, OTHER_LEVELS } from '../../shared/storage/chunk/format.ts';
import { DeleteFilter } from '../../shared/upkeep/deletion/delete-filter.ts';
import { compileDeleteFilters } from '../../shared/upkeep/deletion/delete-filters.ts';
import { removeRows } from '../../shared/upkeep/deletion/page-hits.ts';
import { RequestTimes } from '../../shared/upkeep/deletion/request-times.ts';
import { shownCounts } from '../../shared/upkeep/deletion/shown-counts.ts';
import { streamOf } from '../support/rows.ts';

const DAY = 20_000;
const START_NS = BigInt(DAY) * NS_PER_DAY;

function requestOf(i: number, given: Partial<DeleteRequest>): DeleteRequest {
  return {
    id: i.toString(16).padStart(8, '0'),
    tenant: 't',
    query: '{app="a"} |= "x"',
    startNs: START_NS,
    endNs: START_NS + NS_PER_DAY,
    intervalNs: 0n,
    createdMs: 1,
    ...NOT_BEGUN,
    ...given,
  };
}

test('rows taken out, few or many, are those of the list', () => {
  const rows = fc.uniqueArray(fc.nat(400), { maxLength: 200 }).map(list => Uint32Array.from(list).sort());
  fc.assert(
    fc.property(rows, rows, fc.nat(20), (selection, all, most) => {
      for (const taken of [all, all.slice(0, most)]) {
        const left = Array.from(selection).filter(row => !taken.includes(row));
        const given = selection.slice();
        const count = removeRows(given, given.length, taken);
        expect(Array.from(given.subarray(0, count))).toEqual(left);
      }
    }),
  );
});

describe('counts less hidden rows', () => {
  const levels = ['', 'info', OTHER_LEVELS];
  const counts: LevelCounts[] = [
    { level: 1, minutes: [3, 7], entries: [2, 1], lineBytes: [10, 4], metadataBytes: [0, 0] },
    { level: 2, minutes: [7], entries: [1], lineBytes: [5], metadataBytes: [0] },
  ];
  const hide = (...hidden: [number, string, number][]) =>
    shownCounts(
      counts,
      levels,
      hidden.map(([minute, level, lineBytes]) => ({ minute, level, lineBytes })),
    ).map(({ level, minutes, entries, lineBytes }) => [level, minutes, entries, lineBytes]);

  test.each([
    [
      'nothing',
      [],
      [
        [1, [3, 7], [2, 1], [10, 4]],
        [2, [7], [1], [5]],
      ],
    ],
    [
      'one of two',
      [[3, 'info', 6]],
      [
        [1, [3, 7], [1, 1], [4, 4]],
        [2, [7], [1], [5]],
      ],
    ],
    [
      'the only one of a minute',
      [[7, 'info', 4]],
      [
        [1, [3], [2], [10]],
        [2, [7], [1], [5]],
      ],
    ],
    ['the only one of a level that is not counted apart', [[7, 'rare', 5]], [[1, [3, 7], [2, 1], [10, 4]]]],
    [
      'all',
      [
        [3, 'info', 6],
        [3, 'info', 4],
        [7, 'info', 4],
        [7, 'rarer', 5],
      ],
      [],
    ],
  ] as const)('%s', (_, hidden, left) => {
    expect(hide(...hidden.map((row): [number, string, number] => [row[0], row[1], row[2]]))).toEqual(left);
  });

  test.each([
    ['an unknown minute', [4, 'info', 1]],
    ['an unknown level', [3, '', 1]],
    ['more bytes than there are', [7, 'info', 5]],
  ] as const)('%s is refused', (_, row) => {
    expect(() => hide([row[0], row[1], row[2]])).toThrow('invariant broken');
  });

  test("the footer's data is not changed", () => {
    hide([3, 'info', 6]);
    expect(counts[0].entries).toEqual([2, 1]);
  });
});

test('ordered times of many requests give the same result as checking each', () => {
  const arbitraryInterval = fc
    .tuple(fc.nat(50), fc.nat(10))
    .map(([from, more]) => ({ from, to: from + more }));
  fc.assert(
    fc.property(
      fc.array(arbitraryInterval, { maxLength: 40 }),
      arbitraryInterval,
      (intervals, { from, to }) => {
        const requests = intervals.map((_, i) => new DeleteFilter(requestOf(i, {}), SYSTEM_CLOCK));
        const times = new RequestTimes(new Map(requests.map((request, i) => [request, intervals[i]])));
        const stretch = { first: from, last: to };
        expect(times.meets(requests, stretch)).toBe(intervals.some(one => one.from <= to && one.to >= from));
        expect(times.holds(requests, stretch)).toBe(intervals.some(one => one.from <= from && one.to >= to));
      },
    ),
  );
});

const SELECTORS = ['{app="a"}', '{app="a", pod="1"}', '{pod="2"}', '{app=~"a|b"}', '{app!="a"}'];

test('chunks and streams that requests may touch are those of a look at each request', () => {
  const arbitraryRequest = fc.record({
    selector: fc.constantFrom(...SELECTORS),
    stages: fc.constantFrom('', '|= "x"'),
    hours: fc.tuple(fc.nat(30), fc.nat(30)).map(two => two.sort((a, b) => a - b)),
    steps: fc.array(fc.constantFrom(1, 5, 9), { maxLength: 2 }).map(two => two.sort()),
  });
  const arbitraryChunk = fc.record({
    labels: fc.uniqueArray(fc.constantFrom('a 1', 'a 2', 'b 1', 'c 2'), { minLength: 1, maxLength: 2 }),
    hour: fc.nat(23),
    length: fc.constantFrom(0, 60e9, 3600e9),
    asOfMs: fc.constantFrom(0, 3, 7),
    hasSketch: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(arbitraryRequest, { minLength: 1, maxLength: 30 }),
      fc.array(arbitraryChunk, { minLength: 1, maxLength: 10 }),
      (given, chunks) => {
        const requests = given.map(({ selector, stages, hours, steps }, i) =>
          requestOf(i, {
            query: `${selector} ${stages}`,
            startNs: START_NS + BigInt(hours[0]) * NS_PER_HOUR,
            endNs: START_NS + BigInt(hours[1]) * NS_PER_HOUR,
            pickedUpMs: steps[0],
            sealedMs: steps[1],
          }),
        );
        const deleteFilters = compileDeleteFilters(requests, { clock: SYSTEM_CLOCK });
        for (const { labels, hour, length, asOfMs, hasSketch } of chunks) {
          const streams = labels.map(text => streamOf({ app: text[0], pod: text[2] }));
          const first = hour * 3_600e9 + 1;
          const record = {
            tenant: 't',
            id: '0'.repeat(32),
            day: DAY,
            first,
            // The last instant of the day at most.
            last: Math.min(first + length, 24 * 3_600e9 - 1),
            asOfMs,
            pairs: hasSketch ? labelSketch(streams) : undefined,
          } as ChunkRecord;
          const touching = requests.filter(({ startNs, endNs }, i) => {
            const [from, to] = [Number(startNs - START_NS), Number(endNs - START_NS)];
            return coversChunk(requests[i], record) && from <= record.last && to >= first;
          });
          const deleteFilter = deleteFilters.forChunk(record);
          for (const stream of streams) {
            const accepts = (request: DeleteRequest) =>
              compileMatchers(new DeleteFilter(request, SYSTEM_CLOCK).matchers)(stream.labels);
            const ofStream = touching.filter(accepts);
            expect(deleteFilter?.mayTouch(stream) ?? false).toBe(ofStream.length > 0);
            expect(deleteFilter?.mayTakeWhole(stream) ?? false).toBe(
              ofStream.some(({ query }) => !query.includes('|=')),
            );
          }
          const requestsOfDay = requests.filter(({ startNs }) => startNs < START_NS + NS_PER_DAY);
          expect(deleteFilters.coversEvenly(record)).toBe(
            requestsOfDay.every(request => coversChunk(request, record)),
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});
