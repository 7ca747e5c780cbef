/**
 * Ticks that come twice, late or not at all, receivers that are away, and a kill at every step: the same alerts with the
 * same beginnings and ends reach their receiver, and the same samples theirs, each with one value.
 */
import { describe, expect, test } from '@jest/globals';
import { MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import {
  GROUP,
  KilledError,
  type Logs,
  type Meddle,
  type RuleProcess,
  type RuleWorld,
  ruleWorld,
} from './support/rule-world.ts';

const between = (first: number, last: number) => (minute: number) => minute >= first && minute <= last;
/** `b` is never long enough there to fire; `c` twice. */
const LOGS: Logs = {
  a: between(2, 6),
  b: between(3, 4),
  c: minute => between(1, 4)(minute) || between(7, 10)(minute),
};
const MINUTES = 14;
const LOOKS_A_MINUTE = 3;
/** Two alerts that fire and end, in as few steps as that takes. */
const SHORT = { logs: { a: between(1, 4), b: between(2, 5) }, minutes: 8, looksAMinute: 2 };

interface Plan {
  readonly meddle?: Meddle;
  /** Called before each check. */
  readonly before?: (world: RuleWorld, minute: number) => void;
  /** Number of processes that tick at the same time. */
  readonly processes?: number;
  readonly skips?: (look: number) => boolean;
  readonly logs?: Logs;
  readonly minutes?: number;
  readonly looksAMinute?: number;
}

/** A run of some minutes. After a killed process another one follows, without faults. */
async function live(plan: Plan = {}) {
  const { meddle, before, processes = 1, skips = () => false, logs = LOGS } = plan;
  const { minutes = MINUTES, looksAMinute = LOOKS_A_MINUTE } = plan;
  const world = ruleWorld(logs);
  await world.groups.set('acme', 'space', GROUP, 0);
  let wasKilled = false;
  const kill: Meddle = (call, moment) => {
    if (wasKilled) throw new KilledError();
    try {
      meddle?.(call, moment);
    } catch (error) {
      wasKilled = error instanceof KilledError;
      throw error;
    }
  };
  let alive: RuleProcess[] = Array.from({ length: processes }, () => world.process(kill));
  for (let look = 0; look < minutes * looksAMinute; look++) {
    before?.(world, Math.floor(look / looksAMinute));
    // The last minute brings all to an end.
    const isSkipped = skips(look) && look < (minutes - 1) * looksAMinute;
    if (!isSkipped) await Promise.all(alive.map(process => process.tick().catch(() => undefined)));
    if (wasKilled) {
      wasKilled = false;
      alive = alive.map(() => world.process());
    }
    world.advance(MS_PER_MINUTE / looksAMinute);
  }
  return world;
}

function outcome({ receivers }: RuleWorld) {
  return {
    alerts: receivers.alerts(),
    samples: [...receivers.samples.keys()].sort(),
    complaints: receivers.complaints,
  };
}

const undisturbed = live().then(outcome);

test('undisturbed, three alerts fire and end, and series begin and end with their logs', async () => {
  const { alerts, samples, complaints } = await undisturbed;
  expect(complaints).toEqual([]);
  expect(Object.keys(alerts).map(key => key.replace(/ since.*/, ''))).toEqual([
    'Errors/a',
    'Errors/c',
    'Errors/c',
  ]);
  expect(Object.values(alerts)).not.toContain('open');
  expect(samples.filter(key => key.includes('__name__=lines')).length).toBeGreaterThan(15);
  const world = await live();
  const ends = [...world.receivers.samples].filter(([, value]) => value === 'stale').map(([key]) => key);
  // Lines of a, b and twice c; the states of their alerts, which for some were two; and how long they had been active.
  expect(ends.filter(key => key.includes('__name__=lines'))).toHaveLength(4);
  expect(ends.filter(key => key.includes('ALERTS_FOR_STATE'))).toHaveLength(4);
  expect(ends.filter(key => key.includes('alertstate=pending'))).toHaveLength(4);
  expect(ends.filter(key => key.includes('alertstate=firing'))).toHaveLength(3);
});

describe('a kill', () => {
  /** Kills before and after a read have the same effect. */
  const isStep = (moment: 'before' | 'after', call: string, when: string) =>
    when === moment && (moment === 'before' || /^(put|delete|transact|post)/.test(call));

  test.each(['before', 'after'] as const)(
    '%s any call to the outside loses and doubles nothing',
    async moment => {
      let steps = 0;
      const count: Meddle = (call, when) => {
        if (isStep(moment, call, when)) steps++;
      };
      const wanted = outcome(await live({ ...SHORT, meddle: count }));
      expect(wanted.complaints).toEqual([]);
      expect(Object.values(wanted.alerts)).toHaveLength(2);
      expect(steps).toBeGreaterThan(30);
      for (let at = 1; at <= steps; at++) {
        let step = 0;
        const meddle: Meddle = (call, when) => {
          if (isStep(moment, call, when) && ++step === at) throw new KilledError();
        };
        const found = outcome(await live({ ...SHORT, meddle }));
        expect({ at, ...found }).toEqual({ at, ...wanted });
      }
    },
  );
});

test('concurrent ticks of several processes count as one', async () => {
  expect(outcome(await live({ processes: 3 }))).toEqual(await undisturbed);
});

test('ticks that are missed are caught up', async () => {
  for (let seed = 1; seed <= 15; seed++) {
    const random = seededRandom(seed);
    const gap = Math.floor(random() * 9 * LOOKS_A_MINUTE);
    const start = Math.floor(random() * 12 * LOOKS_A_MINUTE);
    const skips = (look: number) => look > 0 && look >= start && look < start + gap;
    const { alerts, samples, complaints } = outcome(await live({ skips }));
    const wanted = await undisturbed;
    expect({ seed, alerts, samples, complaints }).toEqual({ seed, ...wanted });
  }
});

test.each(['alerts', 'samples'] as const)('a receiver of %s that is away gets all of it later', async who => {
  const before = ({ receivers: { away } }: RuleWorld, minute: number) => {
    if (minute >= 3 && minute < 11) away.add(who);
    else away.delete(who);
  };
  expect(outcome(await live({ before }))).toEqual(await undisturbed);
});

test('evaluates the same with faults and kills in any order', async () => {
  const wanted = await undisturbed;
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed);
    const meddle: Meddle = () => {
      const die = random();
      if (die < 0.002) throw new KilledError();
      if (die < 0.012) throw new Error('a fault');
    };
    const { alerts, samples, complaints } = outcome(
      await live({ meddle, processes: 2, skips: () => random() < 0.3 }),
    );
    expect({ seed, complaints, alerts }).toEqual({
      seed,
      complaints: wanted.complaints,
      alerts: wanted.alerts,
    });
    expect({ seed, samples }).toEqual({ seed, samples: wanted.samples });
  }
});

