/**
 * Plans the next merges of a day. There are three windows, by the time of a chunk's last entry: 5 minutes,
 * the hour and the day. A closed window is merged once, from the outputs of smaller windows. The newest
 * minutes stay cheap to read while they are written: pushes that fill a merge are merged as final chunks at
 * once, until the hour is over. So are 8 MiB of lines a few seconds later, and a page of lines a few
 * seconds after the last push, if a process counts them. Many small pushes of one size are merged as drafts.
 *
 * Large tenants are divided by hash of stream, too: merges of their pushes write a chunk for each part of the
 * streams (window-parts.ts), and later merges have chunks of one part each.
 *
 * Rewriting costs: a large chunk is not merged until the chunks next to it have a third of its size. So a
 * byte is rewritten a few times in all, and late pushes are merged with each other first.
 */

import { MS_PER_HOUR, NS_OF_MINUTE, NS_PER_DAY, NS_PER_MS } from '../../base/model/time-units.ts';
import { startedMsOf } from '../../storage/catalog/chunk-id.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { MAX_REMOVED_CHUNKS, MAX_SWAPPED_CHUNKS } from '../../storage/catalog/swap.ts';
import { fittingInputs } from './merge-bounds.ts';
import {
  DRAFT_LEVEL,
  FINAL_LEVEL,
  isUnfinished,
  MERGE_SIZES,
  type MergeSizes,
  type Quality,
} from './merge-sizes.ts';
import { ChunkOrder } from './order-runs.ts';
import { groupsByPart, WindowParts } from './window-parts.ts';

interface MergeWindow {
  /** Level of the output of this window. */
  readonly level: number;
  readonly ns: number;
  /** Time after its end until the window counts as closed, for pushes that arrive late. */
  readonly closedAfterMs: number;
}

export const WINDOWS: readonly MergeWindow[] = [
  { level: 1, ns: 5 * NS_OF_MINUTE, closedAfterMs: 60_000 },
  { level: 2, ns: 60 * NS_OF_MINUTE, closedAfterMs: 600_000 },
  { level: 3, ns: 1440 * NS_OF_MINUTE, closedAfterMs: MS_PER_HOUR },
];

/** Maximum number of inputs of one merge: what a swap removes. Small ones are then encoded once, however many they are. */
export const MAX_INPUTS = MAX_REMOVED_CHUNKS;
/** The same for a distant store: a merge reads ahead from each input, and more inputs take more and smaller requests. */
export const DISTANT_MAX_INPUTS = MAX_SWAPPED_CHUNKS;
/** Pushed chunks that fill a merge of pushes. More would add work to each query before they are merged. */
export const FULL_CHUNKS = MAX_SWAPPED_CHUNKS;
/**
 * Raw bytes of lines that fill a merge of pushes, as FULL_CHUNKS does. More would wait longer without a lower
 * cost per byte. A merge that writes parts of the streams has as many times more, for chunks of the same size.
 */
export const FULL_LINE_BYTES = 64 * 1024 * 1024;
/** Chunks of one size class in 5 open minutes that make a merge, with the smaller ones between them. */
const PILE = 32;
/** Size classes are powers of 8 from here, bytes: merging a pile raises its bytes by at least one class. */
const FIRST_CLASS_BYTES = 16 * 1024;
const CLASS_FACTOR = 8;
/** A chunk joins a merge in a closed window if the smaller ones together have a third of its size. */
const LARGEST_SHARE = 3;

/**
 * Age from which an unforced merge includes pushes, ms. A push that began before them and is not committed
 * yet would otherwise be ordered after the whole output of that merge.
 */
export const SETTLE_MS = 1_000;
/** The same for a distant store, where a slow put takes seconds. */
export const DISTANT_SETTLE_MS = 3_000;
/**
 * Time that pushes which make a final chunk wait for more, ms. With SETTLE_MS and a second for the merge, lines that
 * are 5 s old are merged, or only a few. Pushes that arrive meanwhile join the merge, so it is larger at higher rates.
 */
