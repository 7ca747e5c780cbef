/**
 * Cuts the pages of a day into tasks of even size. Pages keep their order, and a task takes a stretch of it, so that merging
 * answers in the order of the tasks is like one scan in the order of the pages. How a day is cut depends on the plan alone,
 * never on how many workers there are: neither do sums of floating-point numbers.
 */
import { crc32 } from 'node:zlib';
import { NS_PER_DAY } from '../../../base/model/duration.ts';
import type { Footer, PageMeta } from '../../../storage/chunk/format.ts';
import type { DayPlan, PlannedPage } from '../day-plan.ts';
import type { Overlaps } from '../overlaps.ts';
import { keptOfDay, type Visible } from '../visibility.ts';
import type { ChunkRange } from './chunk-ranges.ts';
import type { Task, TaskPage } from './task.ts';

export interface TaskSizes {
  /** Up to here a query is scanned where it is planned. */
  readonly inlineBytes: number;
  readonly minTaskBytes: number;
  readonly maxTaskBytes: number;
  /** Into so many tasks a day is cut where it is large enough: several for each worker, so that all end together. */
  readonly tasksOfDay: number;
  /**
   * From so many bytes of footers on, workers plan what they scan (chunk-ranges.ts). Footers take four times as much when decoded, and a
   * tenth of a second for 10 MB.
   */
  readonly plannedThereFrom: number;
}

const MIB = 1024 * 1024;

export const TASK_SIZES: TaskSizes = Object.freeze({
  // 10 to 80 ms in turns of one page; the answers of a dashboard's panels come from here, where pages are cached.
  inlineBytes: 16 * MIB,
  // Handing pages to another thread and their answer back costs 1 ms of CPU, as much as filtering 2 to 4 MiB of lines that
  // are cached, a tenth of unpacking 16 MiB.
  minTaskBytes: 16 * MIB,
  // A second or less of work: what is cancelled or lost with a worker is no more.
  maxTaskBytes: 64 * MIB,
  tasksOfDay: 32,
  // Threads share the memory of the process.
  plannedThereFrom: Infinity,
});

/**
 * For workers that are functions. A call takes 20 ms and a cold one half a second, so tasks are larger; as many as there are workers,
 * until each is a second or two of work. A TB is 1,900 tasks.
 */
export function functionTaskSizes(workers: number): TaskSizes {
  return {
    inlineBytes: TASK_SIZES.inlineBytes,
    minTaskBytes: 32 * MIB,
    maxTaskBytes: 512 * MIB,
    tasksOfDay: workers,
    // Those of 48 GB of lines: below, pages divide evenly among workers, and chunks would not.
    plannedThereFrom: 64 * MIB,
  };
}

/** What a row costs beside its line, bytes: its time, its place in columns of metadata. */
const BYTES_PER_ROW = 16;

/** A stretch of the pages of one plan. */
export interface TaskPages {
  readonly pages: readonly PlannedPage[];
  readonly bytes: number;
}

/** What is decoded for a page, roughly, bytes. */
export function costOf({ page }: PlannedPage, readsLines: boolean): number {
  return page.rows * BYTES_PER_ROW + (readsLines ? page.lineBytes : 0);
}

export function cutIntoTasks(
  pages: readonly PlannedPage[],
  readsLines: boolean,
  { minTaskBytes, maxTaskBytes, tasksOfDay }: TaskSizes = TASK_SIZES,
): TaskPages[] {
  let total = 0;
  for (const page of pages) total += costOf(page, readsLines);
  const most = Math.min(maxTaskBytes, Math.max(minTaskBytes, total / tasksOfDay));
  const count = Math.max(1, Math.ceil(total / most));
  const tasks: TaskPages[] = [];
  let from = 0;
  let bytes = 0;
  let cut = 0;
  for (let i = 0; i < pages.length; i++) {
    bytes += costOf(pages[i], readsLines);
    // Cut where a share of the whole is full, so that the last task is no smaller than the others.
    if (cut + bytes < ((tasks.length + 1) * total) / count && i < pages.length - 1) continue;
    tasks.push({ pages: pages.slice(from, i + 1), bytes });
    from = i + 1;
    cut += bytes;
    bytes = 0;
  }
  return tasks;
}

