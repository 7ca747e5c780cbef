/** Fans out the pages of a range aggregation to workers, and merges their partial results. */
import { crc32 } from 'node:zlib';
import { invariant } from '../../../base/model/errors.ts';
import type { Leaf } from '../../../execution/metrics/plan.ts';
import { RangeAccumulator } from '../../../execution/metrics/range-accumulator.ts';
import { formatExpr } from '../../../language/logql/printer.ts';
import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';
import type { DayRecords } from '../day-plan.ts';
import type { MetricScan, PagesOfPlan } from '../metric-scan.ts';
import { shareOfPages } from '../partial-answer.ts';
import type { QueryStatistics } from '../statistics.ts';
import type { TenantView } from '../tenant-view.ts';
import type { Visible } from '../visibility.ts';
import {
  type ChunksAsked,
  type DayOfChunks,
  footerBytesOf,
  lineBytesOfRange,
  splitRange,
} from './chunk-days.ts';
import { type ChunkRange, joinRanges } from './chunk-ranges.ts';
import { type DaySlice, slicesOfDay, wholeDay } from './day-slices.ts';
import { FanOut } from './fan-out.ts';
import { FanOutFigures, type FanOutParts, MAX_PRINTED_LENGTH, widthOf } from './fan-out-common.ts';
import { affinityOf, chunkTask, cutIntoTasks, taskMaker } from './plan-tasks.ts';
import type { HeldAnswer } from './query-workers.ts';
import type { MetricTaskRequest, TaskAnswer } from './task.ts';
import { costOfPage } from './task-cost.ts';

/** View and visibility of the pages. */
interface SeenBy {
  readonly view: TenantView;
  readonly visible: Visible;
  /** Called with the share of the day that was merged. The shares of a day add up to 1. */
  readonly covers?: ((share: number) => void) | undefined;
}

interface ChunkRangeAnswer {
  readonly held: HeldAnswer;
  readonly records: readonly ChunkRecord[];
}

/** First results that decide whether workers merge later ones. */
const PROBED_RESULTS = 8;

export class SampleFanOut {
  readonly #parts: FanOutParts;
  readonly #scan: MetricScan;
  readonly #request: MetricTaskRequest;
  readonly #fanOut: FanOut;
  readonly #figures: FanOutFigures;
  #inlineBytes = 0;
  #hasFannedOut = false;
  /** Ranges of chunks that were added and merged, and the size of the results of the first ones. */
  #added = 0;
  #probed = 0;
  #probedBytes = 0;

  constructor(parts: FanOutParts, scan: MetricScan, { node, grouping }: Leaf) {
    this.#parts = parts;
    this.#scan = scan;
    this.#request = { kind: 'metric', query: formatExpr(node), spec: scan.accumulator.spec, grouping };
    const maxWidth = widthOf(parts);
    const { signal, skips } = parts;
    this.#fanOut = new FanOut({ signal, skips, firstWidth: maxWidth, maxWidth });
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
      if (bytes <= workers.sizes.inlineBytes || this.#request.query.length > MAX_PRINTED_LENGTH) {
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
      const task = maker.make(some, this.#request);
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
   * Returns the days in slices, in order. Workers plan them if their footers exceed what the query function should
   * hold. Throws BadRequestError if they cannot.
   */
  slicesOf(days: readonly DayRecords[], asked: ChunksAsked): DaySlice[] {
    const { sizes } = this.#parts.workers;
    const plansHere =
      this.#request.query.length > MAX_PRINTED_LENGTH ||
      footerBytesOf(days, asked.selector) < sizes.plannedByWorkersFrom;
    return days.flatMap(day => (plansHere ? wholeDay(day, asked.range) : slicesOfDay(day, asked, sizes)));
  }

  /** Passes a day's chunks to workers, which plan them. Throws errors of tasks. */
  async takeChunks(chunksOfDay: DayOfChunks, seenBy: SeenBy, { plan }: QueryStatistics): Promise<void> {
    this.#hasFannedOut = true;
    const { covers } = seenBy;
    const bytes = chunksOfDay.ranges.reduce((sum, range) => sum + lineBytesOfRange(range), 0);
    if (bytes === 0) covers?.(1);
    plan.chunks += chunksOfDay.chunks;
    plan.chunksBySketch += chunksOfDay.prunedChunks;
    for (let next = 0; next < chunksOfDay.ranges.length; ) {
      const some = chunksOfDay.ranges.slice(next, next + (await this.#mergedTasks()));
      next += some.length;
      const [range] = joinRanges(some, some.length);
      const parts = some.length;
      await this.#fanOut.add(
        signal => this.#runRange(range, { ...chunksOfDay, parts }, seenBy, signal),
        answers => {
          for (const { held, records } of answers) {
            if (this.#probed < PROBED_RESULTS) this.#probedBytes += held.bytes;
            this.#figures.add(held.answer, records);
            if (held.answer.kind !== 'split') this.#merge(held.answer);
            held.release();
          }
          this.#probed++;
          if (bytes > 0) covers?.(lineBytesOfRange(range) / bytes);
        },
        undefined,
        parts === 1 ? 1 : parts + 1,
      );
    }
  }

  /**
   * Returns the number of tasks whose results one worker should merge next. The first results decide it, whichever
   * arrives first, so that sums of floating-point numbers are the same in each run.
   */
  async #mergedTasks(): Promise<number> {
    const { mergedFrom, mergedTasks, largeResultBytes } = this.#parts.workers.sizes;
    if (this.#added++ < mergedFrom || mergedTasks === 1) return 1;
    await this.#fanOut.mergeFirst(PROBED_RESULTS);
    const results = Math.min(this.#probed, PROBED_RESULTS);
    return this.#probedBytes >= results * largeResultBytes ? mergedTasks : 1;
  }

  /** Returns the results of a range, in its order. A range with too much to scan is cut into smaller ones. */
  async #runRange(
    range: ChunkRange,
    chunksOfDay: DayOfChunks & { readonly parts: number },
    seenBy: SeenBy,
    signal: AbortSignal,
  ): Promise<ChunkRangeAnswer[]> {
    const { workers, memory } = this.#parts;
    const { view, visible } = seenBy;
    const { maxTaskBytes } = workers.sizes;
    const ofTask = { tenant: view.tenant, isLabeled: view.isLabeled, visible, ...chunksOfDay };
    const task = chunkTask(ofTask, range, this.#request, {
      maxBytes: maxTaskBytes,
      parts: chunksOfDay.parts,
    });
    const affinity = crc32(range.own[0].id);
    const held = await workers.run(task, { affinity, signal, budget: memory });
    const answered = { held, records: task.records };
    if (held.answer.kind !== 'split') return [answered];
    invariant(range.own.length > 1, 'a task of one chunk is never split');
    const parts = Math.min(range.own.length, Math.max(2, Math.ceil(held.answer.bytes / maxTaskBytes)));
    const split = splitRange(range, task.records, parts, false);
    const answers = await Promise.all(
      split.map(one => this.#runRange(one, { ...chunksOfDay, parts: 1 }, seenBy, signal)),
    );
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