export const MERGE_WAIT_MS = 2_000;
/**
 * Time without a push after which a tenant's pushes are merged, ms: longer than most collectors keep a batch (1 to 5 s), so
 * that a merge takes what a tenant pushes in one go. Silence is noticed after one to two times as long.
 */
export const SILENCE_MS = 5_000;

export interface MergePlanOptions {
  /** Target size of a chunk, stored bytes. Chunks of half of it are not merged. */
  readonly targetBytes: number;
  readonly nowMs: number;
  /** Merges what exists now, also in windows that are open. */
  readonly force: boolean;
  /**
   * Only pushes: those that fill merges, and the remaining ones as a final chunk if they fill a page. That is all that
   * a process that counts pushes requests, when they have waited long enough (full-merges.ts). Default: false.
   */
  readonly onlyPushes?: boolean;
  /**
   * Merges chunks in their largest closed window, and in smaller ones only if nothing is left to do there. So late
   * pushes are encoded once. Otherwise, many functions merge the smaller windows at the same time. Default: false.
   */
  readonly largestFirst?: boolean;
  /**
   * Whether merges of large tenants divide the streams into parts. A single process gains nothing by it. Default:
   * false.
   */
  readonly dividesStreams?: boolean;
  /** Age at which pushes are merged, ms. Default: SETTLE_MS. */
  readonly settleMs?: number;
  /** Default: MAX_INPUTS. */
  readonly maxInputs?: number;
  /** Returns false for a chunk that must not be merged. Default: all may be merged. */
  mayMerge?(record: ChunkRecord): boolean;
  /** Default: `MERGE_SIZES`. */
  readonly mergeSizes?: MergeSizes | undefined;
}

export interface PlannedMerge {
  readonly level: number;
  /** Inputs by age, so that merging them changes no order (order-runs.ts). A single input is encoded better. */
  readonly inputs: readonly ChunkRecord[];
  readonly quality: Quality;
  /** Number of parts that all streams are divided into, a power of two: each gets an output. Default: 1. */
  readonly parts?: number;
}

/** What planning a day looks at. */
interface DayPlan extends MergePlanOptions {
  readonly mergeSizes: MergeSizes;
  readonly order: ChunkOrder;
  /** Undefined if streams are not divided. */
  readonly windowParts: WindowParts | undefined;
}

/**
 * Returns the next merges of a day, the newest windows first, or none if there is nothing to do now. No two
 * have a common input, and they can run in any order. Usually there are more after them. @param all chunks of
 * the day
 */
export function planMerges(
  day: number,
  all: readonly ChunkRecord[],
  options: MergePlanOptions,
): readonly PlannedMerge[] {
  const records = all.filter(record => options.mayMerge?.(record) !== false);
  const settled = options.force
    ? records
    : records.filter(record => settlesMs(record, options) <= options.nowMs);
  const small = settled.filter(({ storedBytes }) => storedBytes < options.targetBytes / 2);
  const last = WINDOWS[WINDOWS.length - 1];
  const { mergeSizes = MERGE_SIZES, dividesStreams = false } = options;
  const windowParts = dividesStreams ? new WindowParts(all, mergeSizes) : undefined;
  const plan: DayPlan = { ...options, mergeSizes, order: new ChunkOrder(all), windowParts };
  if (options.force) {
    const merges = closedDay(small, plan);
    return merges.length > 0 ? merges : finishing(records, options);
  }
  const { onlyPushes = false } = options;
  const ofPushes = groupsOf(WINDOWS[0], small).flatMap(([, group]) =>
    mergesOfPushes(group, plan, onlyPushes ? options.nowMs : undefined),
  );
  if (ofPushes.length > 0 || onlyPushes) return ofPushes;
  const isOver = isClosed(day, last, 0, options.nowMs);
  for (const [i, window] of WINDOWS.entries()) {
    const larger = WINDOWS.slice(i + 1);
    const isLeft = ({ last }: ChunkRecord) =>
      options.largestFirst === true &&
      larger.some(one => isClosed(day, one, Math.floor(last / one.ns), options.nowMs));
    const ofWindow = small.filter(record => record.level <= window.level && !isLeft(record));
    const isLast = window === last && isOver;
    const merges = isLast
      ? closedDay(ofWindow, plan)
      : groupsOf(window, ofWindow).flatMap(([index, group]) => {
          if (isClosed(day, window, index, options.nowMs)) return closedMerges(window, group, plan);
          return window.level === DRAFT_LEVEL ? pileMerges(group, plan) : [];
        });
    if (merges.length === 0) continue;
    // Late pushes to an old day: no later chunk comes that the output could be merged with.
    const isAll = isOver && merges[0].inputs.length === records.length;
    return isAll ? [finished(merges[0])] : merges;
  }
  if (options.largestFirst === true) return planMerges(day, all, { ...options, largestFirst: false });
  return isOver && settled.length === records.length ? finishing(records, options) : [];
}

