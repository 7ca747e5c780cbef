/**
 * Cuts the pages of a day into tasks of equal size. A task covers a consecutive range of pages, so merging
 * results in the order of the tasks equals one scan in the order of the pages. The cut depends only on the
 * plan, never on the number of workers. Sums of floating-point numbers are therefore independent of it, too.
 */
import { crc32 } from 'node:zlib';
import { NS_PER_DAY } from '../../../base/model/time-units.ts';
import type { IndexRecord } from '../../../storage/catalog/day-item.ts';
import type { Footer, PageMeta } from '../../../storage/chunk/format.ts';
import { indexesOf } from '../../../storage/index/windows.ts';
import type { DayPlan, PlannedPage } from '../day-plan.ts';
import type { Overlaps } from '../overlaps.ts';
import { keptOfDay, type Visible } from '../visibility.ts';
import type { ChunkRange } from './chunk-ranges.ts';
import type { Task, TaskPage } from './task.ts';
import { costOfPage } from './task-cost.ts';

export interface TaskSizes {
  /** Size up to which a query is scanned by the thread that plans it. */
  readonly inlineBytes: number;
  readonly minTaskBytes: number;
  readonly maxTaskBytes: number;
  /** Target number of tasks for a large day: several per worker, so that all end at the same time. */
  readonly tasksOfDay: number;
  /**
   * Footer bytes from which on workers plan the chunks that they scan (chunk-ranges.ts). Decoded footers are
   * four times as large, and decoding takes 0.1 s per 10 MB.
   */
  readonly plannedByWorkersFrom: number;
  /**
   * Tasks of a query that the query function merges itself. Later ones are merged by workers if the first ones have
   * large results (merge-chunks.ts).
   */
  readonly mergedFrom: number;
  /** Tasks whose results a worker merges. */
  readonly mergedTasks: number;
  /** Size of a large result. */
  readonly largeResultBytes: number;
  /** Maximum chunks that share time with a range that a worker plans. Default: as in chunk-days.ts. */
  readonly maxNeighbors?: number;
  /** Maximum footers of a day that the query function plans because of that. Default: as in day-slices.ts. */
  readonly maxFooterBytesHere?: number;
}

const MIB = 1024 * 1024;

export const TASK_SIZES: TaskSizes = Object.freeze({
  // 10 to 80 ms in time slices of one page. Dashboard panels are answered inline, if their pages are cached.
  inlineBytes: 16 * MIB,
  // A task and its result cost 1 ms of CPU. That equals filtering 2 to 4 MiB of cached lines, and is a tenth
  // of unpacking 16 MiB.
  minTaskBytes: 16 * MIB,
  // A second or less of work, which is the maximum that is lost if a task is canceled or its worker dies.
  maxTaskBytes: 64 * MIB,
  tasksOfDay: 32,
  // Threads share the memory of the process.
  plannedByWorkersFrom: Infinity,
  mergedFrom: Infinity,
  mergedTasks: 1,
  largeResultBytes: Infinity,
});

/** Tasks that a worker merges: it waits for them, which is a sixteenth of their cost. */
export const MERGED_TASKS = 16;

/**
 * Returns sizes for workers that are functions. A call takes 20 ms and a cold one 0.5 s, so tasks are larger.
 * There are as many as workers, until each is 1 to 2 s of work. A TB is 1,900 tasks.
 */
export function functionTaskSizes(workers: number): TaskSizes {
  return {
    inlineBytes: TASK_SIZES.inlineBytes,
    minTaskBytes: 32 * MIB,
    maxTaskBytes: 512 * MIB,
    tasksOfDay: workers,
    // Footers of 48 GB of lines. Below this, pages divide evenly among workers, and chunks would not.
    plannedByWorkersFrom: 64 * MIB,
    mergedFrom: workers,
    mergedTasks: MERGED_TASKS,
    // Decoding and merging it takes as long as a call of a worker.
    largeResultBytes: 64 * 1024,
  };
}

/** Consecutive pages of one plan. */
interface TaskPages {
  readonly pages: readonly PlannedPage[];
  readonly bytes: number;
}

/** Returns the maximum size of the tasks of a day. @param total bytes decoded for the day */
export function taskBytesOf(
  total: number,
  { minTaskBytes, maxTaskBytes, tasksOfDay }: Pick<TaskSizes, 'minTaskBytes' | 'maxTaskBytes' | 'tasksOfDay'>,
): number {
  return Math.min(maxTaskBytes, Math.max(minTaskBytes, total / tasksOfDay));
}

export function cutIntoTasks(
  pages: readonly PlannedPage[],
  readsLines: boolean,
  sizes: TaskSizes = TASK_SIZES,
): TaskPages[] {
  let total = 0;
  for (const page of pages) total += costOfPage(page, readsLines);
  const count = Math.max(1, Math.ceil(total / taskBytesOf(total, sizes)));
  const tasks: TaskPages[] = [];
  let from = 0;
  let bytes = 0;
  let cut = 0;
  for (let i = 0; i < pages.length; i++) {
    bytes += costOfPage(pages[i], readsLines);
    // Cut when a share of the total is full, so that the last task is not smaller than the others.
    if (cut + bytes < ((tasks.length + 1) * total) / count && i < pages.length - 1) continue;
    tasks.push({ pages: pages.slice(from, i + 1), bytes });
    from = i + 1;
    cut += bytes;
    bytes = 0;
  }
  return tasks;
}

