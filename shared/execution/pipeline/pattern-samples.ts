/**
 * Samples from a pattern and filters on its captures, without processing rows: filter results and series are
 * computed once per value and cached. Typical queries of access logs have this form, such as `sum by (path)
 * (count_over_time({app="x"} | pattern "..." | status="200" [1m]))`.
 *
 * This module decides nothing itself: the first row with a value runs through the stages. Rows with a value
 * that a filter cannot convert always do, because they have an error.
 */
import { type CaptureNumbers, MAX_ROWS } from '../../base/kernels/literal-finder.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { LabelTest } from './label-filter.ts';
import type { PatternPlan } from './pattern-parser.ts';
import { KIND_RAW } from './row-labels.ts';
import type { SeriesAssigner } from './series-assigner.ts';
import type { StageRunner } from './stage-runner.ts';
import { ValueIds } from './value-ids.ts';

interface PatternSamplesParts {
  readonly runner: StageRunner;
  readonly assigner: SeriesAssigner;
  readonly plan: PatternPlan;
}

/** Arrays to which a group of rows appends; they have space for it. */
interface RowsAndSeries {
  readonly rows: Uint32Array;
  readonly series: Uint32Array;
}

/** Cached filter results of a value; initially unknown. */
const KEPT = 1;
const REJECTED = 2;
/** Only the stages can decide: they set an error. */
const ASK = 3;

const FIRST_VALUES = 256;

/** Number of values for a trial. If most of them occurred only once, caching gains nothing. */
const TRIAL_VALUES = 1024;
/** Maximum cached values; with more, the cache would be too large. */
const MAX_VALUES = 1 << 16;

const NO_NUMBERS: CaptureNumbers = {
  first: 0,
  end: 0,
  numbers: new Int32Array(0),
  noted: new Int32Array(0),
};

/** Filters on one capture. */
interface CaptureFilter {
  readonly label: number;
  readonly capture: number;
  readonly tests: readonly LabelTest[];
  /** Result by value number, 0 if unknown. */
  verdicts: Uint8Array;
}

export class PatternSamples {
  readonly #runner: StageRunner;
  readonly #assigner: SeriesAssigner;
  readonly #plan: PatternPlan;
  readonly #values = new ValueIds();
  readonly #filters: readonly CaptureFilter[];
  /** Capture that groups, or -1. */
  readonly #group: number;
  /** False if a filter reads a label that no capture sets, or if there are too many values. */
  #fits: boolean;
  /** Number of values looked up. */
  #lookups = 0;
  /** For each value of the grouping capture: the run (0 if runs do not matter), and its series. */
  #groupRuns = new Float64Array(FIRST_VALUES).fill(-1);
  #groupSeries = new Uint32Array(FIRST_VALUES);
  #page: PageRows | undefined;
  #canReadPage = false;
  /** Number of samples in the batch; the caller sets it first. */
  count = 0;

