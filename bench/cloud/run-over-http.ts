/**
 * `npm run bench -- cloud`, second part: the suite and pushes over real HTTP, as tables next to the goals.
 */
import { type Cell, formatTable } from '../table.ts';
import { type HttpFigure, queriesOverHttp } from './http/measure.ts';
import { type PushFigure, pushesOverHttp } from './http/pushes.ts';
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

type PushFigures = readonly (PushFigure & { readonly goal: string })[];

/** @param latencyFactor multiple of the modeled latency, which separates rounds from late requests */
export async function runQueriesOverHttp(
  { mb, latencyFactor }: { readonly mb: number; readonly latencyFactor: number },
  say: (text: string) => void,
): Promise<readonly HttpFigure[]> {
  const figures: HttpFigure[] = [];
  for (const dataset of cloudDatasets(mb)) {
    say(`over HTTP: ${dataset.name}`);
    figures.push(...(await queriesOverHttp(dataset, latencyFactor)));
  }
  return figures;
}

export async function runPushesOverHttp(say: (text: string) => void): Promise<PushFigures> {
  const figures: PushFigures[number][] = [];
  for (const { goal, ...run } of PUSHES) {
    say(`over HTTP: pushes of ${run.name}`);
    figures.push({ ...(await pushesOverHttp({ ...run, seconds: PUSH_SECONDS })), goal });
  }
  return figures;
}

/**
 * `rounds` is what `explain` shows, `seen` what the server saw (Sent). They differ on a busy machine, where
 * responses are late.
 */
export function httpTable(figures: readonly HttpFigure[]): string {
  const head = [
    'store',
    'query',
    'GETs',
    'table reads',
    'ms',
    'rounds',
    'seen',
    'goal',
    'warm ms',
    'warm rounds',
    'seen',
    'goal',
    'late ms',
  ];
  const rows = figures.map(({ dataset, query, cold, ...figure }): Cell[] => [
    dataset,
    query,
    cold.objectReads,
    cold.tableReads,
    Math.round(figure.coldMs),
    figure.coldRounds,
    cold.rounds,
    goalRounds(dataset, query),
    Math.round(figure.warmMs),
    figure.warmRounds,
    figure.warm.rounds,
    WARM_GOAL_ROUNDS,
    cold.lateMs,
  ]);
  return formatTable(head, rows);
}

/** CPU columns have milliseconds for a push. Times that do not add up to the latency are waiting. */
export function pushTable(figures: PushFigures): string {
  const head = [
    'pushes',
    'pushes/s',
    'MB/s',
    'goal',
    'p50 ms',
    'p99 ms',
    'goal',
    'store CPU',
    'services CPU',
    'agents CPU',
    'busiest thread',
    'share',
    'late ms',
    'bound',
  ];
  const rows = figures.map(({ name, goal, ...figure }): Cell[] => [
    name,
    Math.round(figure.pushesPerS),
    figure.mbPerS,
    goal,
    Math.round(figure.p50Ms),
    Math.round(figure.p99Ms),
    PUSH_P99_GOAL_MS,
    figure.storeCpuMs,
    figure.servicesCpuMs,
    figure.agentsCpuMs,
    figure.busiestThread,
    figure.busiestShare,
    figure.lateMs,
    figure.bound,
  ]);
  return formatTable(head, rows);
}
