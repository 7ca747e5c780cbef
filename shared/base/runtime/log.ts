/**
 * Log of the program: JSON lines on standard error, so that standard output remains free for command results.
 * The program never logs bodies, query strings or headers. If a header object is logged by mistake, the log
 * removes the credentials.
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

/** Log interface of a server, implemented by the program's log and by logs of its threads. */
export type ServerLog = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>
> & { isLevelEnabled(level: 'debug'): boolean };

const STANDARD_ERROR = 2;
const SECRETS = ['authorization', 'cookie', 'set-cookie', 'proxy-authorization'];

/** Number of lines written, by log and level. The counts live as long as their log. */
const WRITTEN = new WeakMap<object, Map<string, number>>();

/** Returns the line counts of this log and its children. */
export function linesOf(log: Log): ReadonlyMap<string, number> {
  return WRITTEN.get(log) ?? new Map();
}

function standardError(): DestinationStream {
  const to = destination({ fd: STANDARD_ERROR, sync: true });
  return isatty(STANDARD_ERROR) ? visibleLog(to) : to;
}

/**
 * Escapes characters that a terminal obeys. JSON escapes fewer of them, and names of rules are chosen by
 * tenants.
 */
export function visibleLog(to: DestinationStream): DestinationStream {
  return { write: line => to.write(visibleLines(line)) };
}

/**
 * Creates a log. The level is a pino level and can be changed at any time. Writes are synchronous, so a crash
 * loses no line.
 */
export function createLog(level: string, to?: DestinationStream): Log {
  const counts = new Map<string, number>();
  const log = countingLog(level, to ?? standardError(), counts);
  WRITTEN.set(log, counts);
  return log;
}

/**
 * Creates a log like createLog. Its library is loaded for the first line, because most starts of a function
 * log nothing.
 */
export function createLazyLog(level: string, to?: DestinationStream): Log {
  const counts = new Map<string, number>();
  let current = level;
  let made: Log | undefined;
  const log = (): Log => (made ??= countingLog(current, to ?? standardError(), counts));
  const lazy = new Proxy({} as Log, {
    get(_, name) {
      if (made === undefined && name === 'level') return current;
      const value: unknown = Reflect.get(log(), name);
      return typeof value === 'function' ? value.bind(log()) : value;
    },
    set(_, name, value) {
      if (made !== undefined || name !== 'level') return Reflect.set(log(), name, value);
      current = value;
      return true;
    },
  });
  WRITTEN.set(lazy, counts);
  return lazy;
}

function countingLog(level: string, to: DestinationStream, counts: Map<string, number>): Log {
  const paths = SECRETS.flatMap(name => [`headers["${name}"]`, `*.headers["${name}"]`]);
  const options: LoggerOptions = {
    level,
    timestamp: stdTimeFunctions.isoTime,
    base: null,
    redact: paths,
    hooks: {
      // pino calls this only for lines that it writes.
      logMethod(args, method, number) {
        const name = levels.labels[number];
        counts.set(name, (counts.get(name) ?? 0) + 1);
        method.apply(this, args);
      },
    },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, to);
}