  constructor({ runner, assigner, plan }: PatternSamplesParts) {
    this.#runner = runner;
    this.#assigner = assigner;
    this.#plan = plan;
    const { captures, tests } = plan;
    const labels = [...new Set(tests.map(({ id }) => id))];
    this.#filters = labels.map(label => ({
      label,
      capture: captures.captureOf(label),
      tests: tests.filter(({ id }) => id === label).map(({ test }) => test),
      verdicts: new Uint8Array(FIRST_VALUES),
    }));
    const names = assigner.groupingNames ?? [];
    const groups = names.map(name => captures.captureOf(name)).filter(capture => capture >= 0);
    this.#group = groups.length === 1 ? groups[0] : -1;
    this.#fits =
      assigner.groupingNames !== undefined &&
      groups.length <= 1 &&
      this.#filters.every(({ capture }) => capture >= 0);
    if (!this.#fits) return;
    const numbered = this.#filters.map(({ capture }) => capture);
    captures.numberCaptures(this.#group < 0 ? numbered : [...numbered, this.#group]);
  }

  /** Called before the rows of a page run, and again in the next time slice. */
  enterPage(): void {
    this.#page = undefined;
  }

  /** Returns whether this module can handle the rows of the run that the runner has entered. */
  enterRun(page: PageRows): boolean {
    if (this.#fits && this.#hasTooManyValues()) this.#fits = false;
    if (!this.#fits || !this.#runner.runsStages(this.#plan.stages)) return false;
    const { labels } = this.#runner.row;
    const { captures } = this.#plan;
    // A capture whose name is used already sets another label. A metadata column has a different value in
    // each row.
    const isTaken = (id: number) => labels.hasColumn(id) || labels.streamHas(id);
    if (captures.names.some(id => id >= 0 && isTaken(id))) return false;
    if (this.#assigner.groupingNames!.some(id => labels.hasColumn(id))) return false;
    if (page !== this.#page) {
      this.#page = page;
      this.#canReadPage = captures.enterPage(page);
    }
    return this.#canReadPage;
  }

  /**
   * Writes the passing rows of `selection[from..to)`, and their series, from `count` on. Returns the index of
   * the first row that it left when its time slice ended, or `to` when all are done.
   */
  append(selection: Uint32Array, from: number, to: number, { rows, series }: RowsAndSeries): number {
    const { captures } = this.#plan;
    const filters = this.#filters;
    const group = this.#group;
    const byRun = this.#assigner.groupingNames!.length > (group < 0 ? 0 : 1);
    const run = byRun ? this.#runner.row.labels.runSerial : 0;
    /** Numbers of the capture that groups follow those of the filters. */
    const groupAt = filters.length * MAX_ROWS;
    let { first, end: knownEnd, numbers, noted } = NO_NUMBERS;
    let lookups = 0;
    let end = this.count;
    let next = from;
    while (next < to && !(next > from && this.#runner.isOver(next - 1))) {
      const row = selection[next++];
      if (row >= knownEnd || row < first)
        ({ first, end: knownEnd, numbers, noted } = captures.numbersFrom(row));
      const hasCaptures = captures.hasLead(row);
      const at = row - first;
      let verdict = KEPT;
      for (let f = 0; f < filters.length && verdict !== REJECTED; f++) {
        const filter = filters[f];
        const number = hasCaptures ? numbers[f * MAX_ROWS + at] : 0;
        let value = 0;
        if (number !== 0) {
          lookups++;
          value = (number > 0 && noted[number]) || this.#valueOf(filter.capture, row, number, noted);
        }
        const one = filter.verdicts[value] || this.#judge(filter, value, row);
        if (one !== KEPT) verdict = one;
      }
      if (verdict === REJECTED) continue;
      if (verdict === ASK) {
        if (!this.#runner.process(row)) continue;
        series[end] = this.#assigner.seriesOfRow();
      } else {
        const number = group < 0 || !hasCaptures ? 0 : numbers[groupAt + at];
        let value = 0;
        if (number !== 0) {
          lookups++;
          value = (number > 0 && noted[number]) || this.#valueOf(group, row, number, noted);
        }
        if (this.#groupRuns[value] !== run) this.#assign(value, row, run);
        series[end] = this.#groupSeries[value];
      }
      rows[end++] = row;
    }
    this.#lookups += lookups;
    this.count = end;
    return next;
  }

  /** Returns the number of a capture's value in a row, and notes it for the number of its text, if that is one. */
  #valueOf(capture: number, row: number, number: number, noted: Int32Array): number {
    const { captures } = this.#plan;
    captures.enterRow(row);
    captures.locate(capture);
    const value = this.#values.idOfBytes(captures.source, captures.start, captures.end, false);
    if (number > 0) noted[number] = value;
    return value;
  }

  /** Evaluates the filters for a value, using the current row. */
  #judge(filter: CaptureFilter, value: number, row: number): number {
    const { captures } = this.#plan;
    const { labels } = this.#runner.row;
    labels.enterRow(row);
    if (value > 0) {
      captures.enterRow(row);
      captures.locate(filter.capture);
      labels.setBytes(filter.label, KIND_RAW, captures.source, captures.start, captures.end);
    }
    let verdict = KEPT;
    for (const test of filter.tests) {
      if (!test(labels)) verdict = REJECTED;
      else if (labels.error !== '' && verdict === KEPT) verdict = ASK;
    }
    if (value >= filter.verdicts.length) {
      const larger = new Uint8Array(2 * value);
      larger.set(filter.verdicts);
      filter.verdicts = larger;
    }
    filter.verdicts[value] = verdict;
    return verdict;
  }

  /** Finds the series of a value, using a row that has it and passes. */
  #assign(value: number, row: number, run: number): void {
    if (value >= this.#groupRuns.length) {
      const runs = new Float64Array(2 * value).fill(-1);
      runs.set(this.#groupRuns);
      this.#groupRuns = runs;
      const series = new Uint32Array(2 * value);
      series.set(this.#groupSeries);
      this.#groupSeries = series;
    }
    this.#runner.process(row);
    this.#groupSeries[value] = this.#assigner.seriesOfRow();
    this.#groupRuns[value] = run;
  }

  #hasTooManyValues(): boolean {
    const { count } = this.#values;
    return count > MAX_VALUES || (count > TRIAL_VALUES && 2 * count > this.#lookups);
  }
}
