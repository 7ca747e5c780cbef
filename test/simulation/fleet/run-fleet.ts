/**
 * `npm run simulate -- fleet`: what queries and compaction of large tenants take, by the program's own planner, fan-out and retries.
 *
 *     npm run simulate -- fleet                      1, 10 and 100 TB a day; 1 hour, 24 hours and 7 days
 *     npm run simulate -- fleet --tb 10 --hours 24   these alone; lists are separated by commas
 *     npm run simulate -- fleet --only needle        these queries alone, separated by commas
 *     npm run simulate -- fleet --workers 500        calls of workers that the account allows at once, default 1,000
 *     npm run simulate -- fleet --slots 500          calls at once of one query, default 200
 *     npm run simulate -- fleet --warm 500           workers that are there already, default 0
 *     npm run simulate -- fleet --runs 20            runs of each query, each with other dice, default 5
 *     npm run simulate -- fleet --seed 4711          the first seed
 *     npm run simulate -- fleet --throttled 0.01     part of the requests that S3 answers 503 and DynamoDB 400, default 0
 *     npm run simulate -- fleet --compaction         compaction alone
 *     npm run simulate -- fleet --functions 1,100    functions that merge at once, default 1, 32 and 300
 *     npm run simulate -- fleet --model              the queries of the cost model, as bench/model/simulated.ts has them
 *     npm run simulate -- fleet --minutes 90         virtual time of compaction, default 30
 *     npm run simulate -- fleet --lose 10            the function that holds the day is lost every 10 minutes, default never
 *
 * Where the end is not "answered", figures are those up to the end. `covered` is the part of the raw lines that workers looked at.
 */
import { parseArgs } from 'node:util';
import { askFleet, type FleetAnswer } from './ask-fleet.ts';
import { compactFleet } from './compact-fleet.ts';
import { QUESTIONS } from './figures.ts';
import { simulatedModule } from './model-points.ts';
import { quantile } from './random-times.ts';

const TB = 1e12;
const PUSH_BYTES = 8e6;

const { values } = parseArgs({
  options: {
    tb: { type: 'string', default: '1,10,100' },
    hours: { type: 'string', default: '1,24,168' },
    only: { type: 'string' },
    workers: { type: 'string', default: '1000' },
    slots: { type: 'string', default: '200' },
    warm: { type: 'string' },
    runs: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    throttled: { type: 'string', default: '0' },
    compaction: { type: 'boolean', default: false },
    model: { type: 'boolean', default: false },
    functions: { type: 'string', default: '1,32,300' },
    minutes: { type: 'string', default: '30' },
    lose: { type: 'string' },
  },
});

function numbersOf(text: string, name: string): number[] {
  const numbers = text.split(',').map(Number);
  if (numbers.some(number => !(number > 0))) {
    throw new RangeError(`--${name} needs positive numbers separated by commas, not ${text}`);
  }
  return numbers;
}

const print = (line: string) => process.stdout.write(`${line}\n`);
const [runs] = numbersOf(values.runs, 'runs');
const [concurrency] = numbersOf(values.workers, 'workers');
const [slots] = numbersOf(values.slots, 'slots');
const [warmWorkers] = values.warm === undefined ? [0] : numbersOf(values.warm, 'warm');
const [seed] = numbersOf(values.seed, 'seed');
const throttledShare = Number(values.throttled);
if (!(throttledShare >= 0 && throttledShare < 1)) {
  throw new RangeError(`--throttled needs a number from 0 to 1, not ${values.throttled}`);
}
const [compactedMinutes] = numbersOf(values.minutes, 'minutes');
const sizes = numbersOf(values.tb, 'tb');
const [lostMinutes] = values.lose === undefined ? [undefined] : numbersOf(values.lose, 'lose');
const holderLostEveryMs = lostMinutes === undefined ? undefined : lostMinutes * 60_000;

if (values.model) {
  print(await simulatedModule());
  process.exit();
}
const names = values.only?.split(',');
const questions = QUESTIONS.filter(({ name }) => names === undefined || names.includes(name));
if (questions.length === 0) throw new RangeError(`there is no query named ${values.only}`);
if (!values.compaction) {
  print(
    '| TB a day | hours | query | end | p50 s | p95 s | tasks | requests | GB looked at | dollars | of workers | of reads | heap MB |',
  );
  print('|---|---|---|---|---|---|---|---|---|---|---|---|---|');
  for (const tb of sizes) {
    for (const rangeHours of numbersOf(values.hours, 'hours')) {
      for (const question of questions) {
        const answers: FleetAnswer[] = [];
        for (let run = 0; run < runs; run++) {
          const asked = {
            seed: seed + run,
            bytesPerDay: tb * TB,
            rangeHours,
            question,
            concurrency,
            slots,
            maxParallelism: slots,
            throttledShare,
            warmWorkers,
          };
          answers.push(await askFleet(asked));
        }
        const middle = (of: (answer: FleetAnswer) => number) => quantile(answers.map(of), 0.5);
        const seconds = answers.map(({ ms }) => ms / 1000);
        print(
          `| ${[
            tb,
            rangeHours,
            question.name,
            [...new Set(answers.map(({ end }) => end))].join(', '),
            quantile(seconds, 0.5).toFixed(1),
            quantile(seconds, 0.95).toFixed(1),
            middle(({ tasks }) => tasks),
            middle(({ requests }) => requests),
            (middle(({ lineBytes }) => lineBytes) / 1e9).toFixed(1),
            middle(({ dollars }) => dollars).toFixed(4),
            middle(({ workerDollars }) => workerDollars).toFixed(4),
            middle(({ getDollars }) => getDollars).toFixed(4),
            Math.round(middle(({ heapBytes }) => heapBytes) / 1e6),
          ].join(' | ')} |`,
        );
      }
    }
  }
  print('');
}
if (names !== undefined) process.exit();

print(
  `| TB a day | functions allowed | at once | pushed GB in ${compactedMinutes} minutes | merged GB | merges | parts | swaps | function s a GB | backlog s |`,
);
print('|---|---|---|---|---|---|---|---|---|---|');
for (const tb of sizes) {
  for (const functions of numbersOf(values.functions, 'functions')) {
    const asked = {
      bytesPerDay: tb * TB,
      minutes: compactedMinutes,
      pushBytes: PUSH_BYTES,
      functions,
      holderLostEveryMs,
    };
    const { pushedBytes, mergedBytes, merges, parts, swaps, functionMs, atOnce, backlogMs } =
      await compactFleet(asked);
    const gb = (bytes: number) => (bytes / 1e9).toFixed(0);
    const seconds = (backlogMs / 1000).toFixed(0);
    const row = [
      tb,
      functions,
      Math.max(1, atOnce),
      gb(pushedBytes),
      gb(mergedBytes),
      merges,
      parts,
      swaps,
      (functionMs / 1000 / (mergedBytes / 1e9)).toFixed(0),
      seconds,
    ];
    print(`| ${row.join(' | ')} |`);
  }
}
