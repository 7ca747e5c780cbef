/**
 * `npm run bench -- cloud`, second part: the suite and pushes over real HTTP, as tables next to the goals.
 */
import { type Cell, formatTable } from '../table.ts';
import { type HttpFigure, type PushFigure, pushesOverHttp, queriesOverHttp } from './http/measure.ts';
import { cloudDatasets } from './run-cloud.ts';
import { goalRounds, WARM_GOAL_ROUNDS } from './suite.ts';

interface PushRun {
  readonly name: string;
  readonly bytes: number;
  readonly atOnce: number;
  /** Goal: pushes per second, or megabytes of lines. */
  readonly goal: string;
}

const PUSH_SECONDS = 15;
const PUSHES: readonly PushRun[] = [
  { name: '10 KB, 64 at once', bytes: 10_000, atOnce: 64, goal: '850/s' },
  { name: '0.5 MB, 16 at once', bytes: 500_000, atOnce: 16, goal: '60 MB/s' },
];
const PUSH_P99_GOAL_MS = 150;

interface HttpFigures {
  readonly queries: readonly HttpFigure[];
  readonly pushes: readonly (PushFigure & { readonly goal: string })[];
}

export async function runOverHttp(mb: number, say: (text: string) => void): Promise<HttpFigures> {
  const queries: HttpFigure[] = [];
  for (const dataset of cloudDatasets(mb)) {
    say(`over HTTP: ${dataset.name}`);
    queries.push(...(await queriesOverHttp(dataset)));
  }
  const pushes: HttpFigures['pushes'][number][] = [];
  for (const { goal, ...run } of PUSHES) {
    say(`over HTTP: pushes of ${run.name}`);
    pushes.push({ ...(await pushesOverHttp({ ...run, seconds: PUSH_SECONDS })), goal });
  }
  return { queries, pushes };
}

export function httpTable(figures: readonly HttpFigure[]): string {
  const head = [
    'store',
    'query',
    'GETs',
    'table reads',
    'ms',
    'rounds',
    'goal',
    'warm ms',
    'warm rounds',
    'goal',
  ];
  const rows = figures.map(({ dataset, query, cold, ...figure }): Cell[] => [
    dataset,
    query,
    cold.objectReads,
    cold.tableReads,
    Math.round(figure.coldMs),
    figure.coldRounds,
    goalRounds(dataset, query),
    Math.round(figure.warmMs),
    figure.warmRounds,
    WARM_GOAL_ROUNDS,
  ]);
  return formatTable(head, rows);
}

export function pushTable(figures: HttpFigures['pushes']): string {
  const head = ['pushes', 'pushes/s', 'MB/s', 'goal', 'p50 ms', 'p99 ms', 'goal'];
  const rows = figures.map(({ name, goal, ...figure }): Cell[] => [
    name,
    Math.round(figure.pushesPerS),
    figure.mbPerS,
    goal,
    Math.round(figure.p50Ms),
    Math.round(figure.p99Ms),
    PUSH_P99_GOAL_MS,
  ]);
  return formatTable(head, rows);
}
