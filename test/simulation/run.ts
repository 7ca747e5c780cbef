/**
 * `npm run simulate`: many runs, or one again.
 *
 *     npm run simulate -- --minutes 30            new seeds until the time is up
 *     npm run simulate -- --runs 1000 --from 5000 these seeds
 *     npm run simulate -- --seed 4711 --trace     one seed again, with the calls of its ports
 *     npm run simulate -- --removal               with delete requests and retention; by default every second run is
 *     npm run simulate -- --crews                 processes merge for the one that holds a day; by default two runs of four
 *     npm run simulate -- --bug "NAME"            with a planted bug (tests only; any of test/simulation/planted)
 *     npm run simulate -- --write-page            writes docs/dev/invariants.md
 *
 * Ends with status 1 where a run failed; the message has its seed.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { invariantsPage } from './invariants-page.ts';
import type { Bug } from './planted/bug.ts';
import { BUGS } from './planted/index.ts';
import { newSeeds, SEEDS } from './seeds.ts';
import { FailedRunError, simulate } from './simulate.ts';

const DEFAULT_MINUTES = 1;
/** Failures shown before the runs end. */
const MAX_FAILURES = 5;
const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    runs: { type: 'string' },
    from: { type: 'string' },
    seed: { type: 'string' },
    trace: { type: 'boolean' },
    removal: { type: 'boolean' },
    crews: { type: 'boolean' },
    bug: { type: 'string' },
    'write-page': { type: 'boolean' },
  },
});

function numberOf(text: string, name: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number < 0) throw new RangeError(`--${name} is not a number: ${text}`);
  return number;
}

function bugOf(name: string | undefined): Bug | undefined {
  if (name === undefined) return undefined;
  const bug = BUGS.find(one => one.name === name);
  if (bug === undefined)
    throw new RangeError(`no bug "${name}"; there are: ${BUGS.map(one => one.name).join(', ')}`);
  return bug;
}

function report(error: unknown): void {
  if (!(error instanceof FailedRunError)) throw error;
  if (values.trace) process.stdout.write(`${error.trace.join('\n')}\n`);
  process.stdout.write(`FAILED  ${error.message}\n`);
  if (error.cause instanceof Error) process.stdout.write(`${error.cause.stack}\n`);
  process.exitCode = 1;
}

async function runOne(seed: number, bug: Bug | undefined): Promise<void> {
  try {
    const { lines, ...result } = await simulate({
      seed,
      bug,
      keepTrace: values.trace,
      removes: values.removal,
      crews: values.crews,
    });
    if (values.trace) process.stdout.write(`${lines.join('\n')}\n`);
    process.stdout.write(`seed ${seed} passed: ${JSON.stringify(result)}\n`);
  } catch (error) {
    report(error);
  }
}

/** Every second run, unless all are requested, or a bug decides. */
function removes(run: number): boolean {
  return values.removal === true || (values.bug === undefined && run % 2 === 1);
}

function crews(run: number): boolean {
  return values.crews === true || (values.bug === undefined && run % 4 >= 2);
}

async function runMany(bug: Bug | undefined): Promise<void> {
  const runs = values.runs === undefined ? Infinity : numberOf(values.runs, 'runs');
  const minutes = numberOf(values.minutes ?? String(DEFAULT_MINUTES), 'minutes');
  const endMs = runs === Infinity ? Date.now() + minutes * 60_000 : Infinity;
  const from = values.from === undefined ? newSeeds(1)[0] : numberOf(values.from, 'from');
  let [done, failed, calls, shownMs] = [0, 0, 0, Date.now()];
  while (done < runs && Date.now() < endMs && failed < MAX_FAILURES) {
    try {
      const seed = (from + done) % SEEDS;
      calls += (await simulate({ seed, bug, removes: removes(done), crews: crews(done) })).calls;
    } catch (error) {
      report(error);
      failed++;
    }
    done++;
    if (Date.now() - shownMs < PROGRESS_MS) continue;
    process.stderr.write(`${done} runs from seed ${from}, ${failed} failed\n`);
    shownMs = Date.now();
  }
  process.stdout.write(`${done} runs from seed ${from}, ${calls} calls of ports, ${failed} failed\n`);
}

if (values['write-page'])
  writeFileSync(join(import.meta.dirname, '../../docs/dev/invariants.md'), invariantsPage());
else if (values.seed !== undefined) await runOne(numberOf(values.seed, 'seed'), bugOf(values.bug));
else await runMany(bugOf(values.bug));
