/**
 * Queries for the cost model (bench/model): requests, calls and seconds by the amount of lines in the range of a query.
 * Workers are warm, as in a store that is used; everything else is as in a run of the fleet.
 */
import type { SimulatedQuery } from '../../../bench/model/model.ts';
import { askFleet, type FleetAnswer } from './ask-fleet.ts';
import { QUESTIONS } from './figures.ts';
import { quantile } from './random-times.ts';

/** GB of lines in the range. */
export const MODEL_GB = [1, 10, 100, 400, 1000] as const;
const RUNS = 3;
const HOURS_OF_DAY = 24;

/** Kind of the model by question of the fleet. */
export const MODEL_KINDS: Readonly<Record<string, string>> = {
  counts: 'count by minute',
  'rare text': 'needle',
  'much to look at': 'JSON filter',
};

/** Medians of some runs. */
export async function modelPoint(kind: string, gb: number, runs = RUNS): Promise<SimulatedQuery> {
  const question = QUESTIONS.find(({ name }) => name === MODEL_KINDS[kind])!;
  const answers: FleetAnswer[] = [];
  for (let seed = 1; seed <= runs; seed++) {
    const bytesPerDay = gb * 1e9 * HOURS_OF_DAY;
    const asked = { seed, bytesPerDay, rangeHours: 1, question, concurrency: 1000, warmWorkers: 1000 };
    const answer = await askFleet(asked);
    if (answer.end !== 'answered') throw new Error(`${kind} over ${gb} GB: ${answer.end}`);
    answers.push(answer);
  }
  const middle = (of: (answer: FleetAnswer) => number) => quantile(answers.map(of), 0.5);
  return {
    gb,
    tasks: middle(({ tasks }) => tasks),
    calls: middle(({ lambda }) => lambda.calls),
    gets: middle(({ gets }) => gets),
    seconds: Math.round(middle(({ ms }) => ms)) / 1000,
    workerSeconds: Math.round(middle(({ lambda }) => lambda.workedMs) / 100) / 10,
  };
}

/** Text of bench/model/simulated.ts. */
export async function simulatedModule(): Promise<string> {
  const rows: string[] = [];
  for (const kind of Object.keys(MODEL_KINDS)) {
    rows.push(`  '${kind}': [`);
    for (const gb of MODEL_GB) {
      const point = Object.entries(await modelPoint(kind, gb)).map(([name, value]) => `${name}: ${value}`);
      rows.push(`    { ${point.join(', ')} },`);
    }
    rows.push('  ],');
  }
  return [
    '/**',
    ' * Queries over these GB of lines, as the simulated fleet answers them. Written by `npm run simulate -- fleet --model`;',
    ' * test/bench/simulated.test.ts compares it.',
    ' */',
    "import type { SimulatedQuery } from './model.ts';",
    '',
    'export const SIMULATED: Readonly<Record<string, readonly SimulatedQuery[]>> = {',
    ...rows,
    '};',
  ].join('\n');
}
