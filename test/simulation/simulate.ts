/**
 * One simulated run of the whole store: some processes over shared stores, clients, maintenance, and a party
 * that kills, pauses and restarts. All of it follows from the seed. At the end the outside is healed and
 * everything is checked exactly: acknowledged is found, found was attempted, once, and every process returns
 * the same.
 */

import { BrokenInvariantError, INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { MS_PER_DAY, NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { itemByItemTable } from '../../shared/base/ports/faulty/item-by-item.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { ORPHAN_AGE_MS } from '../../shared/upkeep/compaction/collector.ts';
import { MERGE_SIZES, type MergeSizes } from '../../shared/upkeep/compaction/merge-sizes.ts';
import { walkForOrphans } from '../../shared/upkeep/compaction/orphan-walk.ts';
import { COPYING_MERGE_SIZES, TINY_MERGE_SIZES } from '../support/merge-sizes.ts';
import type { SimulatedActor } from './actor.ts';
import { boundsOf } from './actors/bounds.ts';
import { collectOrphans } from './actors/collect-orphans.ts';
import { ACTORS, REMOVAL_ACTORS } from './actors/index.ts';
import { checkRuns } from './actors/run-job.ts';
import { runClient, sendPush } from './client.ts';
import { Dice } from './dice.ts';
import { isFailureOfOutside } from './failures.ts';
import { Model } from './model.ts';
import { Oracle } from './oracle.ts';
import { type ProcessSettings, SimulatedProcess } from './process.ts';
import type { Span } from './questions/bounds.ts';
import { askEverything, fetchEntries, sameSets } from './questions.ts';
import type { RemovalSettings } from './removal/assemble.ts';
import { removalOf, removeAll } from './removal/end.ts';
import { Ledger } from './removal/ledger.ts';
import { FailedRunError, type RunOptions, type RunResult } from './run-result.ts';
import { Trace } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';

/**
 * Entries may be a week old, so a run's days are before its start; most runs begin shortly before midnight.
 */
const FIRST_DAY = 20_000;
/** Most days of a run. */
const MAX_DAYS = 3;
const TENANTS = ['red', 'blue'];
/** Clocks of processes may differ by twice as much. */
const MAX_SKEW_MS = 3_000;
/** Longer than any request of a run, pauses included, by more than clocks differ. */
const GRACE_MS = 600_000;
/** Share of the runs in which transactions are seen in parts, as DynamoDB may show them. */
const PARTS_SHARE = 0.4;
/** Most ms from one item of a transaction to the next. */
const MAX_ITEM_MS = 12;
/** Longer than clocks differ. */
const SET_UP_MS = 10_000;
/** A pause in the middle of some runs. Earlier leftovers are orphans afterwards. */
const REST_MS = ORPHAN_AGE_MS + 3_600_000;
/**
 * Runs of every job that complete all work: one merges and syncs, one takes days off the list, one has nothing
 * to do.
 */
const LAST_JOB_RUNS = 3;
/**
 * Minimum and maximum ms of a call of a port; never 0, so that every call is a moment at which others may
 * continue.
 */
const DELAYS_MS: readonly (readonly [number, number])[] = [
  [1, 3],
  [1, 20],
  [1, 120],
  [20, 600],
];

export { FailedRunError } from './run-result.ts';

/** Throws FailedRunError. */
export async function simulate(options: RunOptions): Promise<RunResult> {
  const world = new World(options);
  try {
    return await world.run();
  } catch (error) {
    // Jobs keep the messages of errors alone.
    throw new FailedRunError(options, world.failure ?? error, world.trace.lines);
  }
}

class World {
  readonly trace = new Trace();
  readonly #dice: Dice;
  readonly #time: VirtualTime;
  readonly #stores: { readonly table: Table; readonly store: ObjectStore };
  readonly #oracle: Oracle;
  readonly #model = new Model();
  readonly #settings: ProcessSettings;
  readonly #processes: SimulatedProcess[] = [];
  readonly #options: RunOptions;
  readonly #whole: Span;
  readonly #days: readonly number[];
  /** Longest wait of any party between two actions, ms. */
  readonly #maxThinkMs: number;
  /** Many queries next to much maintenance, rather than many pushes. */
  readonly #isBusy: boolean;
  /** End of the pause of this run, Unix ms; undefined if it has none. */
  readonly #restUntilMs: number | undefined;
  readonly #removal: RemovalSettings | undefined;
  #clients = 0;
  #resting = 0;
  #started = 0;
  #kills = 0;
  #isOver = false;

  constructor(options: RunOptions) {
    this.#options = options;
    const dice = new Dice(options.seed);
    this.#dice = dice;
    const beforeMidnightMs = dice.chance(0.5) ? dice.between(1, 500) : dice.between(1, MS_PER_DAY);
    this.#isBusy = dice.chance(0.2);
    // Busy runs put all that they have into one day, so that its maintenance and its queries meet.
    const days = this.#isBusy ? 1 : dice.between(1, MAX_DAYS);
    const startMs = (FIRST_DAY + days) * MS_PER_DAY - beforeMidnightMs;
    this.#time = new VirtualTime(startMs - SET_UP_MS, dice.fork());
    const table = memoryTable({ clock: this.#time });
    const removes = options.removes || options.bug?.needsRemoval === true;
    const inParts = dice.chance(PARTS_SHARE) || options.bug?.needsParts === true;
    const shown = inParts ? this.#inParts(table, dice.fork()) : table;
    // Half of the runs, by the seed: over a distant table queries look at no versions, and swaps rest; keys in a distant store are hashed. Planted bugs keep their seeds.
    const isDistant = options.seed % 2 === 1 && options.bug === undefined;
    this.#stores = { table: { ...shown, isDistant }, store: { ...memoryObjectStore(), isDistant } };
    const ledger = removes ? new Ledger({ clock: this.#time, maxSkewMs: MAX_SKEW_MS }) : undefined;
    this.#oracle = new Oracle({
      ...this.#stores,
      ledger,
      clock: this.#time,
      leastGraceMs: GRACE_MS - 2 * MAX_SKEW_MS,
      leastOrphanAgeMs: ORPHAN_AGE_MS - 2 * MAX_SKEW_MS,
    });
    this.#settings = settingsOf(dice, sizesOf(options));
    this.#days = Array.from({ length: days }, (_, i) => FIRST_DAY + i);
    this.#whole = {
      startNs: BigInt(FIRST_DAY * MS_PER_DAY) * NS_PER_MS,
      endNs: BigInt(Math.floor(startMs / 1000) * 1000) * NS_PER_MS,
    };
    const thinkMs = this.#isBusy ? 20 : dice.pick([20, 200, 400_000]);
    // A request lives for some minutes at least.
    this.#maxThinkMs = ledger === undefined ? thinkMs : dice.pick([30_000, 120_000, 400_000]);
    this.#removal = ledger && removalOf(ledger, dice, GRACE_MS);
    const rests = dice.chance(0.3) || options.bug?.needsRest === true;
    this.#restUntilMs = rests ? startMs + REST_MS : undefined;
  }

  #inParts(table: Table, dice: Dice): Table {
    const mostMs = dice.between(1, MAX_ITEM_MS);
    const pause = () => this.#time.sleep(dice.between(0, mostMs));
    return itemByItemTable(table, { random: dice.next, pause });
  }

  /** Failure that the oracle detected. */
  get failure(): unknown {
    return this.#oracle.failure;
  }

  async run(): Promise<RunResult> {
    const { trace } = this;
    const dice = this.#dice;
    const time = this.#time;
    const model = this.#model;
    await time.run(this.#setUp());
    const startMs = time.nowMs();
    const processes = dice.between(1, 3);
    for (let i = 0; i < processes; i++) this.#start();
    this.#clients = dice.between(1, 3);
    const clients = Array.from({ length: this.#clients }, (_, i) =>
      runClient(
        {
          name: `client${i}`,
          time,
          model,
          tenants: TENANTS,
          whole: this.#whole,
          dice: dice.fork(),
          anyProcess: () => this.#anyProcess(),
          maxThinkMs: this.#maxThinkMs,
          askShare: this.#isBusy ? 0.5 : 0.35,
          rest: () => this.#rest(),
          ledger: this.#oracle.ledger,
        },
        this.#isBusy || this.#removal !== undefined ? dice.between(14, 24) : dice.between(3, 6),
      ),
    );
    const work = Promise.all(clients).finally(() => {
      this.#isOver = true;
    });
    const workers = this.#isBusy ? 3 : 1;
    const maintenance = Promise.all(Array.from({ length: workers }, () => this.#maintain(dice.fork())));
    const chaos = this.#disturb(dice.fork());
    await time.run(Promise.all([work, maintenance, chaos]));
    if (this.#oracle.failure !== undefined) throw this.#oracle.failure;
    await time.drain();
    try {
      await this.#checkAll();
    } catch (error) {
      // Healed, nothing may fail; a missing object has a separate error.
      isFailureOfOutside(error);
      throw error;
    }
    if (this.#oracle.failure !== undefined) throw this.#oracle.failure;
    const known = TENANTS.flatMap(tenant => [...model.entries(tenant).values()]);
    return {
      calls: trace.count,
      hash: trace.hash(),
      lines: this.#options.keepTrace ? trace.lines : [],
      entries: known.length,
      acknowledged: known.filter(({ acknowledgedAt }) => acknowledgedAt < Infinity).length,
      kills: this.#kills,
      swaps: this.#oracle.swaps,
      helped: this.#processes.reduce((sum, { helped }) => sum + helped, 0),
      divided: this.#processes.reduce((sum, { divided }) => sum + divided, 0),
      syncs: this.#oracle.syncs,
      removed: this.#oracle.ledger?.removed ?? 0,
      processed: this.#oracle.ledger?.processed ?? 0,
      virtualMs: time.nowMs() - startMs,
    };
  }

  /** The store is there, and empty, for a while: objects that are older than its first walk for orphans are left alone. */
  async #setUp(): Promise<void> {
    const clock = this.#time;
    const stores = this.#stores;
    const catalog = new Catalog({ table: stores.table, clock, ids: seededIds(this.#dice.seed()) });
    const bounds = { untilMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
    await walkForOrphans({ catalog, store: stores.store, clock }, bounds);
    await clock.sleep(SET_UP_MS);
  }

  #start(): SimulatedProcess {
    const { trace } = this;
    const time = this.#time;
    const oracle = this.#oracle;
    const settings = this.#settings;
    const dice = this.#dice;
    const name = `p${this.#started++}`;
    const skewMs = dice.chance(0.5) ? dice.between(-MAX_SKEW_MS, MAX_SKEW_MS) : 0;
    // Some processes are slow all the time: what they have read is old when they act on it.
    const faults = { ...settings.faults, delayMs: dice.pick(DELAYS_MS) };
    const parts = {
      name,
      time,
      oracle,
      trace,
      settings: { ...settings, faults },
      skewMs,
      graceMs: this.#options.bug?.graceMs ?? GRACE_MS,
      dice: dice.fork(),
      bug: this.#options.bug,
      removal: this.#removal,
      helper: this.#options.crews === true ? () => this.#anyProcess() : undefined,
    };
    const process = new SimulatedProcess(parts);
    this.#processes.push(process);
    return process;
  }

  get #actors(): readonly SimulatedActor[] {
    return this.#options.actors ?? (this.#removal === undefined ? ACTORS : REMOVAL_ACTORS);
  }

  #anyProcess(): SimulatedProcess {
    const alive = this.#processes.filter(({ isDead }) => !isDead);
    return alive.length > 0 ? this.#dice.pick(alive) : this.#start();
  }

  /** Called by each client in the middle of its work: all rest together, so that no request lasts that long. */
  async #rest(): Promise<void> {
    if (this.#restUntilMs === undefined) return;
    this.#resting++;
    while (this.#resting < this.#clients) await this.#time.sleep(1000);
    await this.#time.sleep(this.#restUntilMs - this.#time.nowMs());
  }

  get #isResting(): boolean {
    return this.#resting === this.#clients && this.#time.nowMs() < (this.#restUntilMs ?? 0);
  }

  /** Invokes maintenance at random moments, sometimes twice, or two kinds at the same time. */
  async #maintain(dice: Dice): Promise<void> {
    const actors = this.#actors.flatMap(actor => Array<SimulatedActor>(actor.weight).fill(actor));
    while (!this.#isOver && actors.length > 0) {
      await this.#time.sleep(dice.between(1, this.#maxThinkMs));
      let first = dice.pick(actors);
      if (this.#isResting) {
        await this.#time.sleep(this.#restUntilMs! - this.#time.nowMs());
        // Now there are orphans; nothing was merged for a day.
        first = actors.find(actor => actor === collectOrphans) ?? first;
      }
      const together = dice.pick([[first], [first], [first, first], [first, dice.pick(actors)]]);
      await Promise.all(together.map(actor => this.#step(actor, this.#anyProcess(), dice.fork())));
    }
  }

  async #step(actor: SimulatedActor, process: SimulatedProcess, dice: Dice): Promise<void> {
    const graceMs = this.#options.bug?.graceMs ?? GRACE_MS;
    const oracle = this.#oracle;
    const days = this.#days;
    const anyProcess = () => this.#anyProcess();
    const context = { process, anyProcess, oracle, dice, tenants: TENANTS, days, graceMs };
    try {
      await process.request(() => actor.step(context));
    } catch (error) {
      if (error instanceof BrokenInvariantError) throw error;
      const isNamed = error instanceof Error && actor.tolerates.includes(error.name);
      mustHold(INVARIANTS.failuresAreNamed, isNamed || isFailureOfOutside(error), () => {
        return `${actor.name} at ${process.name}: ${error instanceof Error ? error.stack : error}`;
      });
    }
  }

  /** Kills, restarts and pauses at random moments. */
  async #disturb(dice: Dice): Promise<void> {
    const events = dice.below(4);
    for (let i = 0; i < events && !this.#isOver; i++) {
      await this.#time.sleep(dice.between(1, this.#maxThinkMs * 2));
      const process = this.#anyProcess();
      if (dice.chance(0.5)) process.pauseAtCall(dice.below(30), dice.between(100, 5000));
      else {
        process.killAtCall(dice.below(12), dice.chance(0.5) ? 'before' : 'after');
        this.#kills++;
      }
    }
  }

  async #checkAll(): Promise<void> {
    const fresh = this.#start();
    for (const process of this.#processes) process.heal();
    const alive = this.#processes.filter(process => !process.isDead && process !== fresh);
    const time = this.#time;
    const model = this.#model;
    const whole = this.#whole;
    const dice = this.#dice;
    const { ledger } = this.#oracle;
    const startMs = time.nowMs();
    const mayDiffer = (id: string) => ledger?.isUncertain(tenant, id, startMs) ?? false;
    const found = new Map<string, Set<string>>();
    for (const tenant of TENANTS) {
      found.set(tenant, await time.run(askEverything({ process: fresh, model, tenant, whole, ledger })));
    }
    // The following steps use one of the two tenants, which halves the time of a run.
    const tenant = dice.pick(TENANTS);
    const before = found.get(tenant)!;
    for (const process of alive) {
      const same = await time.run(fetchEntries({ process, model, tenant, whole, ledger }, true));
      sameSets(before, same, `answers of ${tenant} by ${fresh.name} and ${process.name}`, mayDiffer);
    }
    for (const actor of this.#actors) await time.run(this.#step(actor, fresh, dice.fork()));
    const after = await time.run(fetchEntries({ process: fresh, model, tenant, whole, ledger }));
    sameSets(before, after, `answers of ${tenant} before and after maintenance`, mayDiffer);
    await time.run(this.#pushOneMore(fresh, tenant));
    if (this.#restUntilMs === undefined && dice.chance(0.6)) return;
    const ended = await time.run(fetchEntries({ process: fresh, model, tenant, whole, ledger }));
    await this.#bringToEnd(fresh);
    const another = this.#startHealed();
    const last = await time.run(askEverything({ process: another, model, tenant, whole, ledger }));
    sameSets(ended, last, `answers of ${tenant} before and after all work was done`, mayDiffer);
  }

  #startHealed(): SimulatedProcess {
    const process = this.#start();
    process.heal();
    return process;
  }

  /**
   * A day later every lease and every grace period has ended: no work may be left, and no unreferenced
   * object.
   */
  async #bringToEnd(process: SimulatedProcess): Promise<void> {
    const time = this.#time;
    const oracle = this.#oracle;
    const { maintenance, catalog } = process;
    await time.run(time.sleep(REST_MS));
    if (oracle.ledger !== undefined) {
      await removeAll(process, { ledger: oracle.ledger, time, tenants: TENANTS });
      // Days that the jobs announced leave the list when no process can rely on them being on it.
      await time.run(time.sleep(REST_MS));
    }
    for (let i = 0; i < LAST_JOB_RUNS; i++) {
      for (const { name } of maintenance.jobs.list) {
        checkRuns(process, [await time.run(maintenance.jobs.run(name, boundsOf(process)))], []);
      }
    }
    if (oracle.failure !== undefined) throw oracle.failure;
    const { inProgress } = await maintenance.sync.status();
    mustHold(INVARIANTS.workIsDone, !inProgress, 'an index sync is still in progress');
    const flush = await maintenance.flush.pending();
    mustHold(INVARIANTS.workIsDone, flush === undefined, `the flush of ${flush} is not done`);
    const { value } = await catalog.outstanding.list().next();
    mustHold(INVARIANTS.workIsDone, value === undefined, () => `left: ${JSON.stringify(value)}`);
    await oracle.checkNothingLeft();
  }

  /** A healed store accepts a push and shows it immediately. */
  async #pushOneMore(process: SimulatedProcess, tenant: string): Promise<void> {
    const model = this.#model;
    const whole = this.#whole;
    const { ledger } = this.#oracle;
    const entries = [{ labels: { app: 'a', pod: '1' }, ns: whole.startNs, line: 'after all', metadata: {} }];
    model.attempt(tenant, entries);
    await sendPush(process, { tenant, entries });
    model.acknowledge(tenant, entries);
    await fetchEntries({ process, model, tenant, whole, ledger });
  }
}

/** Merges of a quarter of the runs copy pages. Planted bugs keep their seeds. */
function sizesOf({ seed, bug }: RunOptions): MergeSizes {
  if (seed % 2 === 1) return MERGE_SIZES;
  return seed % 4 === 0 && bug === undefined ? COPYING_MERGE_SIZES : TINY_MERGE_SIZES;
}

function settingsOf(dice: Dice, mergeSizes: MergeSizes): ProcessSettings {
  // Work of many calls succeeds if few of them fail; a high rate shows what retries must handle.
  const worst = dice.pick([0, 0.01, 0.03, 0.12]);
  const rate = () => dice.next() * worst;
  return {
    waitMs: dice.pick([0, 2, 20]),
    maxGroupBytes: dice.pick([1, 300, 4 * 1024 * 1024]),
    inlineMaxBytes: dice.pick([0, 450, 4096]),
    mergeSizes,
    faults: {
      errorBefore: rate(),
      errorAfter: rate(),
      throttle: rate() / 2,
    },
  };
}