export interface ChunkTaskParts {
  readonly tenant: string;
  readonly isLabelled: boolean;
  readonly visible: Visible;
  readonly day: number;
  readonly from: number;
  readonly to: number;
}

/** A task that its worker plans. */
export function chunkTask(
  { tenant, isLabelled, visible, day, from, to }: ChunkTaskParts,
  { own, neighbours }: ChunkRange,
  ask: Task['ask'],
  maxBytes: number,
): Task {
  const isKept = keptOfDay(visible, day) === undefined;
  return {
    tenant,
    isLabelled,
    ask,
    day,
    from,
    to,
    isUneven: false,
    nowNs: isKept ? 0n : visible.nowNs,
    retention: isKept ? NO_RETENTION : visible.retention.definition,
    deletes: deletesOf(visible, day),
    records: [...own, ...neighbours],
    pages: [],
    neighbours: [],
    plannedThere: { own: own.length, maxBytes },
  };
}

/** Those that may hide something of the day. */
function deletesOf({ masks }: Visible, day: number): Task['deletes'] {
  const dayStartNs = BigInt(day) * NS_PER_DAY;
  return (masks?.definitions ?? []).filter(
    ({ startNs, endNs }) => startNs < dayStartNs + NS_PER_DAY && endNs >= dayStartNs,
  );
}

export interface TaskMaker {
  /** `pages` of the plan as a task that asks `ask`. */
  make(pages: readonly PlannedPage[], ask: Task['ask']): Task;
}

export interface TaskMakerParts {
  readonly tenant: string;
  readonly isLabelled: boolean;
  readonly plan: DayPlan;
  readonly overlaps: Overlaps;
  readonly visible: Visible;
}

/** Makes tasks of one plan. Neighbours of pages are known until the plan's own overlaps are resolved. */
export function taskMaker({ tenant, isLabelled, plan, overlaps, visible }: TaskMakerParts): TaskMaker {
  const { day, from, to, isUneven } = plan;
  const places = new Map<Footer, Map<PageMeta, number>>();
  const common = {
    tenant,
    isLabelled,
    day,
    from,
    to,
    isUneven,
    // Where nothing of the day expires there are no rules to look at, and equal tasks are equal whenever they are asked.
    nowNs: plan.kept === undefined ? 0n : visible.nowNs,
    retention: plan.kept === undefined ? NO_RETENTION : visible.retention.definition,
    deletes: deletesOf(visible, day),
  };

  function placeOf({ footer, page }: PlannedPage): number {
    let ofFooter = places.get(footer);
    if (ofFooter === undefined) {
      ofFooter = new Map(footer.pages.map((one, i) => [one, i]));
      places.set(footer, ofFooter);
    }
    return ofFooter.get(page)!;
  }

  return {
    make(pages, ask) {
      const records = new Map<PlannedPage['record'], number>();
      const asTaskPage = (planned: PlannedPage): TaskPage => {
        const { record } = planned;
        if (!records.has(record)) records.set(record, records.size);
        return { record: records.get(record)!, page: placeOf(planned), runs: runPlaces(planned) };
      };
      const own = new Set(pages);
      const beside = new Set<PlannedPage>();
      for (const page of pages) {
        for (const neighbour of overlaps.neighboursOf(page)) if (!own.has(neighbour)) beside.add(neighbour);
      }
      const scanned = pages.map(asTaskPage);
      const neighbours = [...beside].map(asTaskPage);
      return { ...common, ask, records: [...records.keys()], pages: scanned, neighbours };
    },
  };
}

const NO_RETENTION: Task['retention'] = Object.freeze({ retentionPeriodNs: 0n, retentionStream: [] });

/** Places of the planned runs among the page's; undefined where they are all. Both are in row order. */
function runPlaces({ page, runs }: PlannedPage): number[] | undefined {
  if (runs.length === page.runs.length) return undefined;
  const places: number[] = [];
  let next = 0;
  for (let i = 0; i < page.runs.length && next < runs.length; i++) {
    if (page.runs[i] === runs[next]) {
      places.push(i);
      next++;
    }
  }
  return places;
}

/** Equal for tasks that begin with the same page of the same chunk. */
export function affinityOf([{ record, page }]: readonly PlannedPage[]): number {
  return crc32(`${record.id}/${page.offset}`);
}
