/**
 * Fans out the pages of a log query to workers, in the direction of the query, and stops when the limit is
 * reached. The caller scans the first megabytes: most queries with a limit end there, and need no worker.
 */

import { crc32 } from 'node:zlib';
import { invariant } from '../../../base/model/errors.ts';
import { MemoryBudget } from '../../../base/model/memory-budget.ts';
import type { LogExpr } from '../../../language/logql/ast.ts';
import { formatExpr } from '../../../language/logql/printer.ts';
import { type ChunkRecord, streamPartOf } from '../../../storage/catalog/chunk-record.ts';
import type { DayRecords, PlannedPage } from '../day-plan.ts';
import { type CollectedEntry, LogCollector } from '../log-collector.ts';
import { MAX_ENTRY_BYTES } from '../log-scan.ts';
import type { PagesOfPlan } from '../metric-scan.ts';
import type { TenantView } from '../tenant-view.ts';
import type { Visible } from '../visibility.ts';
import {
  type ChunksAsked,
  type DayOfChunks,
  footerBytesOf,
  lineBytesOfRange,
  splitRange,
} from './chunk-days.ts';
import type { ChunkRange } from './chunk-ranges.ts';
import { type DaySlice, slicesOfDay, wholeDay } from './day-slices.ts';
import { FanOut } from './fan-out.ts';
import { FanOutFigures, type FanOutParts, MAX_PRINTED_LENGTH, widthOf } from './fan-out-common.ts';
import { affinityOf, chunkTask, cutIntoTasks, taskMaker } from './plan-tasks.ts';
import type { HeldAnswer } from './query-workers.ts';
import type { LogTaskRequest, TaskAnswer } from './task.ts';
import { costOfPage } from './task-cost.ts';

/**
 * Initial number of concurrent tasks, doubled with each result. A query that reaches its limit early then
 * wastes few.
 */
const FIRST_WIDTH = 2;
/** Maximum concurrent tasks of a range that was too large for one. */
const MAX_SPLIT_WIDTH = 16;

interface LogFanOutQuery {
  readonly expr: LogExpr;
  readonly limit: number;
  readonly backward: boolean;
  readonly categorize: boolean;
  readonly field?: string | undefined;
}

/** A day of one tenant. */
interface EntriesOfDay {
  readonly view: TenantView;
  readonly visible: Visible;
  readonly collector: LogCollector;
}

interface PagesOfDay extends EntriesOfDay {
  readonly from: PagesOfPlan;
  /** Called with pages whose entries were merged. */
  readonly covers: (pages: readonly PlannedPage[]) => void;
}

interface ChunksOfDay extends EntriesOfDay, DayOfChunks {
  /** Called with the share of the day that was merged. The shares of a day add up to 1. */
  readonly covers: (share: number) => void;
}

/** Entries of a range of chunks, and the results of its tasks. */
interface RangeEntries {
  readonly entries: readonly CollectedEntry[];
  readonly answers: readonly { readonly held: HeldAnswer; readonly records: readonly ChunkRecord[] }[];
}

export class EntryFanOut {
  readonly #parts: FanOutParts;
  readonly #request: Omit<LogTaskRequest, 'bound'>;
  readonly #fanOut: FanOut;
  readonly #figures: FanOutFigures;
  #inlineBytes = 0;
  /** True until a task is added. */
  isIdle = true;

  constructor(parts: FanOutParts, { expr, limit, backward, categorize, field }: LogFanOutQuery) {
    this.#parts = parts;
    this.#request = { kind: 'log', query: formatExpr(expr), limit, backward, categorize, field };
    const { signal, skips } = parts;
    this.#fanOut = new FanOut({ signal, skips, firstWidth: FIRST_WIDTH, maxWidth: widthOf(parts) });
    this.#figures = new FanOutFigures(parts);
  }

