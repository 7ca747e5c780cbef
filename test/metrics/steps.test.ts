/** Evaluation over many series yields to other work in every kind of node, with the same results. */
import { expect, test } from '@jest/globals';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { evaluateMetric, evaluationOf } from '../../shared/execution/metrics/evaluate.ts';
import { constantSeries } from '../../shared/execution/metrics/matrix.ts';
import { createRangeAccumulator } from '../../shared/execution/metrics/range-accumulator.ts';
import { atOnce, runWithYields } from '../../shared/execution/metrics/steps.ts';
import type { MetricExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';

const SERIES = 300;
const INSTANTS = 4;

/** A clock by which each look takes a millisecond. */
function slowTurns() {
  let nowMs = 0;
  const turns = {
    yields: 0,
    longestMs: 0,
    nowMs: () => ++nowMs,
    async yield(startedMs: number) {
      turns.yields++;
      turns.longestMs = Math.max(turns.longestMs, nowMs - startedMs);
    },
  };
  return turns;
}

const RATE = 'rate({app="a"}[1m])';
const nodes: readonly (readonly [query: string, stepsPerSeries: number])[] = [
  [RATE, 1],
  [`sum(${RATE})`, 2 / 32],
  [`stddev by (half) (${RATE})`, 2 / 32],
  [`topk(2, ${RATE})`, 1 / 32],
  [`${RATE} * 2`, 1],
  [`${RATE} > 0.5`, 1],
  [`${RATE} > bool 0.5`, 1],
  [`${RATE} / on (n) ${RATE}`, 3],
  [`${RATE} and ${RATE}`, 3],
  [`${RATE} or ${RATE}`, 3],
  [`label_replace(${RATE}, "x", "$1", "n", "(.).*")`, 2],
  [`sum(count by (half) (${RATE})) / 3`, 2 / 32],
];

test.each(nodes)('%s', async (query, stepsPerSeries) => {
  const expr = parseQuery(query) as MetricExpr;
  const series = Array.from({ length: SERIES }, (_, i) =>
    constantSeries(
      [
        { name: 'half', value: `${i % 2}` },
        { name: 'n', value: `${i}` },
      ],
      i / SERIES,
      INSTANTS,
    ),
  );
  const context = {
    leaf: () => ({ timesMs: new Float64Array(INSTANTS), series }),
    startNs: 0n,
    endNs: BigInt(INSTANTS - 1),
    stepNs: 1n,
    instant: false,
    maxSeries: 0,
  };
  const turns = slowTurns();
  const answer = await runWithYields(evaluationOf(expr, context), turns);
  expect(answer).toEqual(evaluateMetric(expr, context));
  // With this clock, a time slice has two or three steps.
  expect(turns.yields).toBeGreaterThanOrEqual((SERIES * stepsPerSeries) / 3);
  expect(turns.longestMs).toBeLessThanOrEqual(3);
});

test('windows are merged in steps too, and a disconnect ends the work', async () => {
  const accumulator = createRangeAccumulator({
    op: 'count_over_time',
    parameter: undefined,
    startNs: NS_PER_SECOND,
    endNs: NS_PER_SECOND * 3n,
    stepNs: NS_PER_SECOND,
    rangeNs: NS_PER_SECOND,
    offsetNs: 0n,
    unwrapped: false,
  });
  for (let i = 0; i < SERIES; i++) accumulator.slotOf(i, 0);
  const labelsOf = (series: number) => [{ name: 'n', value: `${series}` }];
  const turns = slowTurns();
  const matrix = await runWithYields(accumulator.finishing(labelsOf), turns);
  expect(matrix).toEqual(atOnce(accumulator.finishing(labelsOf)));
  expect([matrix.series.length, turns.yields >= SERIES / 3]).toEqual([SERIES, true]);
  const gone = {
    ...slowTurns(),
    yield: async () => {
      throw new Error('gone');
    },
  };
  await expect(runWithYields(accumulator.finishing(labelsOf), gone)).rejects.toThrow('gone');
});
