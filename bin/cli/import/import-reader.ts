/** Text of an input to its entries, as they will be stored. */
import { LineSplitter } from '../line-splitter.ts';
import { detectFormat, MAX_DETECTION_LINES } from './detect.ts';
import { EntryTimes } from './entry-times.ts';
import { createFormat, type FormatName } from './formats.ts';
import { EntryBuilder, type ImportEntry, type ImportPlan } from './import-plan.ts';
import type { FormatOptions } from './line-format.ts';
import { LineJoiner, type Multiline } from './line-joiner.ts';
import { timeReader } from './time-reader.ts';

export interface InputFacts {
  readonly labels: Readonly<Record<string, string>>;
  /** When it was written last, if it is a file that does not grow. */
  readonly fileNs: bigint | undefined;
  readonly nowNs: () => bigint;
}

/** The first piece of an input tells its format; more is not waited for, because the next line may be far away. */
export function formatOf(first: Buffer, plan: ImportPlan, facts: InputFacts): FormatName {
  if (plan.format !== 'auto') return plan.format;
  const lines = first.toString('utf8').split(/\r?\n/, MAX_DETECTION_LINES + 1);
  // The last one may be cut.
  if (lines.length > 1) lines.pop();
  const options = { ...formatOptions(plan, facts), timeField: plan.timeField };
  return detectFormat(lines.map(withoutMark), options) ?? 'plain';
}

function formatOptions({ timeFormat, csvColumns }: ImportPlan, facts: InputFacts): FormatOptions {
  const referenceNs = facts.fileNs ?? facts.nowNs();
  return { times: timeReader(timeFormat, Number(referenceNs / 1_000_000n)), csvColumns };
}

const DEFAULT_MULTILINE: Multiline = { kind: 'off' };

export class ImportReader {
  readonly #splitter: LineSplitter;
  readonly #joiner: LineJoiner;
  readonly #builder: EntryBuilder;
  readonly #times: EntryTimes;
  /** Lines of the input whose entries were handed on, or left out. */
  doneLines = 0;
  skipped = 0;

  constructor(
    format: FormatName,
    plan: ImportPlan,
    facts: InputFacts,
    onEntry: (entry: ImportEntry, lines: number) => void,
  ) {
    const options = formatOptions(plan, facts);
    const lineFormat = createFormat(format, options);
    // The time at which a line is read is all that is known of a plain one.
    const fallback = plan.timeFallback ?? (format === 'plain' ? 'now' : 'previous');
    this.#times = new EntryTimes({ fallback, fileNs: facts.fileNs, nowNs: facts.nowNs });
    this.#builder = new EntryBuilder(plan, {
      labels: facts.labels,
      times: options.times,
      entryTimes: this.#times,
    });
    const isOfLines = lineFormat.continuesWithoutTime === true;
    const multiline = plan.multiline ?? (isOfLines ? { kind: 'time' as const } : DEFAULT_MULTILINE);
    this.#joiner = new LineJoiner(lineFormat, multiline, joined => {
      this.doneLines += joined.lines;
      const entry = this.#builder.build(joined);
      if (entry === undefined) this.skipped++;
      else onEntry(entry, joined.lines);
    });
    let startBytes = 0;
    this.#splitter = new LineSplitter((source, start, end) => {
      const text = source.utf8Slice(start, end);
      const line = startBytes === 0 ? withoutMark(text) : text;
      this.#joiner.add({ text: line, startBytes });
      startBytes = this.#splitter.endBytes;
    });
  }

  /** Bytes of input whose entries were handed on. */
  get endBytes(): number {
    return this.#joiner.heldFrom ?? this.#splitter.endBytes;
  }

  get holdsLines(): boolean {
    return this.#joiner.heldFrom !== undefined;
  }

  get streams(): number {
    return this.#builder.streamCount;
  }

  /** Lines that are not of the format. */
  get unrecognized(): number {
    return this.#builder.unrecognized;
  }

  get withoutTime(): number {
    return this.#times.withoutTime;
  }

  feed(piece: Buffer): void {
    this.#splitter.feed(piece);
  }

  /** Hands on the entries that wait for further lines. */
  flush(): void {
    this.#joiner.finish();
  }

  finish({ leavesOpenLine = false } = {}): void {
    if (!leavesOpenLine) this.#splitter.finish();
    this.#joiner.finish();
  }
}

/** Without the mark that Windows puts before text. */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
