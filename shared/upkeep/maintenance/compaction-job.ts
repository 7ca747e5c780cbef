/**
 * The scheduled job that compacts days: visits the days with outstanding work, and removes settled ones from
 * the list.
 *
 * Requested days, in which pushes fill a merge, come first, also while a run visits the others or merges a closed
 * hour. Most runs process only those.
 *
 * State between runs only saves work, and is lost with the process. One part is where a run stopped when its
 * time was up, so that a heavy tenant does not block the tenants after it. The other is which days are quiet,
 * because checking a day costs a lease and all its records.
 */

import { mapAtOnce } from '../../base/model/at-once.ts';
import { messageOf } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ObjectReaders } from '../../base/ports/object-readers.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { mayBeRemoved, type Outstanding } from '../../storage/catalog/outstanding.ts';
import type { Syncer } from '../../storage/index/syncer.ts';
import type { CompactionReport, DayCompactor } from '../compaction/compactor.ts';
import type { TenantDay } from '../compaction/full-merges.ts';
import type { FlushRequest } from './flush-request.ts';
import type { Job, JobOutcome, RunBounds } from './jobs.ts';

/** Maximum number of days remembered as quiet, 200 bytes each. Each further day is checked again. */
const QUIET_DAYS = 100_000;

/** Maximum number of days requested between two runs. Further ones wait for a run that visits all days. */
const MAX_REQUESTED = 10_000;

/**
 * Time after which a run leaves a day between two merges to look at requested days, ms. A closed hour of a tenant with
 * 10 MB/s takes minutes to merge, and pushes of that rate fill a merge every 7 s.
 */
const REQUESTS_WAIT_MS = 5_000;

interface RequestedDay {
  readonly day: TenantDay;
  readonly looked: PromiseWithResolvers<void>;
}

/** A day without work until the given time, unless it is announced again. */
interface QuietDay {
  readonly writtenMs: number;
  /** Unix ms. */
  readonly untilMs: number;
}

interface CompactionJobParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly compactor: DayCompactor;
  /** Undefined if the store has no index objects. */
  readonly syncer: Syncer | undefined;
  readonly flush: FlushRequest;
  readonly everyMs: number;
  /** Requested days that are merged at the same time, if several threads merge. Default: 1. */
  readonly daysAtOnce?: number | undefined;
  /**
   * Each look at a day is a reader of objects, and a run is not: it may take minutes, and what it replaces is deleted
   * meanwhile. Default: no reader is known.
   */
  readonly readers?: Pick<ObjectReaders, 'during'> | undefined;
}

interface CompactionJob extends Job {
  /**
   * Requests the full merges of this day from the next run, which visits the other days only if their
   * interval has passed. Resolves when the merges are done, as far as possible. Never rejects.
   */
  request(day: TenantDay): Promise<void>;
}

