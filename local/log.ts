/**
 * The program's log: JSON lines on standard error, so that standard output stays for people. Nothing logs bodies,
 * query strings or headers; should a header object ever get in, what identifies a caller is struck out.
 */
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';

export type Log = Logger;

const STANDARD_ERROR = 2;
const SECRETS = ['authorization', 'cookie', 'set-cookie', 'proxy-authorization'];

/** Level as pino names it; it may be set while the program runs. Written at once: a crash loses no line. */
export function createLog(
  level: string,
  to: DestinationStream = destination({ fd: STANDARD_ERROR, sync: true }),
): Log {
  const paths = SECRETS.flatMap(name => [`headers["${name}"]`, `*.headers["${name}"]`]);
  const options = {
    level,
    timestamp: stdTimeFunctions.isoTime,
    base: null,
    redact: paths,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, to);
}
