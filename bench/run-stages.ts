/**
 * Measures the stages of a push and a query in isolation. Shows the round with the least CPU, because on a
 * shared machine that says most about the code.
 */
import { loadStages, type StageCase } from './stages/index.ts';
import { type Cell, formatTable } from './table.ts';

interface StageFigures {
  readonly stage: string;
  readonly name: string;
  /** Wall time of one run in the round with the least CPU. */
  readonly ms: number;
  /** CPU time of the process in that run, all threads: the figure to compare on a shared machine. */
  readonly cpuMs: number;
  readonly cpuSecondsPerGb?: number;
  /** MB of 1,000,000 bytes per second. */
  readonly mbPerSecond?: number;
  readonly linesPerSecond?: number;
  readonly samplesPerSecond?: number;
}

const WARM_UP_MS = 150;
const ROUNDS = 5;
const ROUND_MS = 60;
const HEAD = ['stage', 'case', 'ms', 'CPU ms', 'CPU s/GB', 'MB/s', 'lines/s', 'samples/s'];

/** @param pattern only cases whose `stage: name` contains it */
export async function runStages(pattern: string): Promise<StageFigures[]> {
  const figures: StageFigures[] = [];
  for await (const { name: stage, cases } of loadStages()) {
    for (const one of cases) {
      if (!`${stage}: ${one.name}`.includes(pattern)) continue;
      figures.push({ stage, name: one.name, ...perSecond(one, await bestRound(one)) });
      process.stderr.write('.');
    }
  }
  process.stderr.write('\n');
  return figures;
}

export function stageTable(figures: readonly StageFigures[]): string {
  const rows = figures.map((of): Cell[] => [
    of.stage,
    of.name,
    of.ms,
    of.cpuMs,
    of.cpuSecondsPerGb,
    of.mbPerSecond,
    of.linesPerSecond,
    of.samplesPerSecond,
  ]);
  return formatTable(HEAD, rows);
}

interface Round {
  readonly ms: number;
  readonly cpuMs: number;
}

/** Rates per CPU time, so that other processes of the machine do not count. */
function perSecond({ bytes, lines, samples }: StageCase, { ms, cpuMs }: Round) {
  const rate = (count: number | undefined) => (count === undefined ? undefined : (count * 1000) / cpuMs);
  return {
    ms,
    cpuMs,
    cpuSecondsPerGb: bytes === undefined ? undefined : (cpuMs * 1e6) / bytes,
    mbPerSecond: rate(bytes === undefined ? undefined : bytes / 1e6),
    linesPerSecond: rate(lines),
    samplesPerSecond: rate(samples),
  };
}

async function bestRound(one: StageCase): Promise<Round> {
  let best = await roundOf(one, WARM_UP_MS);
  for (let i = 0; i < ROUNDS; i++) {
    const round = await roundOf(one, ROUND_MS);
    if (i === 0 || round.cpuMs < best.cpuMs) best = round;
  }
  return best;
}

/** Times of one run, averaged over as many runs as needed. */
async function roundOf(one: StageCase, leastMs: number): Promise<Round> {
  const before = process.cpuUsage();
  const startMs = performance.now();
  for (let runs = 1; ; runs++) {
    await one.run();
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1000;
    const ms = performance.now() - startMs;
    if (cpuMs >= leastMs) return { ms: ms / runs, cpuMs: cpuMs / runs };
  }
}
