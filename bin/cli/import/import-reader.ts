/** Parses the text of an input into the entries to store. */
import { LineSplitter } from '../line-splitter.ts';
import { detectFormat, MAX_DETECTION_LINES } from './detect.ts';
import { EntryTimes } from './entry-times.ts';
import { createFormat, type FormatName } from './formats.ts';
import { EntryBuilder, type ImportEntry, type ImportPlan } from './import-plan.ts';
import type { FormatOptions } from './line-format.ts';
import { LineJoiner, type Multiline } from './line-joiner.ts';
import { timeReader } from './time-reader.ts';

export interface InputContext {
  readonly labels: Readonly<Record<string, string>>;
  /** Modification time of a file that does not grow. */
  readonly fileNs: bigint | undefined;
  readonly nowNs: () => bigint;
}

/**
 * Format of an input, detected from its first chunk of bytes. Does not wait for more, because the next line
 * may come much later.
 */
export function importFormat(first: Buffer, plan: ImportPlan, context: InputContext): FormatName {
  if (plan.format !== 'auto') return plan.format;
  const lines = first.toString('utf8').split(/\r?\n/, MAX_DETECTION_LINES + 1);
  // The last line may be incomplete.
  if (lines.length > 1) lines.pop();
  const options = { ...formatOptions(plan, context), timeField: plan.timeField };
  return detectFormat(lines.map(withoutMark), options) ?? 'plain';
}

function formatOptions({ timeFormat, csvColumns }: ImportPlan, context: InputContext): FormatOptions {
  const referenceNs = context.fileNs ?? context.nowNs();
  return { times: timeReader(timeFormat, Number(referenceNs / 1_000_000n)), csvColumns };
}

const DEFAULT_MULTILINE: Multiline = { kind: 'off' };

export class ImportReader {
  readonly #splitter: LineSplitter;
  readonly #joiner: LineJoiner;
  readonly #builder: EntryBuilder;
  readonly #times: EntryTimes;
  /** Input lines whose entries were emitted or skipped. */
  doneLines = 0;
  skipped = 0;

  constructor(
    format: FormatName,
    plan: ImportPlan,
    context: InputContext,
    onEntry: (entry: ImportEntry, lines: number) => void,
  ) {
    const options = formatOptions(plan, context);
    const lineFormat = createFormat(format, options);
    // A plain line has no time except when it is read.
    const fallback = plan.timeFallback ?? (format === 'plain' ? 'now' : 'previous');
    this.#times = new EntryTimes({ fallback, fileNs: context.fileNs, nowNs: context.nowNs });
    this.#builder = new EntryBuilder(plan, {
      labels: context.labels,
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

  /** Input bytes whose entries were emitted. */
  get endBytes(): number {
    return this.#joiner.heldFrom ?? this.#splitter.endBytes;
  }

  get holdsLines(): boolean {
    return this.#joiner.heldFrom !== undefined;
  }

  get streams(): number {
    return this.#builder.streamCount;
  }

  /** Number of lines that do not match the format. */
  get unrecognized(): number {
    return this.#builder.unrecognized;
  }

  get withoutTime(): number {
    return this.#times.withoutTime;
  }

  feed(piece: Buffer): void {
    this.#splitter.feed(piece);
  }

  /** Emits the entries that wait for further lines. */
  flush(): void {
    this.#joiner.finish();
  }

  finish({ leavesOpenLine = false } = {}): void {
    if (!leavesOpenLine) this.#splitter.finish();
    this.#joiner.finish();
  }
}

/** Removes the byte order mark that Windows puts before text. */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
