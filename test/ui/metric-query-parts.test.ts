/** Parts of a metric query over a long range. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import type { MatrixSeries } from '../../ui/src/api/types.ts';
import { computedShare, joinedSeries, metricParts } from '../../ui/src/query/metric-parts.ts';

const STEP_MS = 60_000;
const DAY = { fromMs: 0, toMs: 24 * MS_PER_HOUR };

describe('parts of a metric query', () => {
  test('are the newest eighth, the rest of the newer half, and the older half', () => {
    const parts = metricParts(['rate({a="b"}[5m])'], DAY, STEP_MS);
    expect(parts.map(({ fromMs, toMs }) => [fromMs / STEP_MS, toMs / STEP_MS])).toEqual([
      [1261, 1440],
      [720, 1260],
      [0, 719],
    ]);
    expect(parts.map(part => computedShare(DAY, part))).toEqual([179 / 1440, 0.5, 1]);
  });

  test.each([
    ['a short range', 'rate({a="b"}[5m])', { fromMs: 0, toMs: MS_PER_HOUR }],
    ['a window that each part would read again', 'rate({a="b"}[1h])', DAY],
    ['a window that is no duration', 'rate({a="b"}[x])', DAY],
    ['an open window', 'rate({a="b"}[5m', DAY],
  ])('%s is one part', (_, query, range) => {
    expect(metricParts([query, 'rate({a="b"}[1m])'], range, STEP_MS)).toEqual([range]);
  });

  test('cover each instant once', () => {
    const ranges = fc.record({
      instants: fc.integer({ min: 1, max: 400 }),
      stepMs: fc.constantFrom(STEP_MS, 15 * STEP_MS, MS_PER_HOUR),
    });
    fc.assert(
      fc.property(ranges, ({ instants, stepMs }) => {
        const range = { fromMs: 0, toMs: (instants - 1) * stepMs };
        const times = metricParts(['count_over_time({a="b"}[1s])'], range, stepMs)
          .toReversed()
          .flatMap(({ fromMs, toMs }) =>
            Array.from({ length: Math.round((toMs - fromMs) / stepMs) + 1 }, (_, i) => fromMs + i * stepMs),
          );
        expect(times).toEqual(Array.from({ length: instants }, (_, i) => i * stepMs));
      }),
    );
  });
});

test('series of parts are joined in the order of their labels, samples by time', () => {
  const series = (a: string, ...times: number[]): MatrixSeries => ({
    metric: { a },
    values: times.map(at => [at, `${at}`]),
  });
  const none: MatrixSeries = { metric: {}, values: [[1, '1']] };
  expect(
    joinedSeries([[series('y', 5, 6)], [series('x', 3), series('y', 3, 4)], [series('z', 1), none]]),
  ).toEqual([none, series('x', 3), series('y', 3, 4, 5, 6), series('z', 1)]);
});