/** Unix ms from which on no push that began before this one is expected to be committed. */
function settlesMs({ level, id }: ChunkRecord, { settleMs = SETTLE_MS }: MergePlanOptions): number {
  return level > 0 ? -Infinity : startedMsOf(id) + settleMs;
}

/** Nothing is left to merge them with: drafts are encoded again, each alone. */
function finishing(
  records: readonly ChunkRecord[],
  { mergeSizes = MERGE_SIZES }: MergePlanOptions,
): readonly PlannedMerge[] {
  return records
    .filter(record => isUnfinished(record, mergeSizes))
    .map(draft => finished({ inputs: [draft] }));
}

function finished({ inputs }: Pick<PlannedMerge, 'inputs'>): PlannedMerge {
  return { level: WINDOWS[WINDOWS.length - 1].level, inputs, quality: 'final' };
}

/** Returns true if no merge will be planned for the day without a push. */
export function isSettled(day: number, records: readonly ChunkRecord[], options: MergePlanOptions): boolean {
  const last = WINDOWS[WINDOWS.length - 1];
  if (!isClosed(day, last, 0, options.nowMs)) return false;
  return (
    records.every(record => settlesMs(record, options) <= options.nowMs) &&
    planMerges(day, records, options).length === 0
  );
}

/**
 * Unix ms from which on time alone can give `planMerges` work that it did not have at `nowMs`: when the next
 * window with two or more chunks closes, or when a push settles. Infinity if only a push can.
 */
export function nextClosingMs(
  day: number,
  records: readonly ChunkRecord[],
  options: MergePlanOptions,
): number {
  const { targetBytes, nowMs, mayMerge: mayBeMerged = () => true } = options;
  const small = records.filter(one => mayBeMerged(one) && one.storedBytes < targetBytes / 2);
  // With any chunk to merge: when the day closes, it is settled and removed from the list.
  const overMs = closingMs(day, WINDOWS[WINDOWS.length - 1], 0);
  let next = overMs > nowMs ? overMs : Infinity;
  for (const record of records) {
    const settles = settlesMs(record, options);
    if (settles > nowMs) next = Math.min(next, settles);
  }
  for (const window of WINDOWS) {
    for (const [index] of groupsOf(window, small)) {
      const closing = closingMs(day, window, index);
      if (closing > nowMs) next = Math.min(next, closing);
    }
  }
  return next;
}

/** Groups by window and part of the streams, newest windows first, each with the index of its window. */
function groupsOf({ ns }: MergeWindow, records: readonly ChunkRecord[]): [number, ChunkRecord[]][] {
  const windows = Map.groupBy(records, ({ last }) => Math.floor(last / ns));
  return [...windows]
    .sort((a, b) => b[0] - a[0])
    .flatMap(([index, ofWindow]) =>
      groupsByPart(ofWindow)
        .filter(({ length }) => length > 1)
        .map((group): [number, ChunkRecord[]] => [index, group]),
    );
}

function isClosed(day: number, window: MergeWindow, index: number, nowMs: number): boolean {
  return closingMs(day, window, index) <= nowMs;
}

/** Unix ms. */
function closingMs(day: number, { ns, closedAfterMs }: MergeWindow, index: number): number {
  const dayStartMs = Number((BigInt(day) * NS_PER_DAY) / NS_PER_MS);
  return dayStartMs + ((index + 1) * ns) / Number(NS_PER_MS) + closedAfterMs;
}

