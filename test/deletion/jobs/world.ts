/**
 * A store in memory whose processes can be killed at any call, and its contents: as stored, and as delete
 * filters show them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEFAULT_LIMITS, type Limits } from '../../../shared/base/model/limits.ts';
import { MS_PER_DAY, NS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { seededIds } from '../../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import { Catalog } from '../../../shared/storage/catalog/catalog.ts';
import { readChunk, readFooter } from '../../../shared/storage/catalog/chunk-object.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../../shared/storage/catalog/delete-request.ts';
import { decodePage } from '../../../shared/storage/chunk/reader.ts';
import { QUICK_COMPRESSION } from '../../../shared/storage/codec/compression.ts';
import { Compactor } from '../../../shared/upkeep/compaction/compactor.ts';
import { noRewrites } from '../../../shared/upkeep/compaction/day-rewriter.ts';
import type { MergeSizes } from '../../../shared/upkeep/compaction/merge-sizes.ts';
import { helpersOf, type MergeHelpers, runMergeTask } from '../../../shared/upkeep/compaction/merge-task.ts';
import { type DropSource, marksOf } from '../../../shared/upkeep/compaction/row-drops.ts';
import { DeleteFilterSource } from '../../../shared/upkeep/deletion/delete-filters.ts';
import { DELETE_TIMES, type DeleteTimes } from '../../../shared/upkeep/deletion/delete-times.ts';
import { MergeDrops } from '../../../shared/upkeep/deletion/merge-drops.ts';
import { TenantDeletion } from '../../../shared/upkeep/deletion/tenant-deletion.ts';
import { retentionJob } from '../../../shared/upkeep/maintenance/retention-job.ts';
import { GroupCommitter } from '../../../shared/write/ingest/group-commit.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type DatedEntry, identityOf, pushOf } from '../../support/pushes.ts';
import { entriesOfPage } from '../../support/rows.ts';

export const TENANT = 't';
export const DAY = 20_000;
export const CANCEL_PERIOD_MS = 3_600_000;
const GRACE_MS = 1000;

export class KilledError extends Error {}

/** Lets calls of ports through until it is burnt; the last one may still have its effect. */
export class Fuse {
  calls = 0;
  readonly #lastCall: number;
  readonly #isLastApplied: boolean;

  constructor(lastCall = Number.POSITIVE_INFINITY, isLastApplied = false) {
    this.#lastCall = lastCall;
    this.#isLastApplied = isLastApplied;
  }

  wrap<T extends object>(port: T): T {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...given: unknown[]) => {
          this.calls++;
          if (this.calls < this.#lastCall) return Reflect.apply(member, target, given) as unknown;
          if (this.calls === this.#lastCall && this.#isLastApplied)
            await Reflect.apply(member, target, given);
          throw new KilledError(`killed at call ${this.calls} of ${String(name)}`);
        };
      },
    });
  }
}

export interface WorldOptions {
  readonly inlineMaxBytes?: number;
  readonly limits?: Partial<Limits>;
  readonly targetBytes?: number;
  readonly batchSize?: number;
  readonly mergeSizes?: MergeSizes;
  readonly dividesStreams?: boolean;
  readonly times?: DeleteTimes;
  /** A defect of the requests of merges. */
  readonly brokenDrops?: (drops: DropSource) => DropSource;
  /** Functions that merge for compactors, for any amount of work. Default: none. */
  readonly helpers?: number;
}

/** Wraps a call of another function. `task` is the encoded merge. */
export type Around = (call: () => Promise<Uint8Array>, task: Uint8Array) => Promise<Uint8Array>;

