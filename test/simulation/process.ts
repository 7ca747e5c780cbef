/**
 * One process of a simulated store: separate services over stores that all processes share. Its way to the stores
 * fails, is slow and is throttled by seed; it can be killed at any call of a port, before or after the effect, and
 * paused, as by a collector of garbage or a frozen function.
 *
 *     process: call --> (dead? paused?) --> faults, delays --> effect on the shared store
 *              <------- (dead? paused?) <-- faults, delays <--
 *
 * A call of a dead process never returns. One that was on its way when the process died may still have its effect: the
 * stores do not know that no caller waits.
 */

import type { Clock, Ids } from '../../shared/base/ports/clock.ts';
import {
  type FaultInjector,
  type FaultOptions,
  faultInjector,
} from '../../shared/base/ports/faulty/faults.ts';
import type { InvokeOptions } from '../../shared/base/ports/invoker.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import type { Visibility } from '../../shared/read/query/visibility.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../shared/storage/index/day-indexes.ts';
import { Syncer } from '../../shared/storage/index/syncer.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import type { MergeParts } from '../../shared/upkeep/compaction/merge-and-swap.ts';
import type { MergeSizes } from '../../shared/upkeep/compaction/merge-sizes.ts';
import { helpersOf, runMergeTask } from '../../shared/upkeep/compaction/merge-task.ts';
import type { DropSource } from '../../shared/upkeep/compaction/row-drops.ts';
import type { DeleteService } from '../../shared/upkeep/deletion/delete-service.ts';
import { Maintenance } from '../../shared/upkeep/maintenance/maintenance.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { PushService } from '../../shared/write/ingest/push.ts';
import { NO_OBSERVER } from '../support/no-observer.ts';
import type { Dice } from './dice.ts';
import type { Oracle } from './oracle.ts';
import type { Bug } from './planted/bug.ts';
import { assembleRemoval, type RemovalSettings } from './removal/assemble.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtual-time.ts';
import { wiredStore, wiredTable } from './wire.ts';

/** Chance that a call in progress when its process dies has its effect nevertheless. */
const ARRIVES_AFTER_DEATH = 0.5;

/** Everything of a run fits one chunk of this size, as everything of a small tenant's day does. */
const TARGET_BYTES = 1024 * 1024;
/**
 * If processes merge for others, a merge has two or three small chunks, so that a day has several merges at the
 * same time.
 */
const CREW_TARGET_BYTES = 1500;
/** Processes that merge for one. */
const HELPERS = 3;
/** The frequency of jobs does not matter here. This is the minimum time between two periodic syncs. */
const EVERY_MS = 60_000;

type FaultRates = Pick<FaultOptions, 'errorBefore' | 'errorAfter' | 'throttle' | 'delayMs'>;

export interface ProcessSettings {
  readonly waitMs: number;
  readonly maxGroupBytes: number;
  readonly inlineMaxBytes: number;
  readonly faults: FaultRates;
  /** Encoding of merges. */
  readonly mergeSizes: MergeSizes;
}

interface ProcessParts {
  readonly name: string;
  readonly time: VirtualTime;
  readonly oracle: Oracle;
  readonly trace: Trace;
  readonly dice: Dice;
  readonly settings: ProcessSettings;
  /** The clock of this process minus the true time, ms. */
  readonly skewMs: number;
  /** Time from a swap to the deletion of what it replaced, ms. */
  readonly graceMs: number;
  readonly bug?: Bug;
  /** Set in runs with delete requests and retention. */
  readonly removal?: RemovalSettings;
  /** Caller for each merge; undefined: the process merges by itself. */
  readonly helper?: () => SimulatedProcess;
}

/** Error for the client of a killed process: the connection is closed. */
class ProcessKilledError extends Error {
  constructor(name: string) {
    super(`process ${name} was killed`);
    this.name = 'ProcessKilledError';
  }
}

/**
 * Requests partitions as if the tenant's rate rose: by a digit of the chunk's ID, so that no dice are thrown
 * for it.
 */
function growing(catalog: Catalog): Pick<Catalog, 'addChunks'> {
  return {
    addChunks: (records, options) => {
      const digit = Number.parseInt(records[0]?.id.at(-3) ?? '0', 16);
      return catalog.addChunks(records, { ...options, partitions: 1 << (digit >> 2) });
    },
  };
}