  /**
   * Returns how many of the pages, from the first on, the caller scans before it passes the others to `add`.
   */
  inlinePageCount(pages: readonly PlannedPage[]): number {
    if (this.#request.query.length > MAX_PRINTED_LENGTH) return pages.length;
    const { workers } = this.#parts;
    const maxBytes = workers.sizes.inlineBytes;
    let count = 0;
    while (count < pages.length && this.#inlineBytes < maxBytes) {
      this.#inlineBytes += costOfPage(pages[count++], true);
    }
    return count;
  }

  /**
   * Starts tasks for the pages while the day's collector can use them. Calls `isOver` before each. Throws
   * errors of tasks.
   */
  async add({ from, view, visible, collector, covers }: PagesOfDay, isOver: () => boolean): Promise<void> {
    const { plan, overlaps, pages } = from;
    const { tenant, isLabeled } = view;
    const { workers, memory } = this.#parts;
    this.isIdle = false;
    const maker = taskMaker({ tenant, isLabeled, plan, overlaps, visible });
    for (const { pages: some } of cutIntoTasks(pages, true, workers.sizes)) {
      // Pages are in the direction of the query: if the first does not reach the bound, none does.
      const [{ first: earliest, last: latest }] = some;
      if (isOver() || !collector.reaches(earliest, latest)) return;
      const task = maker.make(some, { ...this.#request, bound: collector.bound });
      const affinity = affinityOf(some);
      await this.#fanOut.add(
        signal => workers.run(task, { affinity, signal, budget: memory }),
        ({ answer, release }) => {
          this.#figures.add(answer, task.records);
          for (const entry of entriesOf(answer, task.records)) collector.take(entry);
          collector.settle();
          covers(some);
          release();
        },
        () => !isOver() && collector.reaches(earliest, latest),
      );
    }
  }

  /**
   * Returns the days in slices, in the direction of the query. Workers plan those whose footers exceed what the query
   * function should hold. A query that prunes reads all days at once. Another one reads one after the other, and may
   * end early. Throws BadRequestError if workers cannot plan them.
   */
  slicesOf(days: readonly DayRecords[], asked: ChunksAsked): DaySlice[] {
    const { query, backward } = this.#request;
    const { sizes } = this.#parts.workers;
    const isLarge = (some: readonly DayRecords[]) =>
      footerBytesOf(some, asked.selector) >= sizes.plannedByWorkersFrom;
    const areLarge = asked.prunes && isLarge(days);
    const split = { ...sizes, direction: backward ? 'backward' : 'forward' } as const;
    return days.flatMap(day => {
      const plansHere = query.length > MAX_PRINTED_LENGTH || !(areLarge || isLarge([day]));
      return plansHere ? wholeDay(day, asked.range) : slicesOfDay(day, asked, split);
    });
  }

  /** Passes a day's chunks to workers, which plan them. Works as `add`. */
  async addChunks(chunksOfDay: ChunksOfDay, isOver: () => boolean): Promise<void> {
    const { ranges, collector, covers } = chunksOfDay;
    const { plan } = this.#parts.statistics;
    this.isIdle = false;
    plan.chunks += chunksOfDay.chunks;
    plan.chunksBySketch += chunksOfDay.prunedChunks;
    const bytes = ranges.reduce((sum, range) => sum + lineBytesOfRange(range), 0);
    if (bytes === 0) covers(1);
    // Each part of the streams can have the first lines.
    this.#fanOut.widen(new Set(ranges.map(({ own }) => streamPartOf(own[0]))).size);
    for (const range of ranges) {
      const { earliest, latest } = timesOf(range);
      // As with pages: if the first chunks do not reach the bound, no later ones do.
      if (isOver() || !collector.reaches(earliest, latest)) return;
      const { bound } = collector;
      await this.#fanOut.add(
        signal => this.#runRange(range, chunksOfDay, bound, signal),
        ({ entries, answers }) => {
          for (const { held, records } of answers) this.#figures.add(held.answer, records);
          for (const entry of entries) collector.take(entry);
          collector.settle();
          if (bytes > 0) covers(lineBytesOfRange(range) / bytes);
          for (const { held } of answers) held.release();
        },
        () => !isOver() && collector.reaches(earliest, latest),
      );
    }
  }

  /**
   * Returns the first entries of a range. A range with too much to scan is cut into smaller ones, which are read
   * in the direction of the query until they have enough.
   */
  async #runRange(
    range: ChunkRange,
    chunksOfDay: ChunksOfDay,
    bound: number | undefined,
    signal: AbortSignal,
  ): Promise<RangeEntries> {
    const { workers, memory, skips } = this.#parts;
    const { view } = chunksOfDay;
    const { maxTaskBytes } = workers.sizes;
    const ofTask = { tenant: view.tenant, isLabeled: view.isLabeled, ...chunksOfDay };
    const task = chunkTask(ofTask, range, { ...this.#request, bound }, { maxBytes: maxTaskBytes });
    const held = await workers.run(task, { affinity: crc32(range.own[0].id), signal, budget: memory });
    const { answer } = held;
    const answered = { held, records: task.records };
    if (answer.kind !== 'split')
      return { entries: [...entriesOf(answer, task.records)], answers: [answered] };
    invariant(range.own.length > 1, 'a task of one chunk is never split');
    const parts = Math.min(range.own.length, Math.max(2, Math.ceil(answer.bytes / maxTaskBytes)));
    const { limit, backward, categorize } = this.#request;
    const collector = new LogCollector(limit, backward, categorize, new MemoryBudget(MAX_ENTRY_BYTES));
    collector.startAt(bound);
    const answers = [answered];
    const inner = new FanOut({ signal, skips, firstWidth: FIRST_WIDTH, maxWidth: MAX_SPLIT_WIDTH });
    try {
      for (const part of splitRange(range, task.records, parts, backward)) {
        const { earliest, latest } = timesOf(part);
        const isWanted = () => collector.reaches(earliest, latest);
        if (!isWanted()) break;
        await inner.add(
          ofPart => this.#runRange(part, chunksOfDay, collector.bound, ofPart),
          found => {
            answers.push(...found.answers);
            for (const entry of found.entries) collector.take(entry);
            collector.settle();
          },
          isWanted,
        );
      }
      await inner.drain();
    } finally {
      inner.stop();
    }
    return { entries: collector.finish(), answers };
  }

  /** Calls `done` when everything added before is merged. */
  async whenMerged(done: () => void): Promise<void> {
    await this.#fanOut.add(async () => undefined, done);
  }

  /** Waits for all tasks, or until `isOver`. Throws errors of tasks. */
  async finish(isOver: () => boolean): Promise<void> {
    await this.#fanOut.drain(isOver);
    this.#figures.finish();
  }

  /** Call it however the query ends. */
  stop(): void {
    this.#fanOut.stop();
  }
}

function* entriesOf(answer: TaskAnswer, records: readonly ChunkRecord[]): Generator<CollectedEntry> {
  invariant(answer.kind === 'log', 'a log task returns entries');
  for (const { record, hash, ...entry } of answer.entries) {
    const chunk = records[record];
    invariant(chunk !== undefined, 'an entry of a task is from one of its chunks');
    yield { ...entry, source: { hash }, chunk };
  }
}

/** Earliest and latest time of the range's own chunks, ns of the day. */
function timesOf({ own }: ChunkRange): { readonly earliest: number; readonly latest: number } {
  let earliest = Infinity;
  let latest = -Infinity;
  for (const { first, last } of own) {
    if (first < earliest) earliest = first;
    if (last > latest) latest = last;
  }
  return { earliest, latest };
}
