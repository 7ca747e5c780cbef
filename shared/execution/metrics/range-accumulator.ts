/**
 * Accumulates one range aggregation over samples that arrive in batches, in any order and from any worker.
 *
 * Each sample belongs to one pane of its series (windows.ts) and changes that pane's state (aggregators.ts).
 * Panes without samples cost nothing (pane-table.ts). Partial accumulators of the same query merge pane by
 * pane. Only `finish` combines panes to windows. The cost is therefore samples plus panes plus steps, for any
 * overlap.
 *
 * Pitfall: the caller assigns series numbers. Two accumulators that number their series differently need a
 * map when they merge. absent_over_time counts samples; absent.ts converts missing counts to 1.
 */
import { invariant } from '../../base/model/errors.ts';
import type { Labels } from '../../base/model/labels.ts';
import { DEFAULT_MAX_BYTES, MemoryBudget, type SharedMemory } from '../../base/model/memory-budget.ts';
import type { SampleBatch } from '../../base/model/samples.ts';
import { NS_OF_MINUTE } from '../../base/model/time-units.ts';
import { type Aggregator, aggregatorOf, isRate } from './aggregators.ts';
import { BYTES_PER_CELL, hasPoints, type MatrixSeries, type SeriesMatrix } from './matrix.ts';
import { PaneTable } from './pane-table.ts';
import { decodePartial, encodePartial } from './partial-state.ts';
import { slideQuantile } from './quantile.ts';
import { type RangeSpec, sameQuery } from './range-spec.ts';
import { COUNTER_AGGREGATOR, counterRate, counterStates } from './rate-counter.ts';
import { SampleLog } from './sample-log.ts';
import { instantsOf, SlidingStates, type WindowSink } from './sliding.ts';
import { atOnce, type Steps } from './steps.ts';
import { instantTimesMs, PaneLocator, type Windows, windowsOf } from './windows.ts';

/** Parallel columns. */
export interface MinuteAmounts {
  readonly minutes: ArrayLike<number>;
  readonly amounts: ArrayLike<number>;
}

export class RangeAccumulator {
  readonly spec: RangeSpec;
  readonly windows: Windows;
  /** Range of relevant samples, `readFromNs < timestamp <= readToNs`, in Unix ns; others are ignored. */
  readonly readFromNs: bigint;
  readonly readToNs: bigint;
  readonly budget: MemoryBudget;
  readonly table: PaneTable;
  /** Absent if `log` stores every sample. */
  readonly aggregator: Aggregator | undefined;
  readonly log: SampleLog | undefined;
  /** States by slot, as wide as the aggregator's layout. */
  cells: Float64Array;
  readonly #width: number;
  readonly #locator: PaneLocator;
  /** Whether each sample counts 1, regardless of its value. */
  readonly countsEntries: boolean;