/**
 * Merges of the whole day. What is left of several parts is merged together in the end, so that parts leave no more small chunks
 * than there would be without them.
 */
function closedDay(records: readonly ChunkRecord[], plan: DayPlan): readonly PlannedMerge[] {
  const window = WINDOWS[WINDOWS.length - 1];
  const merges = groupsOf(window, records).flatMap(([, group]) => closedMerges(window, group, plan));
  return merges.length > 0 ? merges : closedMerges(window, records, plan);
}

/** Merges of a closed window, the oldest run first. */
function closedMerges(
  { level }: MergeWindow,
  group: readonly ChunkRecord[],
  plan: DayPlan,
): readonly PlannedMerge[] {
  return plan.order
    .runs(group)
    .flatMap(worthMerging)
    .map(part => {
      const most = Math.max(2, Math.min(plan.maxInputs ?? MAX_INPUTS, fittingInputs(part)));
      return mergeOf(level, part, plan, firstOf(part.length, most));
    });
}

/**
 * Returns the number of inputs of the first of several merges with up to `most` inputs each, so that all others are full.
 * The last one, which has the large chunks among its inputs, then has as many as it can that were in no merge before.
 */
function firstOf(chunks: number, most: number): number {
  return chunks <= most ? chunks : ((chunks - 2) % (most - 1)) + 2;
}

/**
 * Returns full merges of the pushes of a window, the oldest first. The remaining pushes wait for more.
 * @param nowMs if given, the remaining pushes waited long enough: they are merged if they make a final chunk, or if they fill a
 * page and no more came. A tenant that pushes all the time would otherwise get a small chunk after each full one.
 */
function mergesOfPushes(
  group: readonly ChunkRecord[],
  plan: DayPlan,
  nowMs: number | undefined,
): readonly PlannedMerge[] {
  const { mergeSizes, order, windowParts, targetBytes } = plan;
  const merges: PlannedMerge[] = [];
  const fullBytes = FULL_LINE_BYTES * (windowParts?.mostAt(group[0].last) ?? 1);
  for (const run of order.runs(group.filter(({ level }) => level === 0))) {
    let [from, lineBytes, storedBytes] = [0, 0, 0];
    for (let to = 1; to <= run.length; to++) {
      lineBytes += run[to - 1].lineBytes;
      storedBytes += run[to - 1].storedBytes;
      const isFull = lineBytes >= fullBytes || (lineBytes >= FULL_LINE_BYTES && storedBytes >= targetBytes);
      if (to - from < FULL_CHUNKS && (to - from < 2 || !isFull)) continue;
      const inputs = run.slice(from, to);
      merges.push(
        lineBytes < mergeSizes.finalFromBytes
          ? { level: DRAFT_LEVEL, inputs, quality: 'draft' }
          : finalOfPushes(FINAL_LEVEL, inputs, plan),
      );
      [from, lineBytes, storedBytes] = [to, 0, 0];
    }
    const rest = run.slice(from);
    if (nowMs === undefined || rest.length < 2) continue;
    const isSilent = rest.every(({ id }) => startedMsOf(id) + SILENCE_MS <= nowMs);
    if (lineBytes >= (isSilent ? mergeSizes.finalFromBytes : mergeSizes.awaitedBytes)) {
      merges.push(finalOfPushes(FINAL_LEVEL, rest, plan));
    }
  }
  return merges;
}

/** @param inputs pushes and drafts */
function finalOfPushes(
  level: number,
  inputs: readonly ChunkRecord[],
  { windowParts }: DayPlan,
): PlannedMerge {
  const merge = { level, inputs, quality: 'final' } as const;
  const parts = windowParts?.of(inputs) ?? 1;
  return parts === 1 ? merge : { ...merge, parts };
}

/**
 * Returns the piles of the smallest size class that has one: PILE chunks of the class, and the smaller ones
 * between them. Pushes that would make a final chunk wait until they fill a merge, or are requested.
 */