export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: ObjectStore;
  readonly table: Table;
  readonly catalog: Catalog;
  /** Catalog of its queries. It differs from the other only with planted bugs. */
  readonly readCatalog: Catalog;
  readonly pushes: PushService;
  readonly source: ChunkSource;
  readonly engine: QueryEngine;
  readonly indexes: DayIndexes;
  /** Catalog of its maintenance. It differs from the other only with planted bugs. */
  readonly workCatalog: Catalog;
  readonly compactor: Compactor;
  readonly syncer: Syncer;
  readonly maintenance: Maintenance;
  readonly deletes: DeleteService | undefined;
  /** Rows that its queries hide. */
  readonly visibility: Visibility | undefined;
  /** Rows that its merges drop. */
  readonly drops: DropSource | undefined;
  /** Merges that it has done for others. */
  helped = 0;
  /** Those of them that wrote several parts of the streams. */
  divided = 0;
  readonly #merging: MergeParts;
  /** Calls of ports so far. */
  calls = 0;
  isDead = false;
  readonly #parts: ProcessParts;
  readonly #injector: FaultInjector;
  readonly #death = Promise.withResolvers<never>();
  #pausedUntilMs = 0;
  #killAt = Infinity;
  #killAfter = false;
  #pauseAt = Infinity;
  #pauseMs = 0;

  constructor(parts: ProcessParts) {
    const { name, time, oracle, dice, settings, skewMs, graceMs, bug, removal, helper } = parts;
    this.#parts = parts;
    this.name = name;
    this.#injector = faultInjector({ seed: dice.seed(), clock: time, ...settings.faults });
    this.ids = seededIds(dice.seed());
    this.#death.promise.catch(() => undefined);
    this.clock = {
      nowMs: () => time.nowMs() + skewMs,
      nowNs: () => time.nowNs() + BigInt(skewMs) * 1_000_000n,
      sleep: async (ms, signal) => {
        await time.sleep(ms, signal);
        await this.#standing();
      },
    };
    const wired = {
      store: wiredStore(oracle.storeOf(), this.#call),
      table: wiredTable(oracle.tableOf(name), this.#call),
    };
    const bugDice = dice.fork();
    this.store = bug?.store?.(wired.store, bugDice) ?? wired.store;
    this.table = bug?.table?.(wired.table, bugDice) ?? wired.table;
    const { table, store, clock, ids } = this;
    this.catalog = new Catalog({ table, clock, ids });
    const readTable = bug?.readTable?.(wired.table, bugDice);
    const reader = readTable === undefined ? this.catalog : new Catalog({ table: readTable, clock, ids });
    this.readCatalog = bug?.readCatalog?.({ table, clock, ids }) ?? reader;
    const { faults: _, ...grouping } = settings;
    const commit = {
      store,
      // Over a distant table days get more partitions now and then.
      catalog: this.table.isDistant === true ? growing(this.catalog) : this.catalog,
      clock,
      ids,
      options: { ...grouping, compression: QUICK_COMPRESSION },
    };
    const committer = bug?.committer?.(commit) ?? new GroupCommitter(commit);
    const push = { committer, clock, observer: NO_OBSERVER };
    this.pushes = bug?.pushes?.(push) ?? new PushService(push);
    this.source = new ChunkSource(store);
    this.indexes = new DayIndexes({ store, onBroken: error => oracle.noteBrokenIndex(error) });
    const reads = { catalog: this.readCatalog, source: this.source, indexes: this.indexes };
    this.workCatalog = bug?.workCatalog?.({ table, clock, ids }, store) ?? this.catalog;
    const { indexes, workCatalog } = this;
    const work = { catalog: workCatalog, store, clock, ids };
    const { inlineMaxBytes, mergeSizes } = settings;
    const targetBytes = helper === undefined ? TARGET_BYTES : CREW_TARGET_BYTES;
    const merging = { ...work, options: { targetBytes, inlineMaxBytes, graceMs, mergeSizes } };
    this.#merging = merging;
    const removing = removal && assembleRemoval({ merging, removal, bug });
    this.deletes = removing?.deletes;
    this.drops = removing?.drops;
    this.visibility = removing?.visibility;
    this.engine = new QueryEngine({ ...reads, clock, visibility: this.visibility });
    const invoke = async (bytes: Uint8Array, { signal }: InvokeOptions) => helper!().help(bytes, signal);
    const helpers = helper && helpersOf({ invoke }, { most: HELPERS, bytesEach: 1, fewest: 1 });
    this.compactor = new Compactor({ ...merging, drops: this.drops, helpers });
    this.syncer = new Syncer({ ...work, indexes, graceMs });
    const { compactor, syncer } = this;
    this.maintenance = new Maintenance({
      ...work,
      compactor,
      syncer,
      removal: removing?.jobs,
      options: {
        removalEveryMs: removal && EVERY_MS,
        compactionEveryMs: EVERY_MS,
        syncEveryMs: EVERY_MS,
        collectionEveryMs: EVERY_MS,
        syncsIndexes: true,
      },
    });
  }

  /** Requests of a client of this process; rejects with ProcessKilledError when the process dies. */
  request<T>(work: () => Promise<T>): Promise<T> {
    if (this.isDead) return Promise.reject(new ProcessKilledError(this.name));
    return Promise.race([this.#standing().then(work), this.#death.promise]);
  }

  /** Merges for another process. */
  async help(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const answer = await this.request(() =>
      runMergeTask(
        { ...this.#merging, drops: this.drops },
        JSON.parse(Buffer.from(bytes).toString()),
        signal,
      ),
    );
    this.helped++;
    const { added } = JSON.parse(Buffer.from(answer).toString()) as { readonly added: readonly string[] };
    if (added.length > 1) this.divided++;
    return answer;
  }

  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#parts.trace.add(`${this.#parts.time.nowMs()} ${this.name} killed at call ${this.calls}`);
    this.#death.reject(new ProcessKilledError(this.name));
  }

  /** Dies at its `calls`-th call of a port from now (0: the next one), before or after the effect. */
  killAtCall(calls: number, when: 'before' | 'after'): void {
    this.#killAt = this.calls + calls;
    this.#killAfter = when === 'after';
  }

  /** The process pauses at its `calls`-th call from now for `ms` of true time. Calls already sent arrive. */
  pauseAtCall(calls: number, ms: number): void {
    this.#pauseAt = this.calls + calls;
    this.#pauseMs = ms;
  }

  /** From now on, its ports neither fail nor wait, and it is not killed. */
  heal(): void {
    this.#injector.faults.enabled = false;
    this.#killAt = Infinity;
    this.#pauseAt = Infinity;
    this.#pausedUntilMs = 0;
  }

  /** Resolves when the process may continue; never if it is dead. */
  async #standing(): Promise<void> {
    const { time } = this.#parts;
    while (!this.isDead && this.#pausedUntilMs > time.nowMs())
      await time.sleep(this.#pausedUntilMs - time.nowMs());
    if (this.isDead) await never();
  }

  readonly #call = async <T>(operation: string, target: string, effect: () => Promise<T>): Promise<T> => {
    await this.#standing();
    const call = this.calls++;
    if (call >= this.#killAt && !this.#killAfter) {
      this.kill();
      return never();
    }
    if (call >= this.#pauseAt) {
      this.#pauseAt = Infinity;
      this.#pausedUntilMs = this.#parts.time.nowMs() + this.#pauseMs;
    }
    try {
      return await this.#injector.call(operation, target, () =>
        this.#arrive(call, operation, target, effect),
      );
    } catch (error) {
      this.#note(operation, target, error instanceof Error ? error.name : 'error');
      throw error;
    } finally {
      await this.#standing();
    }
  };

  async #arrive<T>(call: number, operation: string, target: string, effect: () => Promise<T>): Promise<T> {
    if (this.isDead && !this.#parts.dice.chance(ARRIVES_AFTER_DEATH)) return never();
    this.#note(operation, target, 'arrives');
    const result = await effect();
    if (call >= this.#killAt && this.#killAfter) this.kill();
    return result;
  }

  #note(operation: string, target: string, what: string): void {
    const { trace, time } = this.#parts;
    trace.add(`${time.nowMs()} ${this.name} ${operation} ${target}: ${what}`);
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