  constructor(spec: RangeSpec, maxBytes: number, shared?: SharedMemory) {
    this.spec = spec;
    this.windows = windowsOf(spec);
    this.readFromNs = this.windows.originNs;
    this.readToNs = this.windows.readToNs;
    this.#locator = new PaneLocator(this.windows);
    this.budget = new MemoryBudget(maxBytes, undefined, shared);
    this.table = new PaneTable(this.budget);
    this.aggregator = aggregatorOf(spec.op, spec.unwrapped);
    this.#width = this.aggregator?.layout.length ?? 0;
    this.budget.reserve(this.table.capacity * this.#width * 8);
    this.cells = new Float64Array(this.table.capacity * this.#width);
    this.log =
      this.aggregator === undefined ? new SampleLog(spec.op === 'rate_counter', this.budget) : undefined;
    this.countsEntries =
      spec.op === 'count_over_time' ||
      spec.op === 'absent_over_time' ||
      (spec.op === 'rate' && !spec.unwrapped);
  }

  /** Number of panes with samples. */
  get panes(): number {
    return this.table.count;
  }

  /** Returns the slot of a pane, with an empty state if it is new. */
  slotOf(series: number, pane: number): number {
    const { table } = this;
    const width = this.#width;
    const before = table.count;
    const slot = table.slotOf(series, pane);
    if (slot === before && this.aggregator !== undefined) {
      const needed = table.capacity * width;
      if (this.cells.length < needed) {
        this.budget.reserve((needed - this.cells.length) * 8);
        const cells = new Float64Array(needed);
        cells.set(this.cells);
        this.cells = cells;
      }
      this.aggregator.init(this.cells, slot * width);
    }
    return slot;
  }

  /**
   * Adds a batch. `seriesMap[n]` is this accumulator's number of the batch's series n; by default they are
   * equal. Throws BadRequestError if the memory budget is exhausted.
   */
  addBatch(batch: SampleBatch, seriesMap?: Uint32Array): void {
    const locator = this.#locator;
    const { count, rows, series, times } = batch;
    locator.setBase(batch.baseNs);
    let i = 0;
    while (i < count) {
      const offset = times[rows[i]];
      if (offset <= locator.above || offset > locator.upTo) locator.locate(offset);
      const { above, upTo, pane } = locator;
      let end = i + 1;
      if (pane < 0) {
        while (end < count && inPane(times[rows[end]], above, upTo)) end++;
        i = end;
        continue;
      }
      const own = series[i];
      const number = seriesMap === undefined ? own : seriesMap[own];
      while (end < count && series[end] === own && inPane(times[rows[end]], above, upTo)) end++;
      const slot = this.slotOf(number, pane);
      if (this.countsEntries) this.cells[slot] += end - i;
      else if (this.aggregator !== undefined) {
        this.aggregator.add(this.cells, slot * this.#width, batch, i, end, locator.shift);
      } else this.log!.addBatch(slot, batch, i, end, locator.shift);
      i = end;
    }
  }

  /**
   * Adds amounts by minute, as chunk footers store them: bucket m covers `(m-1, m]` minutes of the day. Adds
   * the buckets `from..end` (exclusive), ascending by minute. Amounts are entries if `countsEntries`,
   * otherwise bytes of lines. The caller ensures that windows begin and end at whole minutes, and that the
   * aggregation counts one or the other.
   */
  addMinutes(
    series: number,
    dayStartNs: bigint,
    { minutes, amounts }: MinuteAmounts,
    from: number,
    end: number,
  ): void {
    const locator = this.#locator;
    locator.setBase(dayStartNs);
    let slot = -1;
    for (let i = from; i < end; i++) {
      const offset = minutes[i] * NS_OF_MINUTE;
      if (offset <= locator.above || offset > locator.upTo) {
        locator.locate(offset);
        slot = -1;
      }
      if (locator.pane < 0) continue;
      if (slot < 0) slot = this.slotOf(series, locator.pane);
      this.cells[slot] += amounts[i];
    }
  }

  /** Returns whether all samples in this range of the day, both ends inclusive, are in the same windows. */
  isOnePane(dayStartNs: bigint, first: number, last: number): boolean {
    const locator = this.#locator;
    locator.setBase(dayStartNs);
    if (first <= locator.above || first > locator.upTo) locator.locate(first);
    return last <= locator.upTo;
  }

  /**
   * Adds an amount at one time of the day: entries if `countsEntries`, otherwise bytes of lines. The caller
   * ensures that the aggregation counts one or the other.
   */
  addAmount(series: number, dayStartNs: bigint, time: number, amount: number): void {
    const locator = this.#locator;
    locator.setBase(dayStartNs);
    if (time <= locator.above || time > locator.upTo) locator.locate(time);
    if (locator.pane < 0) return;
    // First, because it may replace the cells.
    const slot = this.slotOf(series, locator.pane);
    this.cells[slot] += amount;
  }

  /**
   * Adds the content of another accumulator of the same query; `seriesMap[n]` is this accumulator's number of
   * its series n. The result is the same in any order of merges, except for the last digits of sums.
   */
  merge(other: RangeAccumulator, seriesMap?: Uint32Array): void {
    invariant(sameQuery(this.spec, other.spec), 'only partial states of one query merge');
    const { aggregator } = this;
    const width = this.#width;
    const slotMap = new Uint32Array(other.table.count);
    for (let from = 0; from < other.table.count; from++) {
      const series = other.table.seriesOf[from];
      const mapped = seriesMap === undefined ? series : seriesMap[series];
      const slot = this.slotOf(mapped, other.table.paneOf[from]);
      slotMap[from] = slot;
      aggregator?.combine(this.cells, slot * width, this.cells, slot * width, other.cells, from * width);
    }
    if (this.log !== undefined && other.log !== undefined) this.log.append(other.log, slotMap);
  }

  /** Encodes this state for another worker. */
  encode(): Uint8Array {
    return encodePartial(this);
  }

  /** Decodes a state that `encode` wrote. Throws CorruptionError. */
  static decode(bytes: Uint8Array, maxBytes = DEFAULT_MAX_BYTES): RangeAccumulator {
    return decodePartial(bytes, spec => new RangeAccumulator(spec, maxBytes));
  }

  /**
   * Returns the value of every window with samples, by series number; series without samples are omitted. For
   * absent_over_time, the values are counts of all samples, which `absentMatrix` inverts. The accumulator
   * remains usable.
   */
  finish(labelsOf: (series: number) => Labels): SeriesMatrix {
    return atOnce(this.finishing(labelsOf));
  }

  /** Computes the result of `finish` in steps; do not add samples until they are done. */
  *finishing(labelsOf: (series: number) => Labels): Steps<SeriesMatrix> {
    const { spec, table, windows, budget } = this;
    const timesMs = instantTimesMs(spec.startNs, spec.endNs, spec.stepNs);
    const { order, starts } = table.inOrder();
    const panes = new Int32Array(order.length);
    for (let index = 0; index < order.length; index++) panes[index] = table.paneOf[order[index]];
    const slide = this.#slider(order, panes);
    const series: MatrixSeries[] = [];
    const usedBytes = budget.usedBytes;
    for (let number = 0; number < table.seriesCount; number++) {
      const from = starts[number];
      const to = starts[number + 1];
      if (from === to) continue;
      const { first, end } = instantsOf(windows, panes[from], panes[to - 1]);
      if (end <= first) continue;
      budget.reserve((end - first) * BYTES_PER_CELL);
      const sink = { first, values: new Float64Array(end - first), present: new Uint8Array(end - first) };
      slide(from, to, sink);
      if (hasPoints(sink.present)) series.push({ labels: labelsOf(number), ...sink });
      yield;
    }
    budget.release(budget.usedBytes - usedBytes);
    return { timesMs, series };
  }

  #slider(order: Uint32Array, panes: Int32Array): (from: number, to: number, sink: WindowSink) => void {
    const { spec, table, windows, aggregator, cells } = this;
    if (aggregator !== undefined) {
      const states = new SlidingStates(aggregator);
      const divisor = isRate(spec.op) ? windows.rangeSeconds : 1;
      return (from, to, sink) =>
        states.slide(
          { panes, cells, offsets: order, from, to },
          windows,
          sink,
          state => aggregator.value(state, 0) / divisor,
        );
    }
    const samples = this.log!.grouped(order, table.count);
    if (spec.op === 'quantile_over_time') {
      const q = spec.parameter ?? Number.NaN;
      return (from, to, sink) => slideQuantile(q, panes, samples, from, to, windows, sink);
    }
    const counters = counterStates(samples);
    const indexes = Uint32Array.from(order, (_, index) => index);
    const states = new SlidingStates(COUNTER_AGGREGATOR);
    const stepNs = Number(windows.stepNs);
    const rangeNs = Number(windows.rangeNs);
    return (from, to, sink) =>
      states.slide({ panes, cells: counters, offsets: indexes, from, to }, windows, sink, (state, instant) =>
        counterRate(state, instant * stepNs, instant * stepNs + rangeNs, windows.rangeSeconds),
      );
  }
}

function inPane(offset: number, above: number, upTo: number): boolean {
  return offset > above && offset <= upTo;
}

/** @param maxBytes Memory limit of the accumulator; see `MemoryBudget` */
export function createRangeAccumulator(
  spec: RangeSpec,
  maxBytes = DEFAULT_MAX_BYTES,
  shared?: SharedMemory,
): RangeAccumulator {
  return new RangeAccumulator(spec, maxBytes, shared);
}