export function compactionJob(parts: CompactionJobParts): CompactionJob {
  const { catalog, clock, syncer, flush, everyMs, daysAtOnce = 1, readers } = parts;
  const reading = <T>(work: () => Promise<T>) => (readers === undefined ? work() : readers.during(work));
  const compactDay: DayCompactor['compactDay'] = work => reading(() => parts.compactor.compactDay(work));
  const quietDays = new LruCache<string, QuietDay>(QUIET_DAYS);
  const requested = new Map<string, RequestedDay>();
  let first: Outstanding | undefined;
  let nextMs = -Infinity;
  /** Functions request no days, and run other merges at the same time. */
  let hasRequests = false;
  return {
    name: 'compaction',
    everyMs,
    request(day) {
      hasRequests = true;
      const name = nameOf(day);
      let one = requested.get(name);
      if (one === undefined) {
        if (requested.size >= MAX_REQUESTED) return Promise.resolve();
        requested.set(name, (one = { day, looked: Promise.withResolvers() }));
      }
      return one.looked.promise;
    },
    async run(bounds): Promise<JobOutcome> {
      const figures = {
        days: 0,
        quiet: 0,
        merges: 0,
        rows: 0,
        inputBytes: 0,
        outputBytes: 0,
        duplicates: 0,
        dropped: 0,
      };
      const failures: string[] = [];
      let done = true;
      const requestedMs = await flush.pending();
      const force = requestedMs !== undefined;
      const add = (report: CompactionReport) => {
        figures.merges += report.merges;
        figures.rows += report.rows;
        figures.inputBytes += report.inputBytes;
        figures.outputBytes += report.outputBytes;
        figures.duplicates += report.duplicates;
        figures.dropped += report.dropped;
      };
      const isOver = () => bounds.signal.aborted || clock.nowMs() >= bounds.untilMs;
      const later: RequestedDay[] = [];
      const mergeRequested = async () => {
        // Only those requested so far: later requests must not block other days.
        await mapAtOnce([...requested], daysAtOnce, async ([name, one]) => {
          if (isOver()) return;
          requested.delete(name);
          figures.days++;
          try {
            const report = await compactDay({ ...one.day, ...bounds, onlyPushes: true });
            add(report);
            if (report.end === 'time' || report.end === 'busy') {
              later.push(one);
              return;
            }
          } catch (error) {
            // A retry would fail too. The run over all days tries it again.
            failures.push(`${name}: ${messageOf(error)}`);
          }
          one.looked.resolve();
        });
      };
      const compactInSlices = async (work: Outstanding): Promise<CompactionReport> => {
        for (let sliceMs = REQUESTS_WAIT_MS; ; ) {
          const sliceEndMs = hasRequests ? clock.nowMs() + sliceMs : Infinity;
          const untilMs = Math.min(bounds.untilMs, sliceEndMs);
          const report = await compactDay({ ...work, ...bounds, untilMs, force });
          add(report);
          if (report.end !== 'time' || untilMs === bounds.untilMs || isOver()) return report;
          // Reading the day took the whole slice.
          sliceMs = report.merges > 0 ? REQUESTS_WAIT_MS : Infinity;
          await mergeRequested();
        }
      };
      await mergeRequested();
      if (figures.days > 0 && first === undefined && !force && clock.nowMs() < nextMs) {
        requestAgain(later);
        return { done: requested.size === 0, succeeded: figures.days - failures.length, figures, failures };
      }
      nextMs = clock.nowMs() + everyMs;
      const from = first;
      first = undefined;
      for await (const work of catalog.outstanding.list(from)) {
        await mergeRequested();
        if (isOver()) {
          done = false;
          first = work;
          break;
        }
        figures.days++;
        if (!force && isQuiet(work)) {
          figures.quiet++;
          continue;
        }
        try {
          const startedMs = clock.nowMs();
          const report = await compactInSlices(work);
          if (report.end === 'done') keepQuiet(work, startedMs, report.quietUntilMs);
          // Another process that holds the day may not make the requested merges.
          if (report.end === 'time' || (force && report.end === 'busy')) done = false;
          if (report.end === 'settled') await finish(work, bounds);
          // On request, index also what is not settled.
          else if (force && report.end === 'done' && !(await sync(work, bounds))) done = false;
        } catch (error) {
          // A corrupt chunk must not keep other days from being compacted.
          failures.push(`${work.tenant} day ${work.day}: ${messageOf(error)}`);
        }
      }
      if (requestedMs !== undefined && done) await flush.complete(requestedMs);
      requestAgain(later);
      const succeeded = figures.days - failures.length;
      return { done: done && requested.size === 0 && failures.length === 0, succeeded, figures, failures };
    },
  };

  /** Requests days again that another process held, or for which the time was up. */
  function requestAgain(later: readonly RequestedDay[]): void {
    for (const one of later) {
      const name = nameOf(one.day);
      const newer = requested.get(name);
      requested.set(name, one);
      if (newer !== undefined) void one.looked.promise.then(newer.looked.resolve);
    }
  }

  /**
   * A commit that the backlog item does not show comes from a process that relies on the item. While that is
   * possible, every run checks the day. Later, a commit changes the item, and otherwise only a window that
   * closes makes work.
   */
  function keepQuiet(work: Outstanding, startedMs: number, untilMs: number): void {
    if (mayBeRemoved(work, startedMs)) quietDays.set(nameOf(work), { writtenMs: work.writtenMs, untilMs });
  }

  function isQuiet(work: Outstanding): boolean {
    const quiet = quietDays.get(nameOf(work));
    return quiet !== undefined && quiet.writtenMs === work.writtenMs && clock.nowMs() < quiet.untilMs;
  }

  /** No merge is planned for this day without a push, so its index is final. */
  async function finish(work: Outstanding, bounds: RunBounds): Promise<void> {
    const end = await syncDay(work, bounds);
    if (end === undefined || end === 'fresh') await catalog.outstanding.remove(work);
  }

  /** Returns false if it is left for the next run. */
  async function sync(work: Outstanding, bounds: RunBounds): Promise<boolean> {
    const end = await syncDay(work, bounds);
    return end !== 'time' && end !== 'busy';
  }

  async function syncDay({ tenant, day }: Outstanding, bounds: RunBounds) {
    if (syncer === undefined) return undefined;
    return reading(() => syncer.syncDay({ tenant, day, force: true, ...bounds }));
  }
}

function nameOf({ tenant, day }: TenantDay): string {
  return `${tenant}/${day}`;
}
