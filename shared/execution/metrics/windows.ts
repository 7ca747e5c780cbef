/**
 * Windows of a range aggregation, and the panes that compose them.
 *
 * Window number i of N is `(t - offset - range, t - offset]` with `t = start + i * step`: open on the left,
 * closed on the right. Cutting time at every window start (A_i) and every window end (B_i) yields panes that
 * no window cuts. The pane number of a time x is `a + b - 1`, with a the number of starts before x and b the
 * number of ends before x. There are at most two panes per step, and two divisions find a pane. If a equals
 * b, no window is open, and the sample is not needed.
 *
 * Times are Float64 nanoseconds relative to `originNs`, the start of the first window.
 *
 * Pitfall: the pane of a sample is exact at any distance. Page offsets are added only to remainders of whole
 * steps, which are computed once per page in bigint. This requires `step + one day < 2^53 ns`, 103 days.
 * Beyond it, a sample within 4 ns of a border may be assigned to its other side.
 */

import { invariant } from '../../base/model/errors.ts';
import { NS_PER_MS, NS_PER_SECOND } from '../../base/model/time-units.ts';

/**
 * Maximum steps of one query: above the 11,000 points that the API allows plus the steps that alignment adds.
 * The arrays below use less than 2 MB, even if a corrupt partial result claims the maximum.
 */
export const MAX_STEPS = 100_000;

/** Step of a single window. Any value works; 19 hours keep every remainder small. */
const LONE_STEP_NS = 2n ** 46n;

interface WindowSpec {
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Step, or 0 for an instant query. */
  readonly stepNs: bigint;
  readonly rangeNs: bigint;
  readonly offsetNs: bigint;
}

export interface Windows {
  /** Number of windows (instants), at least 1. */
  readonly steps: number;
  /** Start of the first window, Unix nanoseconds; samples after it are relevant. */
  readonly originNs: bigint;
  /** End of the last window, Unix nanoseconds; samples up to and including it are relevant. */
  readonly readToNs: bigint;
  readonly stepNs: bigint;
  readonly rangeNs: bigint;
  readonly rangeSeconds: number;
  /** Whether two windows may share a sample. */
  readonly overlapping: boolean;
  /** Panes of window i are `firstPane[i]` to `lastPane[i]`; both ascend; no panes if last < first. */
  readonly firstPane: Int32Array;
  readonly lastPane: Int32Array;
}

/** Returns the number of instants `start, start + step, ... <= end`; 1 if step is 0. */
export function countSteps(startNs: bigint, endNs: bigint, stepNs: bigint): number {
  if (stepNs <= 0n || endNs <= startNs) return 1;
  const steps = (endNs - startNs) / stepNs + 1n;
  invariant(steps <= BigInt(MAX_STEPS), `a query has at most ${MAX_STEPS} steps`);
  return Number(steps);
}

/** Returns the instants in milliseconds, as responses show them. */
export function instantTimesMs(startNs: bigint, endNs: bigint, stepNs: bigint): Float64Array {
  const times = new Float64Array(countSteps(startNs, endNs, stepNs));
  let instantNs = startNs;
  for (let i = 0; i < times.length; i++) {
    times[i] = Number(instantNs / NS_PER_MS);
    instantNs += stepNs;
  }
  return times;
}

export function windowsOf(spec: WindowSpec): Windows {
  const { startNs, endNs, rangeNs, offsetNs } = spec;
  invariant(rangeNs >= 0n, 'a range is not negative');
  const steps = countSteps(startNs, endNs, spec.stepNs);
  const stepNs = steps === 1 ? LONE_STEP_NS : spec.stepNs;
  const originNs = startNs - offsetNs - rangeNs;
  // Number of steps that a range covers; larger values than `steps` are equivalent.
  const span = (rangeNs + stepNs - 1n) / stepNs;
  const stepsPerRange = span > BigInt(steps) ? steps + 1 : Number(span);
  const firstPane = new Int32Array(steps);
  const lastPane = new Int32Array(steps);
  for (let i = 0; i < steps; i++) {
    const endsBefore = Math.max(0, i - stepsPerRange + 1);
    firstPane[i] = i + endsBefore;
    lastPane[i] = Math.min(steps, i + stepsPerRange) + i - 1;
  }
  return {
    steps,
    originNs,
    readToNs: originNs + rangeNs + BigInt(steps - 1) * stepNs,
    stepNs,
    rangeNs,
    rangeSeconds: Number(rangeNs) / Number(NS_PER_SECOND),
    overlapping: steps > 1 && rangeNs > stepNs,
    firstPane,
    lastPane,
  };
}

/** Finds the pane of a page's offsets. Stores the page's base, and the latest pane with its borders. */
export class PaneLocator {
  readonly #originNs: bigint;
  readonly #bigStepNs: bigint;
  readonly #bigRangeNs: bigint;
  readonly #steps: number;
  readonly #stepNs: number;
  #baseNs: bigint | undefined;
  #wholeA = 0;
  #remainderA = 0;
  #wholeB = 0;
  #remainderB = 0;
  /** Number of the latest pane; -1 if no window is open. */
  pane = -1;
  /** Range of offsets of the current page that belong to `pane`: `above < offset <= upTo`. */
  above = Infinity;
  upTo = -Infinity;
  /**
   * Difference between nanoseconds after the origin and an offset of the current page; rounded beyond 2^53
   * ns.
   */
  shift = 0;

  constructor(windows: Windows) {
    this.#originNs = windows.originNs;
    this.#bigStepNs = windows.stepNs;
    this.#bigRangeNs = windows.rangeNs;
    this.#steps = windows.steps;
    this.#stepNs = Number(windows.stepNs);
  }

  setBase(baseNs: bigint): void {
    if (baseNs === this.#baseNs) return;
    this.#baseNs = baseNs;
    const step = this.#bigStepNs;
    const fromStart = baseNs - this.#originNs;
    const wholeA = fromStart / step;
    this.#wholeA = Number(wholeA);
    this.#remainderA = Number(fromStart - wholeA * step);
    const fromEnd = fromStart - this.#bigRangeNs;
    const wholeB = fromEnd / step;
    this.#wholeB = Number(wholeB);
    this.#remainderB = Number(fromEnd - wholeB * step);
    this.shift = Number(fromStart);
    this.above = Infinity;
    this.upTo = -Infinity;
  }

  /** Sets `pane`, `above` and `upTo` for an offset of the current page. */
  locate(offset: number): void {
    const steps = this.#steps;
    const stepNs = this.#stepNs;
    const a = this.#wholeA + Math.ceil((this.#remainderA + offset) / stepNs);
    const b = this.#wholeB + Math.ceil((this.#remainderB + offset) / stepNs);
    const starts = a < 0 ? 0 : Math.min(a, steps);
    const ends = b < 0 ? 0 : Math.min(b, steps);
    const aboveA = starts === 0 ? -Infinity : (starts - 1 - this.#wholeA) * stepNs - this.#remainderA;
    const aboveB = ends === 0 ? -Infinity : (ends - 1 - this.#wholeB) * stepNs - this.#remainderB;
    const upToA = starts === steps ? Infinity : (starts - this.#wholeA) * stepNs - this.#remainderA;
    const upToB = ends === steps ? Infinity : (ends - this.#wholeB) * stepNs - this.#remainderB;
    this.above = Math.max(aboveA, aboveB);
    this.upTo = Math.min(upToA, upToB);
    this.pane = starts === ends ? -1 : starts + ends - 1;
  }
}