test('logs with different results at each evaluation cause no endless alert', async () => {
  for (let seed = 1; seed <= 15; seed++) {
    const random = seededRandom(seed);
    const logs: Logs = {
      a: minute => minute < 10 && random() < 0.8,
      b: minute => minute < 10 && random() < 0.5,
    };
    const meddle: Meddle = () => {
      if (random() < 0.004) throw new KilledError();
    };
    const { alerts, complaints } = outcome(await live({ logs, meddle, processes: 2 }));
    expect({ seed, complaints, open: Object.values(alerts).filter(end => end === 'open') }).toEqual({
      seed,
      complaints: [],
      open: [],
    });
  }
});

test('reports instants that are no longer caught up', async () => {
  const world = ruleWorld(LOGS);
  await world.groups.set('acme', 'space', GROUP, 0);
  const process = world.process();
  await process.tick();
  world.advance(30 * MS_PER_MINUTE);
  const { figures, failures } = await process.tick();
  expect(figures).toMatchObject({ groups: 1, instants: 10, missed: 20 });
  expect(failures).toEqual(['rules acme/space/g: skipped 20 missed evaluations']);
  expect(process.figures.missed).toBe(20);
  const { record } = await world.states.load({ tenant: 'acme', namespace: 'space', name: 'g' });
  expect(record.missed).toBe(20);
});

test('a deleted group ends its series, and its state is deleted', async () => {
  const world = ruleWorld({ a: () => true });
  await world.groups.set('acme', 'space', GROUP, 0);
  const process = world.process();
  await process.tick();
  const key = { tenant: 'acme', namespace: 'space', name: 'g' };
  expect((await world.states.load(key)).version).toBeGreaterThanOrEqual(0);
  await world.groups.delete('acme', 'space', 'g');
  world.advance(MS_PER_MINUTE);
  expect((await process.tick()).figures.retired).toBe(1);
  expect((await world.states.load(key)).version).toBe(-1);
  const ends = [...world.receivers.samples].filter(([, value]) => value === 'stale').map(([key]) => key);
  expect(ends.map(key => /__name__=(\w+)/.exec(key)?.[1]).sort()).toEqual([
    'ALERTS',
    'ALERTS_FOR_STATE',
    'lines',
  ]);
});
