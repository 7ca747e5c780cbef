/**
 * Which chunks of a day to merge next. Three windows, by the time of a chunk's last entry: 5 minutes, the hour, the day.
 * A window that is closed is packed once; an open one is packed where many chunks of a size pile up, so that the newest
 * minutes stay cheap to read while they are written.
 *
 * Rewriting costs: a large chunk is left alone until what has come beside it is worth it (a third of its size), so a
 * byte is rewritten a few times in all, and late pushes merge among themselves first.
 */
import type { ChunkRecord } from '../catalog/chunk-record.ts';
import { MAX_SWAPPED_CHUNKS } from '../catalog/swap.ts';
import { NS_PER_DAY, NS_PER_MS } from '../model/duration.ts';
import { DRAFT_LEVEL, isUnfinished, PACKING, type Packing, type Quality } from './packing.ts';

const NS_OF_MINUTE = 60_000_000_000;

interface Window {
  /** Level of what is merged here. */
  readonly level: number;
  readonly ns: number;
  /** After its end, until it counts as closed: time for pushes that come late. */
  readonly closedAfterMs: number;
}

export const WINDOWS: readonly Window[] = [
  { level: 1, ns: 5 * NS_OF_MINUTE, closedAfterMs: 60_000 },
  { level: 2, ns: 60 * NS_OF_MINUTE, closedAfterMs: 600_000 },
  { level: 3, ns: 1440 * NS_OF_MINUTE, closedAfterMs: 3_600_000 },
];

/** Inputs of one merge: each holds a page and a read while it lasts. */
export const MAX_INPUTS = MAX_SWAPPED_CHUNKS;
/** Chunks of one size class in an open window that make a merge. */
const PILE = 32;
/** Size classes are powers of 8 from here, bytes: merging a pile lifts its bytes by a class at least. */
const FIRST_CLASS_BYTES = 16 * 1024;
const CLASS_FACTOR = 8;
/** A chunk joins a merge in a closed window where the smaller ones together have a third of its size. */
const LARGEST_SHARE = 3;

export interface PlanOptions {
  /** Stored bytes at which an output ends; chunks of half of it are left as they are. */
  readonly targetBytes: number;
  readonly nowMs: number;
  /** Pack what is there now, whatever is still open. */
  readonly force: boolean;
  /** Default PACKING. */
  readonly packing?: Packing;
}

export interface PlannedMerge {
  readonly level: number;
  /** One alone is packed better than it is. */
  readonly inputs: readonly ChunkRecord[];
  readonly quality: Quality;
}

/** The next merge of a day, the newest edge first; undefined where nothing is to do now. */
export function planMerge(
  day: number,
  records: readonly ChunkRecord[],
  options: PlanOptions,
): PlannedMerge | undefined {
  const small = records.filter(({ storedBytes }) => storedBytes < options.targetBytes / 2);
  const last = WINDOWS[WINDOWS.length - 1];
  if (options.force) return closedMerge(last, small, options) ?? finishing(records, options);
  const isOver = isClosed(day, last, 0, options.nowMs);
  for (const window of WINDOWS) {
    for (const [index, group] of groupsOf(window, small)) {
      const merge = isClosed(day, window, index, options.nowMs)
        ? closedMerge(window, group, options)
        : pileMerge(window, group, options);
      // Late pushes to an old day: nothing comes that the output could be joined with.
      if (merge !== undefined && isOver && merge.inputs.length === records.length) return finished(merge);
      if (merge !== undefined) return merge;
    }
  }
  return isOver ? finishing(records, options) : undefined;
}

/** Nothing is left to join it with: one that is no more than a draft is packed by itself. */
function finishing(
  records: readonly ChunkRecord[],
  { packing = PACKING }: PlanOptions,
): PlannedMerge | undefined {
  const draft = records.find(record => isUnfinished(record, packing));
  return draft && finished({ inputs: [draft] });
}

function finished({ inputs }: Pick<PlannedMerge, 'inputs'>): PlannedMerge {
  return { level: WINDOWS[WINDOWS.length - 1].level, inputs, quality: 'final' };
}

/** True where nothing will be planned for the day unless something is pushed to it. */
export function isSettled(day: number, records: readonly ChunkRecord[], options: PlanOptions): boolean {
  const last = WINDOWS[WINDOWS.length - 1];
  return isClosed(day, last, 0, options.nowMs) && planMerge(day, records, options) === undefined;
}

/**
 * Unix ms from which on time alone may give `planMerge` something that it did not have at `nowMs`: when the next window
 * with two chunks or more closes. Infinity where only a push can.
 */
