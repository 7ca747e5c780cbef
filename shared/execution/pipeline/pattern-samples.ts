/**
 * Samples from a pattern and filters on its captures, without processing rows: filter results and series are
 * computed once per value and cached. Typical queries of access logs have this form, such as `sum by (path)
 * (count_over_time({app="x"} | pattern "..." | status="200" [1m]))`, or the same with an `unwrap` of a capture. Split lines and cached
 * pages give the captures without lines.
 *
 * The filters and the assigner of series read the labels of the first row with a value. Rows with a value that a filter cannot
 * convert run through the stages, because they have an error.
 */
import { CaptureFinder } from '../../base/kernels/capture-finder.ts';
import { enlarged } from '../../base/model/enlarged.ts';
import type { Run } from '../../base/model/page.ts';
import {
  type CaptureNumbers,
  type CaptureWants,
  captureWants,
  type PageCaptures,
} from '../../base/model/page-captures.ts';
import { runsOfRows } from '../../base/model/runs-of-rows.ts';
import type { LabelTest } from './label-filter.ts';
import type { PatternPlan } from './pattern-parser.ts';
import { KIND_RAW } from './row-labels.ts';
import type { SeriesAssigner } from './series-assigner.ts';
import type { StageRunner } from './stage-runner.ts';
import type { Unwrapper } from './unwrap.ts';
import { ValueIds } from './value-ids.ts';

interface PatternSamplesParts {
  readonly runner: StageRunner;
  readonly assigner: SeriesAssigner;
  readonly plan: PatternPlan;
  readonly unwrapper: Unwrapper | undefined;
}

/** Arrays to which a group of rows appends; they have space for it. */
interface SampleColumns {
  readonly rows: Uint32Array;
  readonly series: Uint32Array;
  /** Written if there is an unwrapper. */
  readonly values: Float64Array;
}

/** Cached filter results of a value; initially unknown. */
const KEPT = 1;
const REJECTED = 2;
/** Only the stages can decide: they set an error. */
const ASK = 3;

/** Cached states of an unwrapped value; initially unknown. NUMBER: it converts. */
const NUMBER = 1;
/** The value is empty: the row yields no sample. */
const NOTHING = 2;
/** The row has an error, which depends on more than the value. */
const FAILED = 3;

const FIRST_VALUES = 256;

/** Number of values for a trial. If most of them occurred only once, caching gains nothing. */
const TRIAL_VALUES = 1024;
/** Maximum cached values; with more, the cache would be too large. */
const MAX_VALUES = 1 << 16;

const NO_NUMBERS: CaptureNumbers = {
  first: 0,
  end: 0,
  numbers: new Int32Array(0),
  stride: 0,
  noted: new Int32Array(0),
};

/** Filters on one capture. */
interface CaptureFilter {
  readonly label: number;
  readonly tests: readonly LabelTest[];
  /** Result by value number, 0 if unknown. */
  verdicts: Uint8Array;
}

export class PatternSamples {
  readonly #runner: StageRunner;
  readonly #assigner: SeriesAssigner;
  readonly #plan: PatternPlan;
  readonly #unwrapper: Unwrapper | undefined;
  readonly #values = new ValueIds();
  readonly #filters: readonly CaptureFilter[];
  /** Label of the capture that groups, or -1. */
  readonly #group: number;
  /** Captures of the filters, in their order, then the one that groups, then the unwrapped one. */
  readonly #wants: CaptureWants;
  /** Finds them in lines. */
  readonly #finder: CaptureFinder | undefined;
  /** False if a filter reads a label that no capture sets, or if there are too many values. */
  #fits: boolean;
  /** Number of values looked up. */
  #lookups = 0;
  /** For each value of the grouping capture: the run (0 if runs do not matter), and its series. */
  #groupRuns = new Float64Array(FIRST_VALUES).fill(-1);
  #groupSeries = new Uint32Array(FIRST_VALUES);
  /** For each number of a text (`noted`), the state and the converted number of the unwrapped value. */
  #statesOf: Int32Array | undefined;
  #states = new Uint8Array(0);
  #converted = new Float64Array(0);
  /** Runs with rows of the page, and the number of these rows. */
  #runs: readonly Run[] = [];
  #rows = 0;
  /** Captures of the page; undefined if only the stages can find them, or if they were not requested. */
  #captures: PageCaptures | undefined;
  #areRequested = false;
  /** Number of samples in the batch; the caller sets it first. */
  count = 0;

