/**
 * The windows of a range aggregation, and the panes that they are made of.
 *
 * Window number i of N is `(t - offset - range, t - offset]` with `t = start + i * step`: open on the left, closed
 * on the right. Cutting time at every window start (A_i) and every window end (B_i) gives panes that no window
 * cuts. A time x has the pane number `a + b - 1`, where a counts the starts before x and b the ends before x: at
 * most two panes a step, found by two divisions. Where a equals b no window is open, and nobody needs the sample.
 *
 * Times are Float64 nanoseconds relative to `originNs`, the start of the first window. What a reader would get
 * wrong: the pane of a sample is exact at any distance, because only remainders of whole steps (taken once a page
 * in bigint) meet the page's offsets; it needs `step + one day < 2^53 ns`, 103 days, past which a sample within
 * 4 ns of a border may fall on its other side.
 */

import { NS_PER_MS, NS_PER_SECOND } from '../../base/model/duration.ts';
import { invariant } from '../../base/model/errors.ts';

/**
 * Most steps of one query, above the 11,000 points that the API allows plus what aligning adds: the arrays below
 * stay under 2 MB even where a broken partial state names the steps.
 */
export const MAX_STEPS = 100_000;

/** The step that a single window gets: any will do; 19 hours keep every remainder small. */
const LONE_STEP_NS = 2n ** 46n;

export interface WindowSpec {
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** 0 for an instant query. */
  readonly stepNs: bigint;
  readonly rangeNs: bigint;
  readonly offsetNs: bigint;
}

export interface Windows {
  /** How many windows (instants) there are, at least 1. */
  readonly steps: number;
  /** Where the first window starts; samples after it matter. Unix nanoseconds. */
  readonly originNs: bigint;
  /** Where the last window ends; samples up to and at it matter. Unix nanoseconds. */
  readonly readToNs: bigint;
  readonly stepNs: bigint;
  readonly rangeNs: bigint;
  readonly rangeSeconds: number;
  /** True where two windows may share a sample. */
  readonly overlapping: boolean;
  /** Pane numbers of window i run from `firstPane[i]` to `lastPane[i]`; both ascend; none where last < first. */
  readonly firstPane: Int32Array;
  readonly lastPane: Int32Array;
}

/** How many instants `start, start + step, ... <= end` there are; 1 where step is 0. */
export function countSteps(startNs: bigint, endNs: bigint, stepNs: bigint): number {
  if (stepNs <= 0n || endNs <= startNs) return 1;
  const steps = (endNs - startNs) / stepNs + 1n;
  invariant(steps <= BigInt(MAX_STEPS), `a query has at most ${MAX_STEPS} steps`);
  return Number(steps);
}

/** Milliseconds of the instants, as answers show them. */
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
  // Steps that a range touches; above `steps` it makes no difference.
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

/** Finds the pane of a page's offsets. Owns the page's base, and the pane found last with its borders. */
export class PaneLocator {
  readonly #originNs: bigint;
  readonly #bigStepNs: bigint;
  readonly #bigRangeNs: bigint;
  readonly #steps: number;
  readonly #stepNs: number;
  #baseNs: bigint | undefined;
  #wholeA = 0;
  #restA = 0;
  #wholeB = 0;
  #restB = 0;
  /** Number of the pane found last; -1 where no window is open. */
  pane = -1;
  /** Offsets `above < offset <= upTo` of the present page fall into `pane` too. */
  above = Infinity;
  upTo = -Infinity;
  /** What turns an offset of the present page into nanoseconds after the origin; rounded beyond 2^53 ns. */
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
    this.#restA = Number(fromStart - wholeA * step);
    const fromEnd = fromStart - this.#bigRangeNs;
    const wholeB = fromEnd / step;
    this.#wholeB = Number(wholeB);
    this.#restB = Number(fromEnd - wholeB * step);
    this.shift = Number(fromStart);
    this.above = Infinity;
    this.upTo = -Infinity;
  }

  /** Sets `pane`, `above` and `upTo` for an offset of the present page. */
  locate(offset: number): void {
    const steps = this.#steps;
    const stepNs = this.#stepNs;
    const a = this.#wholeA + Math.ceil((this.#restA + offset) / stepNs);
    const b = this.#wholeB + Math.ceil((this.#restB + offset) / stepNs);
    const starts = a < 0 ? 0 : Math.min(a, steps);
    const ends = b < 0 ? 0 : Math.min(b, steps);
    const aboveA = starts === 0 ? -Infinity : (starts - 1 - this.#wholeA) * stepNs - this.#restA;
    const aboveB = ends === 0 ? -Infinity : (ends - 1 - this.#wholeB) * stepNs - this.#restB;
    const upToA = starts === steps ? Infinity : (starts - this.#wholeA) * stepNs - this.#restA;
    const upToB = ends === steps ? Infinity : (ends - this.#wholeB) * stepNs - this.#restB;
    this.above = Math.max(aboveA, aboveB);
    this.upTo = Math.min(upToA, upToB);
    this.pane = starts === ends ? -1 : starts + ends - 1;
  }
}
