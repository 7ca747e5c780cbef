/** Plan of an import: combines the options of `logboom push` and turns a parsed line into an entry. */
import { CommandError } from '../command-error.ts';
import { timeOfLine } from './entry-time.ts';
import type { EntryTimes, TimeFallback } from './entry-times.ts';
import { fieldOf, textOfValue } from './field-values.ts';
import type { FormatName } from './formats.ts';
import type { JoinedEntry, Multiline } from './line-joiner.ts';
import type { TimeReader } from './time-reader.ts';

/** Label or metadata name, and the field that provides its value. */
export interface FieldChoice {
  readonly name: string;
  readonly field: string;
}

export interface ImportPlan {
  /** Format name. `auto` detects it and falls back to `plain`. */
  readonly format: FormatName | 'auto';
  readonly timeField?: string;
  readonly timeFormat?: string;
  /** Fallback rule; undefined selects the default of the format. */
  readonly timeFallback?: TimeFallback;
  readonly labelFields: readonly FieldChoice[];
  readonly metadataFields: readonly FieldChoice[];
  /** Multiline rule; undefined selects the default of the format. */
  readonly multiline?: Multiline;
  readonly csvColumns?: readonly string[];
}

export interface ImportEntry {
  readonly timeNs: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly line: string;
}

/**
 * Maximum number of streams per input. A field with more values belongs in the metadata, and a store refuses
 * that many streams anyway.
 */
export const MAX_INPUT_STREAMS = 10_000;

export class EntryBuilder {
  readonly #plan: ImportPlan;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #times: TimeReader;
  readonly #entryTimes: EntryTimes;
  /** Labels of the streams by the values of their label fields. */
  readonly #streams = new Map<string, Readonly<Record<string, string>>>();
  unrecognized = 0;

  constructor(
    plan: ImportPlan,
    given: {
      readonly labels: Readonly<Record<string, string>>;
      readonly times: TimeReader;
      readonly entryTimes: EntryTimes;
    },
  ) {
    this.#plan = plan;
    this.#labels = given.labels;
    this.#times = given.times;
    this.#entryTimes = given.entryTimes;
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  /**
   * Entry to store; undefined if it has no time and such entries are skipped. Throws CommandError if there
   * are too many streams.
   */
  build({ parsed, line }: JoinedEntry): ImportEntry | undefined {
    if (parsed === undefined) this.unrecognized++;
    const ownNs = parsed === undefined ? undefined : timeOfLine(parsed, this.#times, this.#plan.timeField);
    const timeNs = this.#entryTimes.next(ownNs);
    if (timeNs === undefined) return undefined;
    const valuesOf = (choices: readonly FieldChoice[]) =>
      parsed === undefined
        ? []
        : choices.map(({ name, field }) => [name, textOfValue(fieldOf(parsed, field))] as const);
    const metadata: Record<string, string> = { ...parsed?.metadata };
    for (const [name, value] of valuesOf(this.#plan.metadataFields))
      if (value !== undefined) metadata[name] = value;
    return { timeNs, labels: this.#streamOf(valuesOf(this.#plan.labelFields)), metadata, line };
  }

  #streamOf(values: readonly (readonly [string, string | undefined])[]): Readonly<Record<string, string>> {
    const key = JSON.stringify(values);
    const known = this.#streams.get(key);
    if (known !== undefined) return known;
    if (this.#streams.size >= MAX_INPUT_STREAMS) {
      const names = this.#plan.labelFields.map(({ field }) => field).join(', ');
      throw new CommandError(
        `the label fields (${names}) create over ${MAX_INPUT_STREAMS} streams; use --metadata-field for fields with many values`,
      );
    }
    const labels = { ...this.#labels };
    for (const [name, value] of values) if (value !== undefined) labels[name] = value;
    this.#streams.set(key, labels);
    return labels;
  }
}
