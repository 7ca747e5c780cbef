/**
 * Durations in the two dialects of the API. Prometheus: `1h30m`, units `y w d h m s ms`, descending, without
 * fractions. Go: `1.5h`, `-90m`, units `h m s ms us µs ns`. Values are whole nanoseconds as bigint: a year is
 * over 2^53 ns.
 */

import { bytesOfText } from './byte-text.ts';
import { MAX_INT64 } from './int64.ts';
import { quote } from './quote.ts';
import { NS_OF_SECOND, NS_PER_HOUR, NS_PER_MINUTE, NS_PER_MS, NS_PER_SECOND } from './time-units.ts';

/** Returns seconds. Converts whole seconds and the fraction separately, as Go's `Duration.Seconds` does. */
export function secondsOfDuration(ns: bigint): number {
  return Number(ns / NS_PER_SECOND) + Number(ns % NS_PER_SECOND) / NS_OF_SECOND;
}

/**
 * Maximum number of digits. More digits overflow with any unit, and converting them to bigint would take
 * quadratic time.
 */
const MAX_INT64_DIGITS = 19;
const PROMETHEUS =
  /^(?:([0-9]+)y)?(?:([0-9]+)w)?(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?(?:([0-9]+)ms)?$/;
const PROMETHEUS_MS = [31_536_000_000n, 604_800_000n, 86_400_000n, 3_600_000n, 60_000n, 1000n, 1n];

/** Returns the nanoseconds of a Prometheus duration. Throws an Error with the reference's text. */
export function parsePrometheusDuration(text: string): bigint {
  if (text === '0') return 0n;
  if (text === '') throw new Error('empty duration string');
  const match = PROMETHEUS.exec(text);
  if (match === null) throw new Error(`not a valid duration string: ${quote(text)}`);
  let ms = 0n;
  for (let i = 0; i < PROMETHEUS_MS.length; i++) {
    const digits = match[i + 1]?.replace(/^0+(?=\d)/, '');
    if (digits === undefined) continue;
    if (digits.length > MAX_INT64_DIGITS) throw new Error('duration out of range');
    ms += BigInt(digits) * PROMETHEUS_MS[i];
  }
  if (ms * NS_PER_MS > MAX_INT64) throw new Error('duration out of range');
  return ms * NS_PER_MS;
}

/**
 * Formats a Prometheus duration; below a millisecond it is `0s`. Years and weeks appear only if they divide
 * evenly.
 */
export function formatPrometheusDuration(ns: bigint): string {
  if (ns < 0n) return `-${formatPrometheusDuration(-ns)}`;
  let ms = ns / NS_PER_MS;
  if (ms === 0n) return '0s';
  let out = '';
  const units = ['y', 'w', 'd', 'h', 'm', 's', 'ms'];
  for (let i = 0; i < units.length; i++) {
    const size = PROMETHEUS_MS[i];
    const exactOnly = i < 2;
    if (exactOnly && ms % size !== 0n) continue;
    const count = ms / size;
    if (count > 0n) {
      out += `${count}${units[i]}`;
      ms -= count * size;
    }
  }
  return out;
}

const GO_UNITS = new Map<string, bigint>([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', NS_PER_MS],
  ['s', NS_PER_SECOND],
  ['m', NS_PER_MINUTE],
  ['h', NS_PER_HOUR],
]);

/** Returns the nanoseconds of a Go duration, signed. Throws an Error with Go's text (`time: ...`). */
export function parseGoDuration(text: string): bigint {
  const invalid = () => new Error(`time: invalid duration ${quoteTime(text)}`);
  let at = 0;
  let negative = false;
  if (text[0] === '-' || text[0] === '+') {
    negative = text[0] === '-';
    at = 1;
  }
  if (text.slice(at) === '0') return 0n;
  if (at === text.length) throw invalid();
  let total = 0n;
  const part = /(\d*)(\.(\d*))?([^\d.]*)/y;
  while (at < text.length) {
    part.lastIndex = at;
    const match = part.exec(text)!;
    const [whole, digits, dot, fraction, unit] = match;
    if (digits === '' && (dot === undefined || fraction === '')) throw invalid();
    if (unit === '') throw new Error(`time: missing unit in duration ${quoteTime(text)}`);
    const size = GO_UNITS.get(unit);
    if (size === undefined)
      throw new Error(`time: unknown unit ${quoteTime(unit)} in duration ${quoteTime(text)}`);
    if (digits.length > MAX_INT64_DIGITS && /[1-9]/.test(digits.slice(0, -MAX_INT64_DIGITS))) throw invalid();
    total += BigInt(digits.slice(-MAX_INT64_DIGITS) || '0') * size;
    if (fraction) {
      // Digits after the 18th cannot change a nanosecond.
      const shown = fraction.slice(0, 18);
      total += (BigInt(shown) * size) / 10n ** BigInt(shown.length);
    }
    if (total > MAX_INT64 + (negative ? 1n : 0n)) throw invalid();
    at += whole.length;
  }
  return negative ? -total : total;
}

/** Quotes a text as Go's package time does: characters outside printable ASCII become bytes. */
function quoteTime(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replace(/[^ -~\u007f]/gu, char => {
    const bytes = Array.from(bytesOfText(char), byte => `\\x${byte.toString(16).padStart(2, '0')}`);
    return bytes.join('');
  });
  return `"${escaped}"`;
}

/** Formats as Go's `Duration.String()`: `1h30m0s`, `1.5s`, `100µs`, `0s`. */
export function formatGoDuration(ns: bigint): string {
  if (ns === 0n) return '0s';
  if (ns < 0n) return `-${formatGoDuration(-ns)}`;
  if (ns < 1000n) return `${ns}ns`;
  if (ns < NS_PER_MS) return `${decimal(ns, 1000n)}µs`;
  if (ns < NS_PER_SECOND) return `${decimal(ns, NS_PER_MS)}ms`;
  const minutes = ns / NS_PER_MINUTE;
  const seconds = decimal(ns % NS_PER_MINUTE, NS_PER_SECOND);
  if (minutes === 0n) return `${seconds}s`;
  if (minutes < 60n) return `${minutes}m${seconds}s`;
  return `${minutes / 60n}h${minutes % 60n}m${seconds}s`;
}

function decimal(value: bigint, unit: bigint): string {
  const rest = value % unit;
  if (rest === 0n) return `${value / unit}`;
  const places = unit.toString().length - 1;
  return `${value / unit}.${rest.toString().padStart(places, '0').replace(/0+$/, '')}`;
}