  constructor({ runner, assigner, plan, unwrapper }: PatternSamplesParts) {
    this.#unwrapper = unwrapper;
    this.#runner = runner;
    this.#assigner = assigner;
    this.#plan = plan;
    const { captures, tests } = plan;
    const { lead, literals, names } = captures;
    const labels = [...new Set(tests.map(({ id }) => id))];
    this.#filters = labels.map(label => ({
      label,
      tests: tests.filter(({ id }) => id === label).map(({ test }) => test),
      verdicts: new Uint8Array(FIRST_VALUES),
    }));
    const groups = (assigner.groupingNames ?? []).filter(name => names.includes(name));
    this.#group = groups.length === 1 ? groups[0] : -1;
    const unwrapped = unwrapper === undefined ? [] : [unwrapper.label];
    const wanted = [...labels, ...groups, ...unwrapped].map(label => names.indexOf(label));
    this.#fits =
      assigner.groupingNames !== undefined &&
      groups.length <= 1 &&
      unwrapper?.hasFilters !== true &&
      !wanted.includes(-1);
    this.#wants = captureWants({ lead, literals, captures: wanted });
    this.#finder = this.#fits ? CaptureFinder.of(this.#wants) : undefined;
  }

  /** Whether this module can handle rows at all. */
  get fits(): boolean {
    return this.#fits;
  }

  /** Begins the rows `selection[0..count)` of the page that the runner has begun, also those that a time slice left. */
  enterPage(selection: Uint32Array, count: number): void {
    this.#areRequested = false;
    this.#captures = undefined;
    if (!this.#fits) return;
    this.#runs = runsOfRows(this.#runner.page.runs, selection, count);
    this.#rows = count;
  }

  /** Returns whether this module can handle the rows of the run that the runner has entered. */
  enterRun(): boolean {
    if (this.#fits && this.#hasTooManyValues()) this.#fits = false;
    if (!this.#fits || !this.#runner.runsStages(this.#plan.stages)) return false;
    const { labels } = this.#runner.row;
    // A capture whose name is used already sets another label. A metadata column has a different value in
    // each row.
    const isTaken = (id: number) => labels.hasColumn(id) || labels.streamHas(id);
    if (this.#plan.captures.names.some(id => id >= 0 && isTaken(id))) return false;
    if (this.#assigner.groupingNames!.some(id => labels.hasColumn(id))) return false;
    if (!this.#areRequested) {
      this.#areRequested = true;
      this.#captures = this.#requested();
    }
    return this.#captures !== undefined;
  }

  #requested(): PageCaptures | undefined {
    const { page } = this.#runner;
    const known = page.captures?.(this.#wants, this.#runs, this.#rows);
    return known ?? (this.#finder?.enterPage(page) === true ? this.#finder : undefined);
  }

  /**
   * Writes the passing rows of `selection[from..to)`, and their series, from `count` on. Returns the index of
   * the first row that it left when its time slice ended, or `to` when all are done.
   */
  append(selection: Uint32Array, from: number, to: number, { rows, series, values }: SampleColumns): number {
    const captures = this.#captures!;
    const filters = this.#filters;
    const group = this.#group;
    const unwrapper = this.#unwrapper;
    const unwrappedAt = filters.length + (group < 0 ? 0 : 1);
    const byRun = this.#assigner.groupingNames!.length > (group < 0 ? 0 : 1);
    const run = byRun ? this.#runner.row.labels.runSerial : 0;
    let { first, end: knownEnd, numbers, stride, noted } = NO_NUMBERS;
    let lookups = 0;
    let end = this.count;
    let next = from;
    while (next < to && !(next > from && this.#runner.isOver(next - 1))) {
      const row = selection[next++];
      if (row >= knownEnd || row < first)
        ({ first, end: knownEnd, numbers, stride, noted } = captures.numbersFrom(row));
      let at = row - first;
      const unwrapped = unwrapper === undefined ? 0 : numbers[at + unwrappedAt * stride];
      let verdict = KEPT;
      for (let f = 0; f < filters.length && verdict !== REJECTED; f++) {
        const filter = filters[f];
        const number = numbers[at];
        at += stride;
        let value = 0;
        if (number !== 0) {
          lookups++;
          value = (number > 0 && noted[number]) || this.#valueOf(f, row, number, noted);
        }
        const one = filter.verdicts[value] || this.#judge(f, value, row, number);
        if (one !== KEPT) verdict = one;
      }
      if (verdict === REJECTED) continue;
      if (unwrapper !== undefined && verdict === KEPT) {
        // A row without the label yields no sample.
        if (unwrapped === 0) continue;
        if (noted !== this.#statesOf) this.#enterNumbers(noted);
        const state = (unwrapped > 0 && this.#states[unwrapped]) || this.#convert(row, unwrapped);
        if (state === NOTHING) continue;
        if (state === FAILED) verdict = ASK;
        else values[end] = unwrapped > 0 ? this.#converted[unwrapped] : unwrapper.value;
      }
      if (verdict === ASK) {
        if (!this.#runner.process(row)) continue;
        if (unwrapper !== undefined) {
          if (!unwrapper.read()) continue;
          values[end] = unwrapper.value;
        }
        series[end] = this.#assigner.seriesOfRow();
      } else {
        const number = group < 0 ? 0 : numbers[at];
        let value = 0;
        if (number !== 0) {
          lookups++;
          value = (number > 0 && noted[number]) || this.#valueOf(filters.length, row, number, noted);
        }
        if (this.#groupRuns[value] !== run) this.#assign(value, row, number, run);
        series[end] = this.#groupSeries[value];
      }
      rows[end++] = row;
    }
    this.#lookups += lookups;
    this.count = end;
    return next;
  }

  /** Returns the number of a capture's value in a row, and notes it for the number of its text, if that is one. */
  #valueOf(i: number, row: number, number: number, noted: Int32Array): number {
    const { source, start, end } = this.#captures!.bytesOf(i, row, number);
    const value = this.#values.idOfBytes(source, start, end, false);
    if (number > 0) noted[number] = value;
    return value;
  }

  /** Enters a row with the label of one capture only. Its number is 0 if it is not set. */
  #enterRow(row: number, label: number, i: number, number: number): void {
    const { labels } = this.#runner.row;
    labels.enterRow(row);
    if (number === 0) return;
    const { source, start, end } = this.#captures!.bytesOf(i, row, number);
    labels.setBytes(label, KIND_RAW, source, start, end);
  }

  /** Evaluates the filters for a value, using a row that has it. */
  #judge(f: number, value: number, row: number, number: number): number {
    const filter = this.#filters[f];
    const { labels } = this.#runner.row;
    this.#enterRow(row, filter.label, f, number);
    let verdict = KEPT;
    for (const test of filter.tests) {
      if (!test(labels)) verdict = REJECTED;
      else if (labels.error !== '' && verdict === KEPT) verdict = ASK;
    }
    if (value >= filter.verdicts.length)
      filter.verdicts = enlarged(filter.verdicts, new Uint8Array(2 * value));
    filter.verdicts[value] = verdict;
    return verdict;
  }

  /** Begins a list of numbers for texts. */
  #enterNumbers(noted: Int32Array): void {
    this.#statesOf = noted;
    if (this.#states.length < noted.length) {
      this.#states = new Uint8Array(noted.length);
      this.#converted = new Float64Array(noted.length);
    } else this.#states.fill(0);
  }

  /** Returns the state of an unwrapped value, and notes it for the number of its text, if that is one. */
  #convert(row: number, number: number): number {
    const unwrapper = this.#unwrapper!;
    this.#enterRow(row, unwrapper.label, this.#wants.captures.length - 1, number);
    const isSample = unwrapper.read();
    let state = isSample ? NUMBER : NOTHING;
    if (this.#runner.row.labels.error !== '') state = FAILED;
    if (number > 0) {
      this.#states[number] = state;
      this.#converted[number] = unwrapper.value;
    }
    return state;
  }

  /** Finds the series of a value, using a row that has it and passes. */
  #assign(value: number, row: number, number: number, run: number): void {
    if (value >= this.#groupRuns.length) {
      this.#groupRuns = enlarged(this.#groupRuns, new Float64Array(2 * value).fill(-1));
      this.#groupSeries = enlarged(this.#groupSeries, new Uint32Array(2 * value));
    }
    this.#enterRow(row, this.#group, this.#filters.length, number);
    this.#groupSeries[value] = this.#assigner.seriesOfRow();
    this.#groupRuns[value] = run;
  }

  #hasTooManyValues(): boolean {
    const { count } = this.#values;
    return count > MAX_VALUES || (count > TRIAL_VALUES && 2 * count > this.#lookups);
  }
}
