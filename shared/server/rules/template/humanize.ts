/** Formats numbers as alert templates of Prometheus do: with four significant digits. */
import { parsePrometheusDuration } from '../../../base/model/duration.ts';
import { messageOf } from '../../../base/model/errors.ts';
import { parseGoFloat } from '../../../base/model/number.ts';
import { SECONDS_PER_DAY } from '../../../base/model/time-units.ts';
import { CallError } from '../../../execution/pipeline/template/error.ts';
import { sprintf } from '../../../execution/pipeline/template/printf.ts';
import { GoTime } from '../../../execution/pipeline/template/time.ts';
import { GoInt, typeName, type Value } from '../../../execution/pipeline/template/values.ts';
import { UTC } from '../../../execution/pipeline/template/zone.ts';

const LARGE = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];
const SMALL = ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y'];
const BINARY = ['ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi'];

/** Converts a value to a number, from a number or text. */
function numberOf(value: Value): number {
  if (typeof value === 'number') return value;
  if (value instanceof GoInt) return Number(value.value);
  if (typeof value === 'string') {
    const parsed = parseGoFloat(value);
    if (parsed !== undefined) return parsed;
    throw new CallError(`strconv.ParseFloat: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  throw new CallError(`can't convert ${typeName(value)} to float`);
}

/** Uses prefixes of 1000: `1.234k`, `5m`. */
export function humanize(value: Value): string {
  const number = numberOf(value);
  if (number === 0 || !Number.isFinite(number)) return digits(number);
  if (Math.abs(number) >= 1) return scaled(number, 1000, LARGE);
  let left = number;
  let prefix = '';
  for (const smaller of SMALL) {
    if (Math.abs(left) >= 1) break;
    prefix = smaller;
    left *= 1000;
  }
  return digits(left) + prefix;
}

/** Uses prefixes of 1024. */
export function humanize1024(value: Value): string {
  const number = numberOf(value);
  if (Math.abs(number) <= 1 || !Number.isFinite(number)) return digits(number);
  return scaled(number, 1024, BINARY);
}

function scaled(number: number, base: number, prefixes: readonly string[]): string {
  let left = number;
  let prefix = '';
  for (const larger of prefixes) {
    if (Math.abs(left) < base) break;
    prefix = larger;
    left /= base;
  }
  return digits(left) + prefix;
}

/** Formats seconds: `1d 2h 3m 4s`, `120ms`. */
export function humanizeDuration(value: Value): string {
  const number = numberOf(value);
  if (!Number.isFinite(number)) return digits(number);
  if (number === 0) return `${digits(number)}s`;
  if (Math.abs(number) < 1) {
    let left = number;
    let prefix = '';
    for (const smaller of ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y']) {
      if (Math.abs(left) >= 1) break;
      prefix = smaller;
      left *= 1000;
    }
    return `${digits(left)}${prefix}s`;
  }
  const sign = number < 0 ? '-' : '';
  const all = Math.abs(number);
  const whole = Math.trunc(all);
  const [days, hours, minutes] = [
    Math.trunc(whole / SECONDS_PER_DAY),
    Math.trunc(whole / 3600) % 24,
    Math.trunc(whole / 60) % 60,
  ];
  const seconds = whole % 60;
  if (days !== 0) return `${sign}${days}d ${hours}h ${minutes}m ${seconds}s`;
  if (hours !== 0) return `${sign}${hours}h ${minutes}m ${seconds}s`;
  if (minutes !== 0) return `${sign}${minutes}m ${seconds}s`;
  return `${sign}${digits(all)}s`;
}

/** Formats a ratio: `12.3%`. */
export function humanizePercentage(value: Value): string {
  return `${digits(numberOf(value) * 100)}%`;
}

/** Formats Unix seconds as Go prints a time. */
export function humanizeTimestamp(value: Value): Value {
  const number = numberOf(value);
  return Number.isFinite(number) ? `${sprintf('%v', [timeOf(number)])}` : digits(number);
}

/** Throws for NaN and infinities, which are not times. */
export function toTime(value: Value): GoTime {
  const number = numberOf(value);
  if (!Number.isFinite(number)) throw new CallError(`${digits(number)} is not a time`);
  return timeOf(number);
}

/** Maximum Unix seconds that can be printed: the limit of int64 nanoseconds. */
const MAX_SECONDS = 9_223_372_036;

function timeOf(seconds: number): GoTime {
  if (Math.abs(seconds) > MAX_SECONDS)
    throw new CallError(`${digits(seconds)} cannot be represented as a time`);
  // Rounds to ms, the precision of samples.
  return new GoTime(BigInt(Math.round(seconds * 1000)) * 1_000_000n, UTC);
}

/** Seconds of a duration such as `1h30m`. */
export function parseDuration(text: string): number {
  try {
    return Number(parsePrometheusDuration(text)) / 1e9;
  } catch (error) {
    throw new CallError(messageOf(error));
  }
}

function digits(number: number): string {
  return sprintf('%.4g', [number]);
}
