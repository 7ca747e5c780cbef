/** Background work that fails: the log names it, it restarts, and nothing else ends. */
import { expect, test } from '@jest/globals';
import { RESTART_PAUSE_MS, runInBackground } from '../../local/background.ts';
import { startScheduler } from '../../local/scheduler.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';

function started(outcomes: readonly (Error | 'ends' | 'goes on')[]) {
  const clock = virtualClock(0);
  const stopping = new AbortController();
  const logged: { fields: object; message: string }[] = [];
  const log = {
    error: (fields: object, message: string) => void logged.push({ fields, message }),
    warn: () => undefined,
    debug: () => undefined,
  };
  const { signal } = stopping;
  let runs = 0;
  const done = runInBackground(
    'ring',
    async () => {
      const outcome = outcomes[Math.min(runs++, outcomes.length - 1)];
      if (outcome instanceof Error) throw outcome;
      if (outcome === 'goes on') await clock.sleep(1_000_000_000, signal);
    },
    { clock, log, signal },
  );
  return { clock, log, logged, done, stop: () => stopping.abort(), runs: () => runs };
}

test('a failure is logged with the name of the component, and the work starts again after a pause', async () => {
  const failure = new Error('no');
  const { clock, logged, done, runs } = started([failure, failure, 'ends']);
  await clock.advance(RESTART_PAUSE_MS - 1);
  expect(runs()).toBe(1);
  expect(logged).toEqual([
    { fields: { component: 'ring', err: failure }, message: 'ring failed; restarting it in 10 s' },
  ]);
  await clock.advance(1);
  expect([runs(), logged.length]).toEqual([2, 2]);
  await clock.advance(RESTART_PAUSE_MS);
  await done;
  expect([runs(), logged.length]).toEqual([3, 2]);
});

test('stopped work logs nothing', async () => {
  const { clock, logged, done, stop } = started(['goes on']);
  await clock.advance(1);
  stop();
  await done;
  expect(logged).toEqual([]);
});

test('a stop during the pause ends it', async () => {
  const { clock, logged, done, stop, runs } = started([new Error('no')]);
  await clock.advance(1);
  stop();
  await done;
  expect([runs(), logged.length]).toEqual([1, 1]);
});

test('a scheduler whose jobs cannot be run names the job, and runs the others', async () => {
  const { clock, log, logged } = started(['ends']);
  const ran: string[] = [];
  const job = (name: string) => ({
    name,
    everyMs: 1_000,
    run: () => Promise.reject(new Error('not called')),
  });
  const scheduler = startScheduler({
    jobs: {
      list: [job('rules'), job('retention')],
      async tick(name) {
        if (name === 'rules') throw new TypeError('undefined is not a function');
        ran.push(name);
        return [{ job: name, done: true, succeeded: 1, figures: {}, failures: [], startedMs: 0, endedMs: 0 }];
      },
    },
    clock,
    log,
    runMs: 1_000,
  });
  await clock.advance(2_500);
  expect(logged.map(({ fields }) => fields)).toEqual([{ component: 'rules', err: expect.any(TypeError) }]);
  expect(ran).toEqual(['retention', 'retention']);
  await scheduler.stop();
});
