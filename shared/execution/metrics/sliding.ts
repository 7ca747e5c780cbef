/**
 * Sliding windows over the panes of one series. At most two combinations per pane and one per window are
 * needed, for any overlap.
 *
 * The panes of the window form two stacks that meet at `middle`. In front of it, `suffixes` contains the
 * combination of each pane with all later panes up to the middle. Dropping the oldest pane is thus a step to
 * the next suffix. Behind it, one running combination receives new panes. When the front is empty, the back
 * is converted to suffixes. Nothing is ever subtracted, so infinities, NaN, minima and counter resets are as
 * exact as sums.
 */

import { binaryFirst } from '../../base/model/binary-search.ts';
import type { Aggregator } from './aggregators.ts';
import type { Windows } from './windows.ts';

/** Target for the values of a series. */
export interface WindowSink {
  readonly first: number;
  readonly values: Float64Array;
  readonly present: Uint8Array;
}

/** States of panes `from` to `to - 1`; pane numbers ascend. State number p is at `offsets[p] * width`. */
interface PaneRun {
  readonly panes: Int32Array;
  readonly cells: Float64Array;
  readonly offsets: Uint32Array;
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the instants whose windows can contain one of the panes `low` to `high`; empty if `end <= first`.
 */
export function instantsOf(windows: Windows, low: number, high: number): { first: number; end: number } {
  const { steps, firstPane, lastPane } = windows;
  const first = binaryFirst(steps, i => lastPane[i] >= low);
  const end = binaryFirst(steps, i => firstPane[i] > high);
  return { first, end };
}

export class SlidingStates {
  readonly #aggregator: Aggregator;
  readonly #width: number;
  #suffixes: Float64Array;
  readonly #back: Float64Array;
  readonly #state: Float64Array;

  constructor(aggregator: Aggregator) {
    this.#aggregator = aggregator;
    this.#width = aggregator.layout.length;
    this.#suffixes = new Float64Array(this.#width * 16);
    this.#back = new Float64Array(this.#width);
    this.#state = new Float64Array(this.#width);
  }

  /** Fills the sink, whose instants must be those of `instantsOf`. `valueAt` reads the state of a window. */
  slide(
    run: PaneRun,
    windows: Windows,
    sink: WindowSink,
    valueAt: (state: Float64Array, instant: number) => number,
  ): void {
    const width = this.#width;
    const { combine } = this.#aggregator;
    const { panes, cells, offsets, to } = run;
    const { firstPane, lastPane } = windows;
    let low = run.from;
    let high = run.from;
    let middle = run.from;
    for (let i = 0; i < sink.values.length; i++) {
      const instant = sink.first + i;
      const last = lastPane[instant];
      const first = firstPane[instant];
      while (high < to && panes[high] <= last) {
        const at = offsets[high] * width;
        if (high === middle) this.#back.set(cells.subarray(at, at + width));
        else combine(this.#back, 0, this.#back, 0, cells, at);
        high++;
      }
      while (low < high && panes[low] < first) low++;
      if (low === high) {
        middle = high;
        continue;
      }
      if (low > middle) {
        this.#flip(run, low, high);
        middle = high;
      }
      if (low === middle) {
        sink.values[i] = valueAt(this.#back, instant);
      } else {
        const suffix = (middle - 1 - low) * width;
        if (middle === high) this.#state.set(this.#suffixes.subarray(suffix, suffix + width));
        else combine(this.#state, 0, this.#suffixes, suffix, this.#back, 0);
        sink.values[i] = valueAt(this.#state, instant);
      }
      sink.present[i] = 1;
    }
  }

  /** Computes suffixes of panes `low` to `high - 1`, the newest at the start of the array. */
  #flip({ cells, offsets }: PaneRun, low: number, high: number): void {
    const width = this.#width;
    const { combine } = this.#aggregator;
    const needed = (high - low) * width;
    if (this.#suffixes.length < needed) this.#suffixes = new Float64Array(needed * 2);
    const suffixes = this.#suffixes;
    let at = offsets[high - 1] * width;
    suffixes.set(cells.subarray(at, at + width));
    for (let index = high - 2; index >= low; index--) {
      at = offsets[index] * width;
      const into = (high - 1 - index) * width;
      combine(suffixes, into, cells, at, suffixes, into - width);
    }
  }
}
