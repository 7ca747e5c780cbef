/** What a log format makes of a line: one file of formats/ for each. */
import type { TimeReader } from './time-reader.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface ParsedLine {
  readonly fields: Fields;
  /** The time, if the format has a place for it; otherwise it is in one of the time fields. */
  readonly timeNs?: bigint;
  /** The entry's line, if it is not the line itself: the message inside a wrapper. */
  readonly line?: string;
  /** Structured metadata that the format gives each entry. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The message goes on in the next line of the same channel, without a line break. */
  readonly isPartial?: boolean;
  /** Partial lines of different channels may be mixed, such as stdout and stderr of a container. */
  readonly channel?: string;
}

export interface LineFormat {
  /** Undefined if the line is not of this format. */
  parse(line: string): ParsedLine | undefined;
  /** The line is no entry but tells about the next ones. It is asked before `parse`. */
  readHeader?(line: string): boolean;
  /** The record of this text ends in a later line. */
  isOpen?(text: string): boolean;
  /** A line without a time at its start belongs to the entry before it. */
  readonly continuesWithoutTime?: boolean;
}

export interface FormatOptions {
  readonly times: TimeReader;
  /** Names of CSV columns, if the input has no header line. */
  readonly csvColumns?: readonly string[];
}

/** Severities of syslog and journald, from 0. */
const SEVERITY_LEVELS = ['critical', 'critical', 'critical', 'error', 'warn', 'info', 'info', 'debug'];

export function levelOfSeverity(severity: number): string {
  return SEVERITY_LEVELS[severity] ?? 'unknown';
}

/** The members that have a value. */
export function presentValues(
  members: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(members).filter(
      (each): each is [string, string] => each[1] !== undefined && each[1] !== '-',
    ),
  );
}
