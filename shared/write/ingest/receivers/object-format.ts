/**
 * Recognizes the log files that AWS services and programs store in buckets, and finds the time of their
 * lines. It uses the beginning of the file, not its name: names can be chosen.
 *
 *     cloudtrail   {"Records":[{..},{..}]}                            eventTime, after each record is made a line
 *     json         {"time": "..", ..}                                 as JSON lines
 *     cloudfront   #Version: 1.0 / 2026-11-21 TAB 12:00:00 TAB ..     the first two columns
 *     vpc_flow     version account-id .. start end ..                 the column that the first line names `start`
 *     elb          https 2026-11-21T12:00:00.000000Z app/ ..          one of the first three columns (ALB, NLB, classic)
 *     text         anything else                                      one of the first three columns, if it is a time
 */
import type { Timestamp } from '../timestamp.ts';
import { readDate, readUnix } from './time-value.ts';

type ObjectFormatName = 'cloudtrail' | 'json' | 'cloudfront' | 'vpc_flow' | 'elb' | 'text';

export interface ObjectFormat {
  readonly name: ObjectFormatName;
  /** Column with Unix seconds, for `vpc_flow`. */
  readonly timeColumn: number;
}

/** Bytes of the beginning that decide the format. A header of flow logs names at most 50 columns. */
export const MAX_FORMAT_BYTES = 2048;

const CLOUDTRAIL = /^\s*\{\s*"Records"\s*:\s*\[/;
const ELB = /^(?:https?|h2|grpcs?|wss?|tls) |^\d{4}-\d\d-\d\dT[0-9:.]+Z \S+ [0-9.]+:\d+ /;
const COLUMN_NAMES = /^[a-z][a-z0-9-]*$/;
const TIME_COLUMNS = ['start', 'end'];
const HASH = 0x23;
const BLANK = 0x20;
/** Number of columns of a line that may hold its time. */
const TIME_WITHIN_COLUMNS = 3;

export function objectFormat(beginning: Uint8Array): ObjectFormat {
  const text = Buffer.from(beginning.subarray(0, MAX_FORMAT_BYTES)).toString('latin1');
  const columns = text.split('\n', 1)[0].trim().split(' ');
  const timeColumn = TIME_COLUMNS.map(name => columns.indexOf(name)).find(index => index >= 0);
  const format = (name: ObjectFormatName): ObjectFormat => ({ name, timeColumn: timeColumn ?? 0 });
  if (CLOUDTRAIL.test(text)) return format('cloudtrail');
  if (/^\s*\{/.test(text)) return format('json');
  if (text.startsWith('#Version:')) return format('cloudfront');
  if (timeColumn !== undefined && columns.length > 2 && columns.every(name => COLUMN_NAMES.test(name))) {
    return format('vpc_flow');
  }
  return format(ELB.test(text) ? 'elb' : 'text');
}

/** Whether a line describes the file and is not an entry. */
export function isHeader(
  format: ObjectFormat,
  bytes: Uint8Array,
  start: number,
  lineNumber: number,
): boolean {
  if (format.name === 'cloudfront') return bytes[start] === HASH;
  return format.name === 'vpc_flow' && lineNumber === 0;
}

/** Reads the time of the line `bytes[start, end)`. Returns false if it has none. */
export function timeOfLine(
  into: Timestamp,
  format: ObjectFormat,
  bytes: Buffer,
  start: number,
  end: number,
): boolean {
  switch (format.name) {
    case 'cloudfront':
      return readDate(into, bytes, start, Math.min(start + 'YYYY-MM-DD hh:mm:ss'.length, end));
    case 'vpc_flow': {
      let from = start;
      for (let column = 0; column < format.timeColumn; column++) {
        from = columnEnd(bytes, from, end) + 1;
        if (from >= end) return false;
      }
      return readUnix(into, bytes, from, columnEnd(bytes, from, end));
    }
    default:
      return dateAmong(into, bytes, start, end);
  }
}

function dateAmong(into: Timestamp, bytes: Buffer, start: number, end: number): boolean {
  let from = start;
  for (let column = 0; column < TIME_WITHIN_COLUMNS && from < end; column++) {
    const to = columnEnd(bytes, from, end);
    // A date without a time; the time may be in the next column.
    if (to - from === 'YYYY-MM-DD'.length && to < end) {
      if (readDate(into, bytes, from, columnEnd(bytes, to + 1, end))) return true;
    } else if (readDate(into, bytes, from, to)) return true;
    from = to + 1;
  }
  return false;
}

/** Returns the end of the column that starts at `from`. */
function columnEnd(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== BLANK) at++;
  return at;
}
