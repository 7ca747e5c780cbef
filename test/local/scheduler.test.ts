/** The timer of one machine, on a clock that a test moves. */
import { expect, test } from '@jest/globals';
import { startScheduler } from '../../local/scheduler.ts';
import { MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { createLog } from '../../shared/base/runtime/log.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { type Job, type JobOutcome, Jobs, type RunBounds } from '../../shared/upkeep/maintenance/jobs.ts';

const RUN_MS = 7 * MS_PER_MINUTE;
const OUTCOME: JobOutcome = { done: true, succeeded: 1, figures: { days: 2 }, failures: [] };

interface Given {
  /** Outcomes of the runs in order. The last one repeats. */
  readonly outcomes?: readonly (JobOutcome | Error)[];
  /** Each run waits for it. */
  readonly gate?: (bounds: RunBounds) => Promise<void>;
  readonly isRequested?: () => Promise<boolean>;
}

function started({ outcomes = [OUTCOME], gate, isRequested }: Given = {}) {
  const clock = virtualClock(0);
  const ids = seededIds(1);
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const startedMs: number[] = [];
  const bounds: RunBounds[] = [];
  const askedMs: number[] = [];
  const job: Job = {
    name: 'job',
    everyMs: MS_PER_MINUTE,
    async run(given) {
      startedMs.push(clock.nowMs());
      bounds.push(given);
      await gate?.(given);
      const outcome = outcomes[Math.min(startedMs.length, outcomes.length) - 1];
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
  const asked: Job = {
    name: 'asked',
    everyMs: 1000 * MS_PER_MINUTE,
    run: async () => {
      askedMs.push(clock.nowMs());
      return OUTCOME;
    },
    isRequested,
  };
  const lines: string[] = [];
  const log = createLog('debug', { write: line => void lines.push(line) });
  const jobs = new Jobs({ jobs: [job, asked], catalog, clock });
  const scheduler = startScheduler({ jobs, clock, log, runMs: RUN_MS });
  const logged = () => lines.map(line => JSON.parse(line));
  return { clock, scheduler, startedMs, bounds, askedMs, logged };
}

test('calls a job at its interval, with the time that it may take', async () => {
  const { clock, scheduler, startedMs, bounds, askedMs } = started();
  await clock.advance(3.5 * MS_PER_MINUTE);
  expect(startedMs).toEqual([1, 2, 3].map(minute => minute * MS_PER_MINUTE));
  expect(bounds[0].untilMs).toBe(MS_PER_MINUTE + RUN_MS);
  expect(askedMs).toEqual([]);
  await scheduler.stop();
});

test('remaining work of a run continues soon, failed work at the next interval', async () => {
  const outcomes = [
    { ...OUTCOME, done: false },
    { ...OUTCOME, done: false, failures: ['broken'] },
    new Error('no store'),
    OUTCOME,
  ];
  const { clock, scheduler, startedMs, logged } = started({ outcomes });
  await clock.advance(3.5 * MS_PER_MINUTE);
  expect(startedMs).toEqual([60_000, 61_000, 121_000, 181_000]);
  const warnings = logged().filter(({ level }) => level === 'warn');
  expect(warnings.map(({ failure, msg }) => [failure, msg])).toEqual([
    ['broken', 'a scheduled job failed in part'],
    ['no store', 'a scheduled job failed'],
  ]);
  await scheduler.stop();
});

test('a kick runs a job now, and restarts the interval', async () => {
  const { clock, scheduler, startedMs } = started();
  await clock.advance(10_000);
  scheduler.kick('job');
  await clock.advance(0);
  expect(startedMs).toEqual([10_000]);
  await clock.advance(MS_PER_MINUTE);
  expect(startedMs).toEqual([10_000, 70_000]);
  await scheduler.stop();
});

test('kicks during a run cause one more run, and never two concurrent ones', async () => {
  let running = 0;
  let open: () => void = () => {};
  const gate = async () => {
    expect(++running).toBe(1);
    await new Promise<void>(resolve => {
      open = resolve;
    });
    running--;
  };
  const { clock, scheduler, startedMs } = started({ gate });
  scheduler.kick('job');
  await clock.advance(0);
  expect(startedMs).toHaveLength(1);
  for (let i = 0; i < 3; i++) scheduler.kick('job');
  await clock.advance(5 * MS_PER_MINUTE);
  expect(startedMs).toHaveLength(1);
  open();
  await clock.advance(0);
  expect(startedMs).toHaveLength(2);
  open();
  await clock.advance(30_000);
  expect(startedMs).toHaveLength(2);
  await scheduler.stop();
});

test('a tick runs requested work of another job', async () => {
  const { clock, scheduler, askedMs } = started({ isRequested: async () => true });
  await clock.advance(1.5 * MS_PER_MINUTE);
  expect(askedMs).toEqual([MS_PER_MINUTE]);
  await scheduler.stop();
});

test('stop aborts the run, waits for it, and nothing runs after it', async () => {
  let ended = false;
  const gate = async ({ signal }: RunBounds) => {
    await new Promise(resolve => signal.addEventListener('abort', resolve));
    ended = true;
  };
  const { clock, scheduler, startedMs } = started({ gate });
  await clock.advance(1.5 * MS_PER_MINUTE);
  await scheduler.stop();
  expect(ended).toBe(true);
  scheduler.kick('job');
  await clock.advance(10 * MS_PER_MINUTE);
  expect(startedMs).toEqual([MS_PER_MINUTE]);
  expect(clock.sleepers).toBe(0);
});