export function makeWorld(given: WorldOptions = {}) {
  const { inlineMaxBytes = 0, targetBytes = 1_000_000, batchSize = 70, mergeSizes, dividesStreams } = given;
  const manual = manualClock((DAY + 3) * MS_PER_DAY);
  const clock = { ...manual, sleep: () => nextTurn() };
  const ids = seededIds(1);
  const rawStore = memoryObjectStore();
  const rawTable = memoryTable({ clock });
  let limits: Limits = { ...DEFAULT_LIMITS, ...given.limits };
  const limitsOf = () => limits;
  /** Jobs of separate processes, which are not killed. */
  const helping = (most: number, around: Around = call => call()): MergeHelpers =>
    helpersOf(
      {
        invoke: (bytes, { signal }) =>
          around(
            () =>
              runMergeTask(
                process(new Fuse(), undefined).rewriter,
                JSON.parse(Buffer.from(bytes).toString()),
                signal,
              ),
            bytes,
          ),
      },
      { most, bytesEach: 1, fewest: 1 },
    );
  const defaultHelpers = given.helpers === undefined ? undefined : helping(given.helpers);
  /** A separate process, with separate caches. */
  const process = (fuse = new Fuse(), helpers = defaultHelpers) => {
    const store = fuse.wrap(rawStore);
    const catalog = new Catalog({ table: fuse.wrap(rawTable), clock, ids });
    const grouping = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes, compression: QUICK_COMPRESSION };
    const committer = new GroupCommitter({ store, catalog, clock, ids, options: grouping });
    const sound = new MergeDrops({ deletes: catalog.deletes, clock, limitsOf, isEnabled: true });
    const drops = given.brokenDrops?.(sound) ?? sound;
    const options = { targetBytes, inlineMaxBytes, graceMs: GRACE_MS, mergeSizes, dividesStreams };
    const rewriter = { catalog, store, clock, ids, options, drops };
    const deletion = new TenantDeletion({
      catalog,
      store,
      clock,
      rewriter,
      limitsOf,
      times: given.times ?? DELETE_TIMES,
      cancelPeriodMs: CANCEL_PERIOD_MS,
      batchSize,
    });
    const retention = retentionJob({
      catalog,
      clock,
      rewriter,
      limitsOf,
      removedGraceMs: GRACE_MS,
      everyMs: 1,
    });
    const compactor = new Compactor({ ...rewriter, helpers });
    return { catalog, committer, compactor, deletion, rewriter, retention };
  };
  const plain = process();
  const figures = { ...noRewrites(), pickedUp: 0, processed: 0, days: 0, readBytes: 0 };
  return {
    clock,
    ids,
    rawStore,
    plain,
    process,
    helping,
    figures,
    setLimits: (next: Partial<Limits>) => {
      limits = { ...limits, ...next };
    },
    push: (entries: readonly DatedEntry[]) => plain.committer.commit(TENANT, pushOf(entries)),
    /** A push that waits before its commit: call what it resolves to. */
    slowPush: async (entries: readonly DatedEntry[]) => {
      const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const catalog = new Catalog({ table: rawTable, clock, ids });
      const add = catalog.addChunks.bind(catalog);
      catalog.addChunks = async records => {
        reached.resolve();
        await gate.promise;
        await add(records);
      };
      const grouping = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes, compression: QUICK_COMPRESSION };
      const committer = new GroupCommitter({ store: rawStore, catalog, clock, ids, options: grouping });
      const committed = committer.commit(TENANT, pushOf(entries));
      committed.catch(() => undefined);
      await reached.promise;
      return async () => {
        gate.resolve();
        await committed;
      };
    },
    create: async (request: Partial<DeleteRequest> & Pick<DeleteRequest, 'query'>) => {
      const made = {
        ...NEW_REQUEST,
        id: ids.randomHex(4),
        createdMs: Math.trunc(clock.nowMs()),
        ...request,
      };
      await plain.catalog.deletes.create(made);
      return made;
    },
    requests: () => plain.catalog.deletes.list(TENANT),
    /** One run of the job's work for the tenant. Throws what broke it. */
    runDeletion: async (deletion = plain.deletion) => {
      const failures: string[] = [];
      const done = await deletion.work(TENANT, bounds(), figures, failures);
      return { done, failures };
    },
    compact: (day: number, force = false, compactor = plain.compactor) =>
      compactor.compactDay({ tenant: TENANT, day, force, ...bounds() }),
    stored: () => entriesIn(false),
    seen: () => entriesIn(true),
  };

  /** Identities of the entries, sorted and each once. */
  async function entriesIn(isMasked: boolean): Promise<string[]> {
    const { catalog } = plain;
    const deleteFilters = isMasked
      ? await new DeleteFilterSource({ deletes: catalog.deletes, clock }).filtersOf(TENANT)
      : undefined;
    const found = new Set<string>();
    for (const { day, records } of await catalog.snapshot(TENANT, 0n, BigInt(DAY + 9) * NS_PER_DAY)) {
      for (const record of records) {
        const footer = await readFooter(rawStore, record);
        for (const page of footer.pages) {
          const stored = await readChunk(rawStore, record, page.offset, page.offset + page.storedBytes);
          const rows = decodePage(footer, page, stored, { lines: 'bytes', metadata: 'all' }, 'a page');
          const deleteFilter = deleteFilters?.forChunk(record);
          const marks = deleteFilter && marksOf(deleteFilter, rows);
          entriesOfPage(rows, BigInt(day) * NS_PER_DAY).forEach((entry, row) => {
            if (marks?.[row] !== 1) found.add(identityOf({ ...entry, day }));
          });
        }
      }
    }
    return [...found].sort();
  }

  function bounds() {
    return { untilMs: clock.nowMs() + MS_PER_DAY, signal: new AbortController().signal };
  }
}

const NEW_REQUEST: Omit<DeleteRequest, 'query' | 'id' | 'createdMs'> = {
  tenant: TENANT,
  startNs: BigInt(DAY) * NS_PER_DAY,
  endNs: BigInt(DAY + 3) * NS_PER_DAY,
  intervalNs: 0n,
  ...NOT_BEGUN,
};

export type World = ReturnType<typeof makeWorld>;
