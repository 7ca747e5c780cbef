/**
 * Tails whose table fails, before or after the effect, and whose dispatcher is killed or never called. Every
 * acknowledged entry is shown: once on one machine; in an account at most once more for each dispatcher that
 * died. Random orders over virtual time; the seed is in the message of a failure.
 */
import { expect, test } from '@jest/globals';
import { faultInjector } from '../../shared/base/ports/faulty/faults.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import type { MemoryConnection } from '../../shared/base/ports/memory/connections.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { FELL_BEHIND } from '../../shared/read/tail/reasons.ts';
import { runTails } from '../../shared/read/tail/run-tails.ts';
import { TailServer } from '../../shared/read/tail/tail-server.ts';
import { wiredTable } from '../simulation/wire.ts';
import { drive, linesOf, processOver, requestFor, type Shared, sharedParts, TENANT } from './support.ts';

const SEEDS = Number(process.env.LOGBOOM_TAIL_SEEDS ?? 3);
const STEPS = 60;
const MOST_TAILS = 3;
const FAULTS = { errorBefore: 0.03, errorAfter: 0.03 };
const RUN = { idleMs: 3_000, pollMs: 200 };

/** A process whose table fails sometimes, and which can die: then none of its calls is answered any more. */
function mortalParts(shared: Shared, seed: number) {
  let isDead = false;
  const injector = faultInjector({ seed, clock: shared.clock, ...FAULTS });
  const unlessDead = async <T>(work: () => Promise<T>): Promise<T> => {
    const result = isDead ? undefined : await work();
    return isDead ? new Promise<T>(() => undefined) : result!;
  };
  const table = wiredTable(shared.table, (operation, target, effect) =>
    unlessDead(() => injector.call(operation, target, effect)),
  );
  const { connections } = shared;
  return {
    table,
    connections: {
      ...connections,
      post: (id: string, message: Uint8Array) => unlessDead(() => connections.post(id, message)),
    },
    die: () => {
      isDead = true;
    },
    heal: () => {
      injector.faults.enabled = false;
    },
  };
}

interface History {
  readonly random: () => number;
  readonly acknowledged: string[];
  /** They may be stored or not. */
  readonly failed: string[];
  readonly tails: { readonly id: string; readonly connection: MemoryConnection }[];
}

function newHistory(seed: number): History {
  return { random: seededRandom(seed), acknowledged: [], failed: [], tails: [] };
}

type Process = Pick<ReturnType<typeof processOver>, 'push' | 'service'>;

async function pushSome(history: History, process: Process): Promise<void> {
  const { random, acknowledged, failed } = history;
  const count = 1 + Math.floor(random() * 3);
  const lines = Array.from({ length: count }, () => `line ${Math.floor(random() * 1e12)}`);
  await process.push(lines).then(
    () => acknowledged.push(...lines),
    () => failed.push(...lines),
  );
}

/** A client whose tail could not be opened disconnects. */
async function openOne(history: History, shared: Shared, process: Process): Promise<boolean> {
  const id = `c${Math.floor(history.random() * 1e12)}`;
  const connection = shared.connections.open(id);
  const refusal = await process.service.open(requestFor(shared.clock), id).catch(() => 'failed');
  if (refusal === undefined) history.tails.push({ id, connection });
  else shared.connections.leave(id);
  return refusal === undefined;
}

/** @param most how often a line may be shown */
function check(seed: number, { acknowledged, failed, tails }: History, most: number): void {
  expect(acknowledged.length).toBeGreaterThan(0);
  for (const { id, connection } of tails) {
    const shown = new Map<string, number>();
    for (const line of linesOf(connection.messages)) shown.set(line, (shown.get(line) ?? 0) + 1);
    const often = [...shown].filter(([, times]) => times > most);
    const unknown = [...shown.keys()].filter(line => !acknowledged.includes(line) && !failed.includes(line));
    // One that was ended with a reason knows that it misses something.
    const missing = connection.closed === undefined ? acknowledged.filter(line => !shown.has(line)) : [];
    const reasons = [undefined, FELL_BEHIND];
    expect({ seed, id, often, unknown, missing }).toEqual({ seed, id, often: [], unknown: [], missing: [] });
    expect(reasons).toContain(connection.closed?.reason);
  }
}

