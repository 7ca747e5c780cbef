/** Log formats: what a parser returns for a line. formats/ has one file for each format. */
import type { TimeReader } from './time-reader.ts';

export type InputFields = Readonly<Record<string, unknown>>;

export interface ParsedLine {
  readonly fields: InputFields;
  /** Time, if the format defines a position for it; otherwise it is in one of the time fields. */
  readonly timeNs?: bigint;
  /** Line of the entry, if it differs from the input line: the message inside a wrapper. */
  readonly line?: string;
  /** Structured metadata that the format gives each entry. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** True if the message continues in the next line of the same channel, without a line break. */
  readonly isPartial?: boolean;
  /** Channel of a partial line. Channels may be interleaved, such as stdout and stderr of a container. */
  readonly channel?: string;
}

export interface LineFormat {
  /** Parsed line; undefined if the line does not match the format. */
  parse(line: string): ParsedLine | undefined;
  /** True if the line is not an entry but describes the next ones. Called before `parse`. */
  readHeader?(line: string): boolean;
  /** True if the record of this text ends in a later line. */
  isOpen?(text: string): boolean;
  /** True if a line without a time at its start belongs to the entry before it. */
  readonly continuesWithoutTime?: boolean;
}

export interface FormatOptions {
  readonly times: TimeReader;
  /** CSV column names, for input without a header line. */
  readonly csvColumns?: readonly string[];
}

/** Levels by syslog and journald severity, from 0. */
const SEVERITY_LEVELS = ['critical', 'critical', 'critical', 'error', 'warn', 'info', 'info', 'debug'];

export function levelOfSeverity(severity: number): string {
  return SEVERITY_LEVELS[severity] ?? 'unknown';
}

/** Members that have a value. */
export function presentValues(
  members: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(members).filter(
      (each): each is [string, string] => each[1] !== undefined && each[1] !== '-',
    ),
  );
}
