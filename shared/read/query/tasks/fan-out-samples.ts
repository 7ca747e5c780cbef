/** Fans out the pages of a range aggregation to workers, and merges their partial results. */
import { crc32 } from 'node:zlib';
import { invariant } from '../../../base/model/errors.ts';
import type { Leaf } from '../../../execution/metrics/plan.ts';
import { RangeAccumulator } from '../../../execution/metrics/range-accumulator.ts';
import type { RangeOp } from '../../../language/logql/ast.ts';
import { formatExpr } from '../../../language/logql/printer.ts';
import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';
import { type DayRecords, insideDay, type TimeRange } from '../day-plan.ts';
import type { MetricScan, PagesOfPlan } from '../metric-scan.ts';
import { shareOfPages } from '../partial-answer.ts';
import type { StreamSelector } from '../selector.ts';
import type { QueryStatistics } from '../statistics.ts';
import type { TenantView } from '../tenant-view.ts';
import type { Visible } from '../visibility.ts';
import { type ChunkRange, chunkRanges, joinRanges } from './chunk-ranges.ts';
import { FanOut } from './fan-out.ts';
import { FanOutFigures, type FanOutParts, MAX_PRINTED_LENGTH, widthOf } from './fan-out-common.ts';
import { affinityOf, chunkTask, costOfPage, cutIntoTasks, taskMaker } from './plan-tasks.ts';
import type { HeldAnswer } from './query-workers.ts';
import type { MetricAsk, TaskAnswer } from './task.ts';

/** View and visibility of the pages. */
interface SeenBy {
  readonly view: TenantView;
  readonly visible: Visible;
  /** Called with the share of the day that was merged. The shares of a day add up to 1. */
  readonly covers?: ((share: number) => void) | undefined;
}

/** Query over the chunks. */
interface ChunksAsked {
  readonly selector: StreamSelector;
  readonly range: TimeRange;
  /** Whether most pages of the chunks are pruned. */
  readonly prunes: boolean;
}

/** A day that workers plan. */
interface DayOfChunks {
  readonly day: number;
  /** Range inside the day, ns, inclusive and exclusive. */
  readonly from: number;
  readonly to: number;
  readonly ranges: readonly ChunkRange[];
  readonly chunks: number;
  /** Chunks that the label sketches prune. */
  readonly prunedChunks: number;
}

interface RangeAnswer {
  readonly held: HeldAnswer;
  readonly records: readonly ChunkRecord[];
}

/** Operations for which the order of equal timestamps matters: the first or the last one is used. */
const ORDERED: ReadonlySet<RangeOp> = new Set<RangeOp>(['first_over_time', 'last_over_time', 'rate_counter']);

export class SampleFanOut {
  readonly #parts: FanOutParts;
  readonly #scan: MetricScan;
  readonly #ask: MetricAsk;
  readonly #fanOut: FanOut;
  readonly #figures: FanOutFigures;
  #inlineBytes = 0;
  #hasFannedOut = false;

  constructor(parts: FanOutParts, scan: MetricScan, { node, grouping }: Leaf) {
    this.#parts = parts;
    this.#scan = scan;
    this.#ask = { kind: 'metric', query: formatExpr(node), spec: scan.accumulator.spec, grouping };
    const maxWidth = widthOf(parts);
    this.#fanOut = new FanOut({ signal: parts.signal, firstWidth: maxWidth, maxWidth });
    this.#figures = new FanOutFigures(parts);
  }

  /**
   * Returns true if workers scan the pages. Their results are merged by then, or when `finish` is called.
   * Returns false if the caller must scan them, because they and all pages before were few. Throws errors of
   * tasks.
   */
  async takes(from: PagesOfPlan, { view, visible, covers }: SeenBy): Promise<boolean> {
    const { plan, overlaps, pages } = from;
    const { extractor } = this.#scan;
    const readsLines = extractor.needs.lines === 'bytes';
    if (!this.#hasFannedOut) {
      let bytes = this.#inlineBytes;
      for (const page of pages) bytes += costOfPage(page, readsLines);
      const { workers } = this.#parts;
      if (bytes <= workers.sizes.inlineBytes || this.#ask.query.length > MAX_PRINTED_LENGTH) {
        this.#inlineBytes = bytes;
        return false;
      }
      // From now on everything is merged in the order of the tasks. Pages that the caller scanned would come
      // before it.
      this.#hasFannedOut = true;
    }
    const { workers, memory } = this.#parts;
    const { tenant, isLabeled } = view;
    if (pages.length === 0) covers?.(1);
    const maker = taskMaker({ tenant, isLabeled, plan, overlaps, visible });
    for (const { pages: some } of cutIntoTasks(pages, readsLines, workers.sizes)) {
      const task = maker.make(some, this.#ask);
      const affinity = affinityOf(some);
      await this.#fanOut.add(
        signal => workers.run(task, { affinity, signal, budget: memory }),
        ({ answer, release }) => {
          this.#figures.add(answer, task.records);
          this.#merge(answer);
          covers?.(shareOfPages(some, pages));
          release();
        },
      );
    }
    return true;
  }