function pileMerges(group: readonly ChunkRecord[], plan: DayPlan): readonly PlannedMerge[] {
  if (group.length < PILE) return [];
  const classes = new Set(group.map(({ storedBytes }) => classOf(storedBytes)));
  for (const sizeClass of [...classes].sort((a, b) => a - b)) {
    const isOf = ({ storedBytes }: ChunkRecord) => classOf(storedBytes) === sizeClass;
    if (group.filter(isOf).length < PILE) continue;
    const upTo = group.filter(({ storedBytes }) => classOf(storedBytes) <= sizeClass);
    const merges = plan.order
      .runs(upTo)
      .filter(run => run.filter(isOf).length >= PILE)
      .map(pile => mergeOf(DRAFT_LEVEL, pile, plan, Math.min(pile.length, FULL_CHUNKS)))
      .filter(({ quality, inputs }) => quality === 'draft' || inputs.some(({ level }) => level > 0));
    if (merges.length > 0) return merges;
  }
  return [];
}

/**
 * Returns parts of a run, of two or more chunks each, without a chunk that is too large for the rest of its
 * part.
 */
function worthMerging(run: readonly ChunkRecord[]): (readonly ChunkRecord[])[] {
  if (run.length < 2) return [];
  const largest = indexOfLargest(run);
  const { storedBytes } = run[largest];
  if (storedBytes <= LARGEST_SHARE * (bytesOf(run) - storedBytes)) return [run];
  return [...worthMerging(run.slice(0, largest)), ...worthMerging(run.slice(largest + 1))];
}

/**
 * @param part a run of at least two chunks, worth merging @param count how many of them, if their bytes allow
 * it
 */
function mergeOf(level: number, part: readonly ChunkRecord[], plan: DayPlan, count: number): PlannedMerge {
  const { targetBytes, mergeSizes } = plan;
  const inputs = cheapest(part, count, targetBytes);
  const bytes = bytesOf(inputs);
  const highest = Math.max(...inputs.map(input => input.level));
  if (highest <= DRAFT_LEVEL) {
    // There were too many for one merge, and what is left is large enough for the output to join the next
    // ones.
    const left = bytesOf(part) - bytes;
    const joinsNext = inputs.length < part.length && bytes < targetBytes / 2 && bytes <= LARGEST_SHARE * left;
    const lineBytes = inputs.reduce((sum, input) => sum + input.lineBytes, 0);
    if (joinsNext || (level === DRAFT_LEVEL && lineBytes < mergeSizes.finalFromBytes)) {
      return { level: DRAFT_LEVEL, inputs, quality: 'draft' };
    }
    return finalOfPushes(Math.max(level, FINAL_LEVEL), inputs, plan);
  }
  return { level: Math.max(level, highest, FINAL_LEVEL), inputs, quality: 'final' };
}

/**
 * Returns the `count` consecutive chunks with the fewest bytes, or fewer if they exceed the target. So large
 * chunks, including outputs of earlier merges, are rewritten last.
 */
function cheapest(part: readonly ChunkRecord[], count: number, targetBytes: number): readonly ChunkRecord[] {
  let bytes = bytesOf(part.slice(0, count));
  let [best, fewest] = [0, bytes];
  for (let from = 1; from + count <= part.length; from++) {
    bytes += part[from + count - 1].storedBytes - part[from - 1].storedBytes;
    if (bytes < fewest) [best, fewest] = [from, bytes];
  }
  let inputs = part.slice(best, best + count);
  while (inputs.length > 2 && bytesOf(inputs) > targetBytes) {
    const isLastLarger = inputs[inputs.length - 1].storedBytes > inputs[0].storedBytes;
    inputs = isLastLarger ? inputs.slice(0, -1) : inputs.slice(1);
  }
  return inputs;
}

function bytesOf(records: readonly ChunkRecord[]): number {
  let bytes = 0;
  for (const { storedBytes } of records) bytes += storedBytes;
  return bytes;
}

function indexOfLargest(records: readonly ChunkRecord[]): number {
  let largest = 0;
  for (let i = 1; i < records.length; i++) {
    if (records[i].storedBytes > records[largest].storedBytes) largest = i;
  }
  return largest;
}

function classOf(bytes: number): number {
  return Math.max(0, Math.ceil(Math.log(bytes / FIRST_CLASS_BYTES) / Math.log(CLASS_FACTOR)));
}
