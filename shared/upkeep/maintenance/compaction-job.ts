/**
 * The scheduled job that packs chunks: goes through the days with work outstanding, and takes settled ones off the list.
 *
 * Days that were asked for, because pushes fill a merge there, come first, also while a run goes through the others. Most runs do
 * only them.
 *
 * What it remembers from run to run only saves work, and is lost with the process: where a run stopped whose time was up,
 * so that a tenant who pushes much does not keep those behind it from their turn; and which days are quiet, because a look
 * at a day costs a lease and all of its records.
 */

import { mapAtOnce } from '../../base/model/at-once.ts';
import { messageOf } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { mayBeRemoved, type Outstanding } from '../../storage/catalog/outstanding.ts';
import type { Syncer } from '../../storage/index/syncer.ts';
import type { CompactionReport, DayCompactor } from '../compaction/compactor.ts';
import type { PackedDay } from '../compaction/full-merges.ts';
import type { FlushRequest } from './flush-request.ts';
import type { Job, JobOutcome, RunBounds } from './jobs.ts';

/** Days remembered as quiet, 200 bytes each; one more costs a look at it. */
const QUIET_DAYS = 100_000;

/** Days asked for between two runs; others wait for a run that goes through all. */
const MAX_ASKED = 10_000;

interface Asked {
  readonly day: PackedDay;
  readonly looked: PromiseWithResolvers<void>;
}

/** A day in which nothing is to do until then, unless it is announced again. */
interface Quiet {
  readonly writtenMs: number;
  /** Unix ms. */
  readonly untilMs: number;
}

export interface CompactionJobParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly compactor: DayCompactor;
  /** Undefined where the store keeps no index objects. */
  readonly syncer: Syncer | undefined;
  readonly flush: FlushRequest;
  readonly everyMs: number;
  /** Days that are asked for and merged at the same time, if several threads merge. Default: 1. */
  readonly daysAtOnce?: number | undefined;
}

export interface CompactionJob extends Job {
  /**
   * The next run makes the full merges of this day, and goes through the others only if it is time. Resolves when they are made, as
   * far as they can be; never rejects.
   */
  ask(day: PackedDay): Promise<void>;
}

export function compactionJob(parts: CompactionJobParts): CompactionJob {
  const { catalog, clock, compactor, syncer, flush, everyMs, daysAtOnce = 1 } = parts;
  const quietDays = new LruCache<string, Quiet>(QUIET_DAYS);
  const asked = new Map<string, Asked>();
  let first: Outstanding | undefined;
  let nextMs = -Infinity;
  return {
    name: 'compaction',
    everyMs,
    ask(day) {
      const name = nameOf(day);
      let one = asked.get(name);
      if (one === undefined) {
        if (asked.size >= MAX_ASKED) return Promise.resolve();
        asked.set(name, (one = { day, looked: Promise.withResolvers() }));
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
      const later: Asked[] = [];
      const packAsked = async () => {
        // Those of now: other days have their turn, too, however much is pushed meanwhile.
        await mapAtOnce([...asked], daysAtOnce, async ([name, one]) => {
          if (isOver()) return;
          asked.delete(name);
          figures.days++;
          try {
            const report = await compactor.compactDay({ ...one.day, ...bounds, onlyFull: true });
            add(report);
            if (report.end === 'time' || report.end === 'busy') {
              later.push(one);
              return;
            }
          } catch (error) {
            // What fails fails again, and a look at all days tries it.
            failures.push(`${name}: ${messageOf(error)}`);
          }
          one.looked.resolve();
        });
      };
      await packAsked();
      if (figures.days > 0 && first === undefined && !force && clock.nowMs() < nextMs) {
        askAgain(later);
        return { done: asked.size === 0, succeeded: figures.days - failures.length, figures, failures };
      }
      nextMs = clock.nowMs() + everyMs;
      const from = first;
      first = undefined;
      for await (const work of catalog.outstanding.list(from)) {
        await packAsked();
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
          const report = await compactor.compactDay({ ...work, ...bounds, force });
          if (report.end === 'done') keepQuiet(work, startedMs, report.quietUntilMs);
          add(report);
          // Whoever holds the day may pack it without what was asked for.
          if (report.end === 'time' || (force && report.end === 'busy')) done = false;
          if (report.end === 'settled') await finish(work, bounds);
          // Asked for: also into the index what is not settled.
          else if (force && report.end === 'done' && !(await sync(work, bounds))) done = false;
        } catch (error) {
          // A broken chunk must not keep other days from being packed.
          failures.push(`${work.tenant} day ${work.day}: ${messageOf(error)}`);
        }
      }
      if (requestedMs !== undefined && done) await flush.complete(requestedMs);
      askAgain(later);
      const succeeded = figures.days - failures.length;
      return { done: done && asked.size === 0 && failures.length === 0, succeeded, figures, failures };
    },
  };

  /** Another had these days, or the time was up. */
  function askAgain(later: readonly Asked[]): void {
    for (const one of later) {
      const name = nameOf(one.day);
      const newer = asked.get(name);
      asked.set(name, one);
      if (newer !== undefined) void one.looked.promise.then(newer.looked.resolve);
    }
  }

  /**
   * A commit that the item does not tell of comes from a process that trusts in it. While one may, every run looks; later
   * a commit changes the item, and nothing else makes work but a window that closes.
   */
  function keepQuiet(work: Outstanding, startedMs: number, untilMs: number): void {
    if (mayBeRemoved(work, startedMs)) quietDays.set(nameOf(work), { writtenMs: work.writtenMs, untilMs });
  }

  function isQuiet(work: Outstanding): boolean {
    const quiet = quietDays.get(nameOf(work));
    return quiet !== undefined && quiet.writtenMs === work.writtenMs && clock.nowMs() < quiet.untilMs;
  }

  /** Nothing comes for this day any more unless it is pushed: its index is made for good. */
  async function finish(work: Outstanding, bounds: RunBounds): Promise<void> {
    const { tenant, day } = work;
    const end = await syncer?.syncDay({ tenant, day, force: true, ...bounds });
    if (end === undefined || end === 'fresh') await catalog.outstanding.remove(work);
  }

  /** False where it is left for the next run. */
  async function sync({ tenant, day }: Outstanding, bounds: RunBounds): Promise<boolean> {
    const end = await syncer?.syncDay({ tenant, day, force: true, ...bounds });
    return end !== 'time' && end !== 'busy';
  }
}

function nameOf({ tenant, day }: PackedDay): string {
  return `${tenant}/${day}`;
}