  /**
   * Returns the days if workers should plan them, because their footers exceed what the query function should
   * hold. Undefined if it plans them itself. That includes aggregations that depend on the order of equal
   * timestamps, which overlapping chunks do not determine.
   */
  daysForWorkers(
    days: readonly DayRecords[],
    { selector, range, prunes }: ChunksAsked,
  ): DayOfChunks[] | undefined {
    const { sizes } = this.#parts.workers;
    if (ORDERED.has(this.#ask.spec.op) || this.#ask.query.length > MAX_PRINTED_LENGTH) return undefined;
    const found: DayOfChunks[] = [];
    let footerBytes = 0;
    for (const { day, records } of days) {
      const own = records.filter(({ pairs }) => selector.mayMatch(pairs));
      for (const record of own) footerBytes += record.footerBytes;
      // If nothing is pruned, each chunk is enough work for a task.
      const ranges = chunkRanges(own, prunes ? sizes.tasksOfDay : Infinity);
      if (ranges === undefined) return undefined;
      found.push({
        day,
        ...insideDay(day, range),
        ranges,
        chunks: records.length,
        prunedChunks: records.length - own.length,
      });
    }
    return footerBytes >= sizes.plannedByWorkersFrom ? found : undefined;
  }

  /** Passes a day's chunks to workers, which plan them. Throws errors of tasks. */
  async takeChunks(chunksOfDay: DayOfChunks, seenBy: SeenBy, { plan }: QueryStatistics): Promise<void> {
    this.#hasFannedOut = true;
    const { covers } = seenBy;
    const bytesOf = (range: ChunkRange) => range.own.reduce((sum, { lineBytes }) => sum + lineBytes, 0);
    const bytes = chunksOfDay.ranges.reduce((sum, range) => sum + bytesOf(range), 0);
    if (bytes === 0) covers?.(1);
    plan.chunks += chunksOfDay.chunks;
    plan.chunksBySketch += chunksOfDay.prunedChunks;
    for (const range of chunksOfDay.ranges) {
      await this.#fanOut.add(
        signal => this.#runRange(range, chunksOfDay, seenBy, signal),
        answers => {
          for (const { held, records } of answers) {
            this.#figures.add(held.answer, records);
            if (held.answer.kind !== 'split') this.#merge(held.answer);
            held.release();
          }
          if (bytes > 0) covers?.(bytesOf(range) / bytes);
        },
      );
    }
  }

  /** Returns the results of a range, in its order. A range with too much to scan is cut into smaller ones. */
  async #runRange(
    range: ChunkRange,
    chunksOfDay: DayOfChunks,
    seenBy: SeenBy,
    signal: AbortSignal,
  ): Promise<RangeAnswer[]> {
    const { workers, memory } = this.#parts;
    const { view, visible } = seenBy;
    const { maxTaskBytes } = workers.sizes;
    const ofTask = { tenant: view.tenant, isLabeled: view.isLabeled, visible, ...chunksOfDay };
    const task = chunkTask(ofTask, range, this.#ask, maxTaskBytes);
    const affinity = crc32(range.own[0].id);
    const held = await workers.run(task, { affinity, signal, budget: memory });
    const answered = { held, records: task.records };
    if (held.answer.kind !== 'split') return [answered];
    invariant(range.own.length > 1, 'a task of one chunk is never split');
    const parts = Math.min(range.own.length, Math.max(2, Math.ceil(held.answer.bytes / maxTaskBytes)));
    const all = chunkRanges(task.records, Infinity, Infinity);
    // Neighbors are searched among all records of the task: a chunk without neighbors before has none now.
    const own = new Set(range.own);
    const single = all?.filter(({ own: [record] }) => own.has(record));
    invariant(single !== undefined, 'a part of a range has no more neighbors than the range');
    const joined = joinRanges(single, Math.ceil(single.length / parts));
    const answers = await Promise.all(joined.map(one => this.#runRange(one, chunksOfDay, seenBy, signal)));
    return [answered, ...answers.flat()];
  }

  /** Waits for all tasks. Throws their errors. */
  async finish(): Promise<void> {
    await this.#fanOut.drain();
    this.#figures.finish();
  }

  /** Merges the results that arrived, and stops. */
  async mergeAnswered(): Promise<void> {
    await this.#fanOut.mergeAnswered();
    this.#figures.finish();
  }

  /** Call it however the query ends. */
  stop(): void {
    this.#fanOut.stop();
  }

  #merge(answer: TaskAnswer): void {
    invariant(answer.kind === 'metric', 'a metric task returns samples');
    const { extractor, accumulator } = this.#scan;
    const numbers = Uint32Array.from(answer.series, labels => extractor.series.numberOf(labels));
    accumulator.merge(RangeAccumulator.decode(answer.state), numbers);
  }
}
