/**
 * Death at every call of a port, before and after its effect: one at a time, without chance. A push and a
 * merge run through all of their calls; another process then continues, and every result must be right.
 */
import { describe, expect, test } from '@jest/globals';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { ORPHAN_AGE_MS } from '../../shared/upkeep/compaction/collector.ts';
import { MERGE_SIZES } from '../../shared/upkeep/compaction/merge-sizes.ts';
import { collectGarbage } from './actors/collect-garbage.ts';
import { mergeDay } from './actors/merge-day.ts';
import { sendPush } from './client.ts';
import { Dice } from './dice.ts';
import { Model, type SimulatedEntry } from './model.ts';
import { Oracle } from './oracle.ts';
import { SimulatedProcess } from './process.ts';
import { askEverything } from './questions.ts';
import { Trace } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';

const DAY = 20_000;
const START_NS = BigInt(DAY) * NS_PER_DAY;
const TENANT = 'red';
const GRACE_MS = 1000;
/** No step here takes as many calls. */
const MAX_CALLS = 60;
const SETTINGS = {
  waitMs: 2,
  maxGroupBytes: 1,
  inlineMaxBytes: 0,
  faults: { delayMs: [1, 1] as const },
  mergeSizes: MERGE_SIZES,
};

function makeWorld(seed: number) {
  const dice = new Dice(seed);
  const time = new VirtualTime((DAY + 2) * 86_400_000, dice.fork());
  const oracle = new Oracle({
    table: memoryTable({ clock: time }),
    store: memoryObjectStore(),
    clock: time,
    leastGraceMs: GRACE_MS,
    leastOrphanAgeMs: ORPHAN_AGE_MS,
  });
  const [trace, model] = [new Trace(), new Model()];
  let started = 0;
  const start = () => {
    const name = `p${started++}`;
    return new SimulatedProcess({
      name,
      time,
      oracle,
      trace,
      dice: dice.fork(),
      settings: SETTINGS,
      skewMs: 0,
      graceMs: GRACE_MS,
    });
  };
  const whole = { startNs: START_NS, endNs: START_NS + 2n * NS_PER_DAY };
  const push = async (process: SimulatedProcess, entries: readonly SimulatedEntry[]): Promise<void> => {
    model.attempt(TENANT, entries);
    await time.run(sendPush(process, { tenant: TENANT, entries }));
    model.acknowledge(TENANT, entries);
  };
  const ask = (process: SimulatedProcess) =>
    time.run(askEverything({ process, model, tenant: TENANT, whole }));
  const step = (actor: typeof mergeDay, process: SimulatedProcess) => {
    const context = {
      process,
      anyProcess: () => process,
      oracle,
      dice: new Dice(1),
      tenants: [TENANT],
      days: [DAY, DAY + 1],
      graceMs: GRACE_MS,
    };
    return time.run(process.request(() => actor.step(context)));
  };
  return { time, oracle, start, push, ask, step };
}

function entry(ns: bigint, line: string, app = 'a'): SimulatedEntry {
  return { labels: { app, pod: '1' }, ns: START_NS + ns, line, metadata: {} };
}

const ENTRIES = [entry(1n, 'one'), entry(2n, 'two', 'b'), entry(NS_PER_DAY + 1n, 'tomorrow')];

/** Kills at call 0, 1, ... until a step gets through alive; how many it took. */
async function atEveryCall(
  when: 'before' | 'after',
  run: (calls: number) => Promise<boolean>,
): Promise<number> {
  for (let calls = 0; calls < MAX_CALLS; calls++) if (await run(calls)) return calls;
  throw new Error(`still killed at call ${MAX_CALLS}, ${when} its effect`);
}

describe.each(['before', 'after'] as const)('killed %s the effect of a call', when => {
  test('a push: nothing acknowledged is lost, and its retry is stored once', async () => {
    const calls = await atEveryCall(when, async at => {
      const world = makeWorld(at);
      const [first, second] = [world.start(), world.start()];
      first.killAtCall(at, when);
      const isAcknowledged = await world.push(first, ENTRIES).then(
        () => true,
        () => false,
      );
      await world.ask(second);
      await world.push(second, ENTRIES);
      expect((await world.ask(second)).size).toBe(ENTRIES.length);
      return isAcknowledged && !first.isDead;
    });
    // Two objects, two items of days, one transaction.
    expect(calls).toBeGreaterThanOrEqual(5);
  });

  test('a merge and the collection after it: every answer stays, and another one finishes the work', async () => {
    const calls = await atEveryCall(when, async at => {
      const world = makeWorld(at);
      const [writer, first, second] = [world.start(), world.start(), world.start()];
      for (let i = 0; i < 4; i++)
        await world.push(writer, [entry(BigInt(i), `line ${i}`), entry(5n, 'again')]);
      const before = await world.ask(second);
      first.killAtCall(at, when);
      const isDone = await world
        .step(mergeDay, first)
        .then(
          () => world.step(collectGarbage, first).then(() => true),
          () => false,
        )
        .catch(() => false);
      expect(await world.ask(second)).toEqual(before);
      // The lease of the dead ends, and so does the grace of what it replaced.
      await world.time.run(world.time.sleep(10_000));
      await world.step(mergeDay, second);
      expect(await world.ask(second)).toEqual(before);
      await world.time.run(world.time.sleep(10_000));
      await world.step(collectGarbage, second);
      expect(await world.ask(world.start())).toEqual(before);
      expect(world.oracle.failure).toBeUndefined();
      return isDone && !first.isDead;
    });
    expect(calls).toBeGreaterThanOrEqual(10);
  });
});
