/** Runs of streams: the same for any order and parts of added entries; and the histograms of them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NS_OF_MINUTE } from '../../shared/base/model/time-units.ts';
import { CumulativeHistogram } from '../../shared/read/insight/cumulative-histogram.ts';
import { isOneRun, LONGEST_PAUSE_MINUTES, StreamRuns } from '../../shared/read/insight/stream-runs.ts';
import type { LevelCounts } from '../../shared/storage/chunk/format.ts';

const bytesOf = (_entries: number, lineBytes: number, metadataBytes: number) => lineBytes + metadataBytes;

/** [from, to, bytes] in minutes. */
function runsOf(runs: StreamRuns, stream = 0): [number, number, number][] {
  const found: [number, number, number][] = [];
  runs.visit(stream, (from, to, bytes) => found.push([from / NS_OF_MINUTE, to / NS_OF_MINUTE, bytes]));
  return found;
}

/** Counts of a chunk: one byte for each entry, by minute. */
function countsOf(times: readonly number[]): LevelCounts {
  const byMinute = new Map<number, number>();
  for (const time of times) {
    const minute = Math.ceil(time / NS_OF_MINUTE);
    byMinute.set(minute, (byMinute.get(minute) ?? 0) + 1);
  }
  const minutes = [...byMinute.keys()].sort((a, b) => a - b);
  const entries = minutes.map(minute => byMinute.get(minute)!);
  return { level: 0, minutes, entries, lineBytes: entries, metadataBytes: entries.map(() => 0) };
}

function addChunk(runs: StreamRuns, stream: number, times: readonly number[]): void {
  const [first, last] = [Math.min(...times), Math.max(...times)];
  if (isOneRun(first, last)) runs.add(stream, first, last, times.length);
  else runs.addMinutes(stream, first, last, [countsOf(times)], bytesOf);
}

describe('runs of a stream', () => {
  // [what, chunks as minutes of their entries, runs]
  const rows: [string, number[][], [number, number, number][]][] = [
    ['one entry', [[5.5]], [[5.5, 5.5, 1]]],
    ['a pause that is not too long', [[5.5, 35.5]], [[5.5, 35.5, 2]]],
    [
      'a pause that is',
      [[5.5, 36.5]],
      [
        [5.5, 6, 1],
        [36, 36.5, 1],
      ],
    ],
    [
      'the same in two chunks',
      [[36.5], [5.5]],
      [
        [5.5, 6, 1],
        [36, 36.5, 1],
      ],
    ],
    ['a chunk between that joins two runs', [[5.5, 40.5], [20.5]], [[5.5, 40.5, 3]]],
    ['a chunk that joins three', [[5.5, 70.5], [38.5], [20.5, 55.5]], [[5.5, 70.5, 5]]],
    [
      'an entry where a minute ends is of that minute',
      [[6, 36.5]],
      [
        [6, 6, 1],
        [36, 36.5, 1],
      ],
    ],
    [
      'the first ns and the last minute',
      [[0, 1439.5]],
      [
        [0, 1, 1],
        [1439, 1439.5, 1],
      ],
    ],
  ];
  test.each(rows)('%s', (_, chunks, want) => {
    const runs = new StreamRuns();
    const stream = runs.addStream();
    for (const minutes of chunks)
      addChunk(
        runs,
        stream,
        minutes.map(minute => minute * NS_OF_MINUTE),
      );
    expect(runsOf(runs)).toEqual(want);
  });

  const times = fc.array(
    fc.integer({ min: 0, max: 400 * 60 }).map(second => second * 1e9),
    { minLength: 1, maxLength: 30 },
  );

  test('do not depend on order, chunks and parts, and pause for longer than half an hour', () => {
    fc.assert(
      fc.property(fc.array(times, { minLength: 1, maxLength: 5 }), fc.nat(4), (chunks, split) => {
        const together = new StreamRuns();
        addChunk(together, together.addStream(), chunks.flat());
        const apart = new StreamRuns();
        // Another stream's runs are in between.
        apart.addStream();
        const stream = apart.addStream();
        const later = new StreamRuns();
        const laterStream = later.addStream();
        chunks.forEach((chunk, i) => {
          addChunk(i < split ? apart : later, i < split ? stream : laterStream, chunk);
          addChunk(apart, 0, chunk);
        });
        apart.addAll(stream, later, laterStream);
        const runs = runsOf(apart, stream);
        expect(runs).toEqual(runsOf(together));
        expect(runsOf(apart, 0)).toEqual(runs);
        for (let i = 1; i < runs.length; i++) {
          expect(Math.floor(runs[i][0]) - Math.ceil(runs[i - 1][1])).toBeGreaterThanOrEqual(
            LONGEST_PAUSE_MINUTES,
          );
        }
      }),
    );
  });
});

test('spread bytes count by time, and no longer after removal', () => {
  const second = fc.integer({ min: 0, max: 86_400 }).map(seconds => seconds * 1e9);
  const span = fc.tuple(second, second).map(([a, b]) => [Math.min(a, b), Math.max(a, b)]);
  const minute = fc.integer({ min: 0, max: 1440 }).map(minutes => minutes * NS_OF_MINUTE);
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 8 }), minute, minute, (spans, a, b) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const curves = new CumulativeHistogram(1);
      const row = curves.addRow();
      let want = 0;
      for (const [first, last] of spans) {
        curves.addEvenly(row, first, last, 1000);
        const shared = Math.min(last, to) - Math.max(first, from);
        if (first === last) want += first >= from && first < to ? 1000 : 0;
        else if (shared > 0) want += (1000 * shared) / (last - first);
      }
      curves.addEvenly(row, 7e9, 50_000e9, 300);
      curves.addEvenly(row, 7e9, 50_000e9, -300);
      curves.seal();
      // An entry of the day's last ns is not in [from, to), for any `to`; doubles leave a remainder.
      const isAtEnd = spans.some(([first, last]) => first === last && first === 86_400e9);
      if (!isAtEnd) expect(curves.between(row, from, to)).toBeCloseTo(want, 6);
    }),
  );
});
