/** Results of run-cloud.ts as a table, next to the goals. */
import { type Cell, formatTable } from '../table.ts';
import type { CloudFigure } from './run-cloud.ts';
import { goalRounds } from './suite.ts';

const KB = 1000;
const HEAD = [
  'store',
  'query',
  'GETs',
  'KB',
  'table reads',
  'ms',
  'rounds',
  'goal',
  'warm table reads',
  'warm rounds',
];

export function cloudTable(figures: readonly CloudFigure[]): string {
  const rows = figures.map(({ dataset, query, cold, warm }): Cell[] => [
    dataset,
    query,
    cold.objectReads,
    Math.round(cold.objectBytes / KB),
    cold.tableReads,
    Math.round(cold.ms),
    cold.rounds,
    goalRounds(dataset, query),
    warm.tableReads,
    warm.rounds,
  ]);
  return formatTable(HEAD, rows);
}