interface ChunkTaskParts {
  readonly tenant: string;
  readonly isLabeled: boolean;
  readonly visible: Visible;
  readonly day: number;
  readonly from: number;
  readonly to: number;
  /** Whether the query counts what the day index has (index-counts.ts). */
  readonly counts: boolean;
  readonly indexes: readonly IndexRecord[];
}

/** Neighbors of a range from which on the day index shows which of them matter. */
const MANY_NEIGHBORS = 16;

/** Creates a task that its worker plans. */
export function chunkTask(
  { tenant, isLabeled, visible, day, from, to, counts, indexes }: ChunkTaskParts,
  { own, neighbors }: ChunkRange,
  request: Task['request'],
  { maxBytes, parts = 1 }: { readonly maxBytes: number; readonly parts?: number },
): Task {
  const isRetained = keptOfDay(visible, day) === undefined;
  const records = [...own, ...neighbors];
  return {
    tenant,
    isLabeled,
    request,
    day,
    from,
    to,
    isUneven: false,
    nowNs: isRetained ? 0n : visible.nowNs,
    retention: isRetained ? NO_RETENTION : visible.retention.definition,
    deletes: deletesOf(visible, day),
    records,
    pages: [],
    neighbors: [],
    indexes: counts || neighbors.length > MANY_NEIGHBORS ? indexesOf(records, indexes) : [],
    plannedByWorker: { own: own.length, maxBytes, parts },
  };
}

/** Returns the requests that may hide something of the day. */
function deletesOf({ deleteFilters }: Visible, day: number): Task['deletes'] {
  const dayStartNs = BigInt(day) * NS_PER_DAY;
  return (deleteFilters?.definitions ?? []).filter(
    ({ startNs, endNs }) => startNs < dayStartNs + NS_PER_DAY && endNs >= dayStartNs,
  );
}

interface TaskMaker {
  /** Creates a task for `pages` of the plan. */
  make(pages: readonly PlannedPage[], request: Task['request']): Task;
}

interface TaskMakerParts {
  readonly tenant: string;
  readonly isLabeled: boolean;
  readonly plan: DayPlan;
  readonly overlaps: Overlaps;
  readonly visible: Visible;
}

/**
 * Creates tasks of one plan. Call it before the plan's overlaps are resolved, because neighbors are known
 * only until then.
 */
export function taskMaker({ tenant, isLabeled, plan, overlaps, visible }: TaskMakerParts): TaskMaker {
  const { day, from, to, isUneven } = plan;
  const pageIndexes = new Map<Footer, Map<PageMeta, number>>();
  const common = {
    tenant,
    isLabeled,
    day,
    from,
    to,
    isUneven,
    // If nothing of the day expires, no rules are sent, so that equal tasks are equal at any time.
    nowNs: plan.kept === undefined ? 0n : visible.nowNs,
    retention: plan.kept === undefined ? NO_RETENTION : visible.retention.definition,
    deletes: deletesOf(visible, day),
  };

  function pageIndexOf({ footer, page }: PlannedPage): number {
    let ofFooter = pageIndexes.get(footer);
    if (ofFooter === undefined) {
      ofFooter = new Map(footer.pages.map((one, i) => [one, i]));
      pageIndexes.set(footer, ofFooter);
    }
    return ofFooter.get(page)!;
  }

  return {
    make(pages, request) {
      const records = new Map<PlannedPage['record'], number>();
      const asTaskPage = (planned: PlannedPage): TaskPage => {
        const { record } = planned;
        if (!records.has(record)) records.set(record, records.size);
        return { record: records.get(record)!, page: pageIndexOf(planned), runs: runIndexes(planned) };
      };
      const own = new Set(pages);
      const outside = new Set<PlannedPage>();
      for (const page of pages) {
        for (const neighbor of overlaps.neighborsOf(page)) if (!own.has(neighbor)) outside.add(neighbor);
      }
      const scanned = pages.map(asTaskPage);
      const neighbors = [...outside].map(asTaskPage);
      return { ...common, request, records: [...records.keys()], pages: scanned, neighbors, indexes: [] };
    },
  };
}

const NO_RETENTION: Task['retention'] = Object.freeze({ retentionPeriodNs: 0n, retentionStream: [] });

/**
 * Returns the indexes of the planned runs among the page's, or undefined if they are all. Both are in row
 * order.
 */
function runIndexes({ page, runs }: PlannedPage): number[] | undefined {
  if (runs.length === page.runs.length) return undefined;
  const found: number[] = [];
  let next = 0;
  for (let i = 0; i < page.runs.length && next < runs.length; i++) {
    if (page.runs[i] === runs[next]) {
      found.push(i);
      next++;
    }
  }
  return found;
}

/** Equal for tasks that start with the same page of the same chunk. */
export function affinityOf([{ record, page }]: readonly PlannedPage[]): number {
  return crc32(`${record.id}/${page.offset}`);
}
