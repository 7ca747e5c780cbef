/**
 * Each entry once in each tail: for any pushing process, any start of a tail, any calls of the dispatcher,
 * and any merges in between. Random orders over virtual time; the seed is in the message of a failure.
 */
import { expect, test } from '@jest/globals';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { runTails } from '../../shared/read/tail/run-tails.ts';
import { drive, linesOf, processOver, requestFor, sharedParts, TENANT } from './support.ts';

const SEEDS = Number(process.env.LOGBOOM_TAIL_SEEDS ?? 4);
const STEPS = 70;
const RUN = { idleMs: 3_000, pollMs: 200 };

async function simulate(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const clock = virtualClock();
  const shared = sharedParts(clock);
  // Small and large chunks: inline chunks disappear with their records, the others stay for a grace period.
  const pushers = [0, 1, 2].map(i =>
    processOver(shared, { seed: seed * 10 + i, inlineMaxBytes: i === 1 ? 0 : 4096 }),
  );
  const dispatcher = () => processOver(shared, { seed: seed * 10 + 5 + pick(1000) });
  const compactor = processOver(shared, { seed: seed * 10 + 4 });
  const pushed: string[] = [];
  const tails: { readonly id: string; readonly messages: readonly string[] }[] = [];
  const running: Promise<unknown>[] = [];

  const actions: readonly (() => Promise<unknown>)[] = [
    ...Array.from({ length: 5 }, () => () => {
      const lines = Array.from(
        { length: 1 + pick(3) },
        () => `line ${pushed.length + Math.floor(random() * 1e9)}`,
      );
      pushed.push(...lines);
      return pushers[pick(3)].push(lines, { agoMs: pick(3) === 0 ? pick(600_000) : pick(50) });
    }),
    // Concurrent calls of the dispatcher: the lease lets one of them run.
    () => {
      const { parts } = dispatcher();
      running.push(runTails(TENANT, parts, { ...RUN, untilMs: clock.nowMs() + 5_000 + pick(20_000) }));
      return Promise.resolve();
    },
    async () => {
      if (tails.length >= 4) return;
      const id = `c${tails.length}`;
      const connection = shared.connections.open(id);
      tails.push({ id, messages: connection.messages });
      expect(await pushers[pick(3)].service.open(requestFor(clock), id)).toBeUndefined();
    },
    () => compactor.compact(),
    () => clock.sleep(pick(400)),
    () => clock.sleep(pick(4_000)),
    () => clock.sleep(pick(20_000)),
  ];
  for (let step = 0; step < STEPS; step++) {
    const action = actions[pick(actions.length)]();
    // Some continue in parallel with the next action.
    if (pick(3) === 0) running.push(action);
    else await drive(clock, action);
  }
  await drive(clock, Promise.all(running));
  // The schedule: what no call came for.
  for (let i = 0; i < 3; i++) {
    const { parts, failures } = dispatcher();
    await drive(clock, runTails(TENANT, parts, { ...RUN, untilMs: clock.nowMs() + 30_000 }));
    expect(failures).toEqual([]);
    await clock.advance(20_000);
  }
  for (const { id, messages } of tails) {
    expect([seed, id, linesOf(messages).sort()]).toEqual([seed, id, pushed.slice().sort()]);
  }
}

for (let seed = 1; seed <= SEEDS; seed++) {
  test(`seed ${seed}`, () => simulate(seed));
}
