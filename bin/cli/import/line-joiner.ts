/**
 * Joins lines to entries: the lines of a stack trace, the parts of a message that a container runtime split,
 * and the lines of a CSV record with line breaks.
 */
import { InvalidArgumentError } from 'commander';
import type { LineFormat, ParsedLine } from './line-format.ts';

/** One line of the input. */
interface InputLine {
  readonly text: string;
  /** Input offset of the line's first byte. */
  readonly startBytes: number;
}

export interface JoinedEntry {
  readonly parsed: ParsedLine | undefined;
  /** Line that is stored. */
  readonly line: string;
  /** Number of input lines. */
  readonly lines: number;
}

export type Multiline =
  | { readonly kind: 'off' | 'stack' | 'time' }
  /** Starts an entry with each line that matches. */
  | { readonly kind: 'first'; readonly pattern: RegExp };

/**
 * Maximum characters of an entry. The default limit of a store is 256 KiB per line, and it would refuse a
 * longer entry as a whole.
 */
const MAX_ENTRY_CHARACTERS = 200_000;
/** Maximum lines of an entry. Longer stack traces are split. */
const MAX_ENTRY_LINES = 2000;
/** Characters of a line that a user's pattern is matched against. */
const MAX_MATCHED_CHARACTERS = 1000;
/**
 * Maximum characters of a line that is parsed. The store refuses longer lines, and patterns would take long.
 */
const MAX_PARSED_CHARACTERS = 1_000_000;

/**
 * Lines that loggers and runtimes (Java, Python, Go, Node.js, .NET, Ruby, Rust) write below the first line of
 * an error.
 */
const CONTINUES =
  /^(?:\s+\S|Caused by: |Suppressed: |\.{3} \d+ (?:more|common frames)|Traceback \(most recent call last\)|During handling of the above exception|The above exception was |goroutine \d+ \[|created by |stack backtrace:|--- End of |[)}\]]+[;,]?$)/;
/** Matches the last line of a Python traceback, which has no indentation. */
const PYTHON_LAST = /^[A-Za-z_][\w.]{0,200}(?:Error|Exception|Warning|Interrupt|Exit)\b/;

export class LineJoiner {
  readonly #format: LineFormat;
  readonly #multiline: Multiline;
  readonly #emit: (entry: JoinedEntry) => void;
  /** Incomplete entries by channel, because parts of stdout and stderr may be interleaved. */
  readonly #pending = new Map<string, Pending>();
  /** First byte of a line that is neither held nor emitted yet. */
  #addedFrom: number | undefined;

  constructor(format: LineFormat, multiline: Multiline, emit: (entry: JoinedEntry) => void) {
    this.#format = format;
    this.#multiline = multiline;
    this.#emit = emit;
  }

  /** First byte of the lines that are not emitted; undefined if all are. */
  get heldFrom(): number | undefined {
    let first = this.#addedFrom;
    for (const { startBytes } of this.#pending.values())
      if (first === undefined || startBytes < first) first = startBytes;
    return first;
  }

  add(line: InputLine): void {
    this.#addedFrom = line.startBytes;
    this.#take(line);
    this.#addedFrom = undefined;
  }

  #take({ text, startBytes }: InputLine): void {
    const format = this.#format;
    const open = this.#pending.get('');
    if (open?.isOpenRecord) {
      this.#append(open, text, '\n');
      if (!format.isOpen!(open.text) || open.isFull) this.#close('', format.parse(open.text));
      return;
    }
    if (format.readHeader?.(text)) return;
    const parsed = text.length > MAX_PARSED_CHARACTERS ? undefined : format.parse(text);
    if (parsed === undefined && format.isOpen?.(text)) {
      this.#hold('', new Pending(undefined, text, startBytes, { isOpenRecord: true }));
      return;
    }
    const channel = parsed?.channel ?? '';
    const line = parsed?.line ?? text;
    const before = this.#pending.get(channel);
    if (before !== undefined && !before.isFull) {
      if (before.isPartial) {
        this.#append(before, line, '');
        before.isPartial = parsed?.isPartial ?? false;
        if (!before.isPartial && this.#multiline.kind === 'off') this.#close(channel);
        return;
      }
      if (this.#continues(before, parsed, line)) {
        this.#append(before, line, '\n');
        before.isPartial = parsed?.isPartial ?? false;
        return;
      }
    }
    if (before !== undefined) this.#close(channel);
    const isPartial = parsed?.isPartial ?? false;
    if (this.#multiline.kind === 'off' && !isPartial) {
      this.#addedFrom = undefined;
      this.#emit({ parsed, line, lines: 1 });
    } else this.#hold(channel, new Pending(parsed, line, startBytes, { isPartial }));
  }

  /** Adds a line to a held entry. */
  #append(pending: Pending, line: string, separator: string): void {
    pending.append(line, separator);
    this.#addedFrom = undefined;
  }

  /** Emits the held entries at the end of the input, or after an idle period. */
  finish(): void {
    for (const channel of [...this.#pending.keys()]) this.#close(channel);
  }

  #hold(channel: string, pending: Pending): void {
    this.#pending.set(channel, pending);
  }

  #close(channel: string, parsedWhole?: ParsedLine): void {
    const { parsed, text, lines } = this.#pending.get(channel)!;
    this.#pending.delete(channel);
    this.#emit({ parsed: parsedWhole ?? parsed, line: parsedWhole?.line ?? text, lines });
  }

  #continues(before: Pending, parsed: ParsedLine | undefined, line: string): boolean {
    const multiline = this.#multiline;
    if (multiline.kind === 'off') return false;
    if (multiline.kind === 'first') return !multiline.pattern.test(line.slice(0, MAX_MATCHED_CHARACTERS));
    // An entry with a time in the format's own position starts a new entry, unless a runtime wrapped each line
    // of a trace.
    if (multiline.kind === 'time') return parsed === undefined;
    if (parsed !== undefined && parsed.line === undefined) return false;
    const start = line.slice(0, MAX_MATCHED_CHARACTERS);
    return CONTINUES.test(start) || (before.hasTraceback && PYTHON_LAST.test(start));
  }
}

class Pending {
  readonly parsed: ParsedLine | undefined;
  readonly startBytes: number;
  readonly isOpenRecord: boolean;
  isPartial: boolean;
  text: string;
  lines = 1;

  constructor(
    parsed: ParsedLine | undefined,
    text: string,
    startBytes: number,
    { isPartial = false, isOpenRecord = false },
  ) {
    this.parsed = parsed;
    this.text = text;
    this.startBytes = startBytes;
    this.isPartial = isPartial;
    this.isOpenRecord = isOpenRecord;
  }

  get isFull(): boolean {
    return this.lines >= MAX_ENTRY_LINES || this.text.length >= MAX_ENTRY_CHARACTERS;
  }

  get hasTraceback(): boolean {
    return this.text.includes('Traceback (most recent call last)');
  }

  append(line: string, separator: string): void {
    this.text += separator + line;
    this.lines++;
  }
}

/**
 * Parses `off`, `stack`, `time`, or a regular expression for the first line of an entry. Throws
 * InvalidArgumentError.
 */
export function parseMultiline(text: string): Multiline {
  if (text === 'off' || text === 'stack' || text === 'time') return { kind: text };
  try {
    return { kind: 'first', pattern: new RegExp(text) };
  } catch (error) {
    throw new InvalidArgumentError(
      `The pattern of first lines is not a valid regular expression: ${(error as Error).message}.`,
    );
  }
}
