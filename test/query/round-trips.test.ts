/**
 * Round trips, requests and bytes of the fixed suite over modeled S3 and DynamoDB (bench/cloud), cold and
 * then warm. Time is virtual, so figures are equal in every run. If you improve one, update it here.
 */
import { describe, expect, test } from '@jest/globals';
import { loadCloudStore, type MeasuredQuery } from '../../bench/cloud/cloud-store.ts';
import { type Dataset, manyDays, oneDay, unmerged } from '../../bench/cloud/datasets.ts';
import { measureQuery } from '../../bench/cloud/run-cloud.ts';
import {
  cloudSuite,
  goalRounds,
  INSIGHT_GOAL_ROUNDS,
  insightSuite,
  WARM_GOAL_ROUNDS,
} from '../../bench/cloud/suite.ts';
import type { ReadRound } from '../../shared/read/query/read-rounds.ts';
import { sampleOf } from '../support/suite.ts';

/**
 * Object reads, table reads and rounds of a cold process by query; then object reads and rounds of the
 * repeated query.
 */
type Figures = Readonly<Record<string, readonly [number, number, number, number, number]>>;

/** Maximum object bytes read by all queries; they change with every change of compression. */
const MAX_BYTES: Readonly<Record<string, number>> = {
  'one day': 10_000_000,
  '30 days': 24_000_000,
  unmerged: 3_200_000,
};

const EXPECTED: readonly [Dataset, Figures][] = [
  [
    oneDay(16),
    {
      needle: [6, 3, 3, 3, 1],
      'needle, absent': [1, 3, 2, 3, 1],
      'count by minute': [1, 3, 2, 3, 1],
      json_status: [6, 3, 4, 3, 1],
      json_first_filter: [6, 3, 4, 3, 1],
      regex_ci: [2, 3, 3, 3, 1],
      tail_100: [2, 3, 3, 3, 1],
      labels: [1, 2, 2, 2, 1],
    },
  ],
  [
    manyDays(30, 0.5),
    {
      needle: [60, 3, 3, 3, 1],
      'needle, absent': [30, 3, 2, 3, 1],
      'count by minute': [30, 3, 2, 3, 1],
      json_status: [84, 3, 4, 3, 1],
      json_first_filter: [90, 3, 4, 3, 1],
      regex_ci: [60, 3, 3, 3, 1],
      tail_100: [16, 3, 3, 3, 1],
      labels: [30, 2, 2, 2, 1],
    },
  ],
  [
    unmerged(497),
    {
      needle: [497, 3, 5, 3, 1],
      'needle, absent': [497, 3, 5, 3, 1],
      'count by minute': [4, 3, 3, 3, 1],
      json_status: [184, 3, 3, 3, 1],
      json_first_filter: [391, 3, 5, 3, 1],
      regex_ci: [391, 3, 5, 3, 1],
      tail_100: [0, 3, 1, 3, 1],
      labels: [0, 2, 1, 2, 1],
    },
  ],
];

/**
 * `explain` shows what the model counts, with two exceptions. Reads that wait for a connection belong to one
 * round there, and read-aheads that the query did not await are not shown.
 */
function expectExplained(dataset: string, { body, totals }: MeasuredQuery): void {
  const { rounds } = JSON.parse(body).data.explain as { rounds: ReadRound[] };
  const shown = rounds.flatMap(round => Object.values(round.reads));
  const requests = shown.reduce((sum, read) => sum + read.requests, 0);
  const made = totals.objectReads + totals.tableReads;
  expect(requests).toBeLessThanOrEqual(made);
  expect(rounds.length).toBeLessThanOrEqual(totals.rounds);
  if (dataset === 'unmerged') return;
  expect(requests).toBeGreaterThan(0.7 * made);
  expect(rounds).toHaveLength(totals.rounds);
}

describe.each(sampleOf(EXPECTED, 3).map(([dataset, figures]) => [dataset.name, dataset, figures] as const))(
  'round trips over %s',
  (name, dataset, figures) => {
    test('match the expected figures', async () => {
      const store = await loadCloudStore(dataset);
      const found: Record<string, readonly number[]> = {};
      let bytes = 0;
      for (const query of cloudSuite(dataset)) {
        const { cold, warm } = await measureQuery(store, dataset, query);
        found[query.name] = [cold.objectReads, cold.tableReads, cold.rounds, warm.tableReads, warm.rounds];
        bytes += cold.objectBytes;
        // The second query reads nothing again.
        expect({ query: query.name, objectReads: warm.objectReads }).toEqual({
          query: query.name,
          objectReads: 0,
        });
        if (query.path.endsWith('/query_range')) {
          expectExplained(
            name,
            await store.process().ask({ ...query, params: { ...query.params, explain: 'true' } }),
          );
        }
        expect(cold.rounds).toBeLessThanOrEqual(goalRounds(name, query.name));
        expect(warm.rounds).toBeLessThanOrEqual(WARM_GOAL_ROUNDS);
      }
      for (const query of insightSuite(dataset)) {
        const { cold, warm } = await measureQuery(store, dataset, query);
        const { name: of } = query;
        expect({ of, rounds: cold.rounds > INSIGHT_GOAL_ROUNDS && cold.rounds }).toEqual({
          of,
          rounds: false,
        });
        expect({ of, rounds: warm.rounds }).toEqual({ of, rounds: WARM_GOAL_ROUNDS });
      }
      expect(found).toEqual(figures);
      expect(bytes).toBeLessThanOrEqual(MAX_BYTES[name]);
    });
  },
);