async function inAnAccount(seed: number): Promise<number> {
  const history = newHistory(seed);
  const pick = (count: number) => Math.floor(history.random() * count);
  const clock = virtualClock();
  const shared = sharedParts(clock);
  const pushers = [0, 1].map(i => {
    const { table } = mortalParts(shared, seed * 100 + i);
    return processOver(shared, { seed: seed * 100 + i, table });
  });
  let dead = 0;
  const running: Promise<unknown>[] = [];
  const dispatch = (): Promise<void> => {
    const parts = mortalParts(shared, seed * 100 + 10 + pick(1e6));
    const process = processOver(shared, { seed: seed * 100 + 10 + pick(1e6), ...parts });
    const options = { ...RUN, untilMs: clock.nowMs() + 5_000 + pick(15_000) };
    if (pick(3) === 0) {
      void clock.sleep(pick(6_000)).then(() => {
        parts.die();
        dead++;
      });
      void runTails(TENANT, process.parts, options).catch(() => undefined);
    } else running.push(runTails(TENANT, process.parts, options).catch(() => dead++));
    return Promise.resolve();
  };
  const actions: readonly (() => Promise<unknown>)[] = [
    ...Array.from({ length: 5 }, () => () => pushSome(history, pushers[pick(2)])),
    // One of two calls is lost.
    () => (pick(2) === 0 ? dispatch() : Promise.resolve()),
    async () => history.tails.length < MOST_TAILS && openOne(history, shared, pushers[pick(2)]),
    () => clock.sleep(pick(2_000)),
    () => clock.sleep(pick(10_000)),
  ];
  for (let step = 0; step < STEPS; step++) {
    const action = actions[pick(actions.length)]();
    if (pick(3) === 0) running.push(action);
    else await drive(clock, action);
  }
  await drive(clock, Promise.all(running));
  // The schedule, when nothing fails any more; the lease of one that died has to run out.
  for (let i = 0; i < 4; i++) {
    const { parts, failures } = processOver(shared, { seed: seed * 100 + 2 + i });
    await drive(clock, runTails(TENANT, parts, { ...RUN, untilMs: clock.nowMs() + 30_000 }));
    expect(failures).toEqual([]);
    await clock.advance(12_000);
  }
  check(seed, history, 1 + dead);
  return history.tails.filter(({ connection }) => connection.closed === undefined).length;
}

/** One process hears of all commits, and queues two: the rest comes from the log. */
async function onOneMachine(seed: number): Promise<number> {
  const history = newHistory(seed);
  const pick = (count: number) => Math.floor(history.random() * count);
  const clock = virtualClock();
  const shared = sharedParts(clock);
  const { table, heal } = mortalParts(shared, seed);
  const process = processOver(shared, { seed, table, joinMs: 0, savesCursor: false });
  const server = new TailServer({ ...process.parts, hearsAll: true, maxNotices: 2, pollMs: 5_000 });
  const running: Promise<unknown>[] = [];
  const actions: readonly (() => Promise<unknown>)[] = [
    ...Array.from({ length: 6 }, () => () => pushSome(history, process)),
    async () => {
      if (history.tails.length < MOST_TAILS && (await openOne(history, shared, process)))
        server.opened(TENANT);
    },
    () => clock.sleep(pick(300)),
  ];
  for (let step = 0; step < STEPS; step++) {
    const action = actions[pick(actions.length)]();
    if (pick(2) === 0) running.push(action);
    else await drive(clock, action);
  }
  await drive(clock, Promise.all(running));
  heal();
  // A failed read is repeated after a second.
  await drive(clock, clock.sleep(10_000));
  await drive(clock, server.stop());
  check(seed, history, 1);
  return history.tails.filter(({ connection }) => connection.closed === undefined).length;
}

for (const [name, simulate] of [
  ['in an account', inAnAccount],
  ['on one machine', onOneMachine],
] as const) {
  test(`${name}: nothing that was acknowledged is missing or shown again`, async () => {
    let served = 0;
    for (let seed = 1; seed <= SEEDS; seed++) served += await simulate(seed);
    expect(served).toBeGreaterThanOrEqual(SEEDS);
  });
}
