/**
 * Measures the stages of a push and a query by themselves. The best of some rounds is shown: on a machine that others
 * use too, it is the figure that says most about the code.
 */
import { loadStages, type StageCase } from './stages/index.ts';
import { type Cell, formatTable } from './table.ts';

export interface StageFigures {
  readonly stage: string;
  readonly name: string;
  /** Of one run, the best round. */
  readonly ms: number;
  /** 1 MB is 1,000,000 bytes. */
  readonly mbPerSecond?: number;
  readonly linesPerSecond?: number;
  readonly samplesPerSecond?: number;
}

const WARM_UP_MS = 150;
const ROUNDS = 5;
const ROUND_MS = 60;
const HEAD = ['stage', 'case', 'ms', 'MB/s', 'lines/s', 'samples/s'];

/** @param pattern only cases whose `stage: name` contains it */
export async function runStages(pattern: string): Promise<StageFigures[]> {
  const figures: StageFigures[] = [];
  for await (const { name: stage, cases } of loadStages()) {
    for (const one of cases) {
      if (!`${stage}: ${one.name}`.includes(pattern)) continue;
      figures.push({ stage, name: one.name, ...perSecond(one, await bestMs(one)) });
      process.stderr.write('.');
    }
  }
  process.stderr.write('\n');
  return figures;
}

export function stageTable(figures: readonly StageFigures[]): string {
  const rows = figures.map(({ stage, name, ms, mbPerSecond, linesPerSecond, samplesPerSecond }): Cell[] => [
    stage,
    name,
    ms,
    mbPerSecond,
    linesPerSecond,
    samplesPerSecond,
  ]);
  return formatTable(HEAD, rows);
}

function perSecond({ bytes, lines, samples }: StageCase, ms: number) {
  const rate = (count: number | undefined) => (count === undefined ? undefined : (count * 1000) / ms);
  return {
    ms,
    mbPerSecond: rate(bytes === undefined ? undefined : bytes / 1e6),
    linesPerSecond: rate(lines),
    samplesPerSecond: rate(samples),
  };
}

async function bestMs(one: StageCase): Promise<number> {
  await roundMs(one, WARM_UP_MS);
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) best = Math.min(best, await roundMs(one, ROUND_MS));
  return best;
}

/** Time of one run, averaged over as many as it takes. */
async function roundMs(one: StageCase, leastMs: number): Promise<number> {
  const startMs = performance.now();
  for (let runs = 1; ; runs++) {
    await one.run();
    const ms = performance.now() - startMs;
    if (ms >= leastMs) return ms / runs;
  }
}
