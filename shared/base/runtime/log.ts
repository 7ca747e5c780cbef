/**
 * The program's log: JSON lines on standard error, so that standard output stays for people. Nothing logs bodies,
 * query strings or headers; should a header object ever get in, what identifies a caller is struck out.
 */
import { isatty } from 'node:tty';
import {
  type DestinationStream,
  destination,
  type Logger,
  type LoggerOptions,
  levels,
  pino,
  stdTimeFunctions,
} from 'pino';
import { visibleLines } from '../model/visible-text.ts';

export type Log = Logger;

/** What a server needs of a log: the program's own, or that of a thread. */
export type ServerLog = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>
> & { isLevelEnabled(level: 'debug'): boolean };

const STANDARD_ERROR = 2;
const SECRETS = ['authorization', 'cookie', 'set-cookie', 'proxy-authorization'];

/** Lines that logs have written, by level; a log is forgotten with its counts. */
const written = new WeakMap<object, Map<string, number>>();

/** Of this log and its children. */
export function linesOf(log: Log): ReadonlyMap<string, number> {
  return written.get(log) ?? new Map();
}

function standardError(): DestinationStream {
  const to = destination({ fd: STANDARD_ERROR, sync: true });
  return isatty(STANDARD_ERROR) ? visibleLog(to) : to;
}

/** For a terminal, without what it obeys: JSON escapes less than that, and names of rules are their authors'. */
export function visibleLog(to: DestinationStream): DestinationStream {
  return { write: line => to.write(visibleLines(line)) };
}

/** Level as pino names it; it may be set while the program runs. Written at once: a crash loses no line. */
export function createLog(level: string, to: DestinationStream = standardError()): Log {
  const paths = SECRETS.flatMap(name => [`headers["${name}"]`, `*.headers["${name}"]`]);
  const counts = new Map<string, number>();
  const options: LoggerOptions = {
    level,
    timestamp: stdTimeFunctions.isoTime,
    base: null,
    redact: paths,
    hooks: {
      // Called for what is written alone.
      logMethod(args, method, number) {
        const name = levels.labels[number];
        counts.set(name, (counts.get(name) ?? 0) + 1);
        method.apply(this, args);
      },
    },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const log = pino(options, to);
  written.set(log, counts);
  return log;
}