export function nextClosingMs(
  day: number,
  records: readonly ChunkRecord[],
  { targetBytes, nowMs }: PlanOptions,
): number {
  const small = records.filter(({ storedBytes }) => storedBytes < targetBytes / 2);
  // Whatever there is to pack: when the day closes it is settled, and leaves the list.
  const settlesMs = closingMs(day, WINDOWS[WINDOWS.length - 1], 0);
  let next = settlesMs > nowMs ? settlesMs : Infinity;
  for (const window of WINDOWS) {
    for (const [index] of groupsOf(window, small)) {
      const closing = closingMs(day, window, index);
      if (closing > nowMs) next = Math.min(next, closing);
    }
  }
  return next;
}

/** By window, newest first. */
function groupsOf({ ns }: Window, records: readonly ChunkRecord[]): [number, ChunkRecord[]][] {
  const groups = new Map<number, ChunkRecord[]>();
  for (const record of records) {
    const index = Math.floor(record.last / ns);
    const group = groups.get(index);
    if (group === undefined) groups.set(index, [record]);
    else group.push(record);
  }
  return [...groups].filter(([, { length }]) => length > 1).sort((a, b) => b[0] - a[0]);
}

function isClosed(day: number, window: Window, index: number, nowMs: number): boolean {
  return closingMs(day, window, index) <= nowMs;
}

/** Unix ms. */
function closingMs(day: number, { ns, closedAfterMs }: Window, index: number): number {
  const dayStartMs = Number((BigInt(day) * NS_PER_DAY) / NS_PER_MS);
  return dayStartMs + ((index + 1) * ns) / Number(NS_PER_MS) + closedAfterMs;
}

/** All of a closed window, smallest first, without chunks that are too large for the rest to matter. */
function closedMerge(
  { level }: Window,
  group: readonly ChunkRecord[],
  options: PlanOptions,
): PlannedMerge | undefined {
  const sorted = group.slice().sort(bySize);
  let rest = 0;
  for (const { storedBytes } of sorted) rest += storedBytes;
  while (sorted.length > 1) {
    const largest = sorted[sorted.length - 1].storedBytes;
    if (largest <= LARGEST_SHARE * (rest - largest)) break;
    rest -= largest;
    sorted.pop();
  }
  return mergeOf(level, sorted, options, firstOf(sorted.length));
}

/**
 * Inputs of the first merge of so many chunks: what is too many for all others to be full. So the last one, which has the
 * large ones among its inputs, has room for as many as it can that were in no merge before.
 */
function firstOf(chunks: number): number {
  return chunks <= MAX_INPUTS ? chunks : ((chunks - 2) % (MAX_INPUTS - 1)) + 2;
}

/** The smallest size class that has a pile. */
function pileMerge(
  { level }: Window,
  group: readonly ChunkRecord[],
  options: PlanOptions,
): PlannedMerge | undefined {
  const classes = new Map<number, ChunkRecord[]>();
  for (const record of group) {
    const sizeClass = classOf(record.storedBytes);
    const ofClass = classes.get(sizeClass);
    if (ofClass === undefined) classes.set(sizeClass, [record]);
    else ofClass.push(record);
  }
  for (const [, pile] of [...classes].sort((a, b) => a[0] - b[0])) {
    if (pile.length >= PILE) return mergeOf(level, pile.sort(byName), options);
  }
  return undefined;
}

function mergeOf(
  level: number,
  sorted: readonly ChunkRecord[],
  { targetBytes, packing = PACKING }: PlanOptions,
  maxInputs = MAX_INPUTS,
): PlannedMerge | undefined {
  const inputs: ChunkRecord[] = [];
  let bytes = 0;
  let lineBytes = 0;
  for (const record of sorted) {
    if (inputs.length === maxInputs || (inputs.length > 1 && bytes + record.storedBytes > targetBytes)) break;
    inputs.push(record);
    bytes += record.storedBytes;
    lineBytes += record.lineBytes;
  }
  if (inputs.length < 2) return undefined;
  const highest = Math.max(...inputs.map(input => input.level));
  if (highest <= DRAFT_LEVEL) {
    // There were too many for one merge, and what is left is enough for the output to join the next ones.
    let left = 0;
    for (let i = inputs.length; i < sorted.length; i++) left += sorted[i].storedBytes;
    const joinsNext = inputs.length === maxInputs && bytes < targetBytes / 2 && bytes <= LARGEST_SHARE * left;
    if (joinsNext || (level === DRAFT_LEVEL && lineBytes < packing.finalFromBytes)) {
      return { level: DRAFT_LEVEL, inputs, quality: 'draft' };
    }
  }
  return { level: Math.max(level, highest), inputs, quality: 'final' };
}

function classOf(bytes: number): number {
  return Math.max(0, Math.ceil(Math.log(bytes / FIRST_CLASS_BYTES) / Math.log(CLASS_FACTOR)));
}

function bySize(a: ChunkRecord, b: ChunkRecord): number {
  return a.storedBytes - b.storedBytes || byName(a, b);
}

/** By age. */
function byName(a: ChunkRecord, b: ChunkRecord): number {
  return a.id < b.id ? -1 : 1;
}
