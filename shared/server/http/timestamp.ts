/**
 * Timestamps in query parameters (docs/dev/wire-format.md#parameters).
 *
 * Pitfall: an integer of at most 10 characters is seconds, a longer one nanoseconds. A number with a dot is
 * seconds, rounded to milliseconds.
 */
import { parseGoFloat } from '../../base/model/number.ts';
import { MS_PER_MINUTE, NS_PER_MS, NS_PER_SECOND } from '../../base/model/time-units.ts';
import { clampInt64, parseInt64 } from './strconv.ts';

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;
const MAX_SECONDS_CHARACTERS = 10;
/** Maximum seconds that fit int64 nanoseconds. */
const MAX_SECONDS = 9_223_372_036;

/**
 * Unix time in nanoseconds. Times outside int64 nanoseconds become the nearest possible one. Throws
 * BadRequestError with the message of Go's ParseInt if the text is not a timestamp.
 */
export function parseTimestamp(text: string): bigint {
  if (text.includes('.')) {
    const seconds = parseGoFloat(text);
    if (seconds !== undefined) return floatSeconds(seconds);
  }
  const instant = parseRfc3339(text);
  if (instant !== undefined) return instant;
  const value = parseInt64(text, 'ParseInt');
  return text.length <= MAX_SECONDS_CHARACTERS ? clampInt64(value * NS_PER_SECOND) : value;
}

function floatSeconds(seconds: number): bigint {
  const whole = Math.trunc(Math.max(-MAX_SECONDS, Math.min(MAX_SECONDS, seconds)));
  const fraction = Math.abs(seconds) < MAX_SECONDS ? seconds - whole : 0;
  // Rounds half a millisecond away from zero, like Go's math.Round.
  const ms = Math.sign(fraction) * Math.round(Math.abs(fraction) * 1000);
  return BigInt(whole) * NS_PER_SECOND + BigInt(ms) * NS_PER_MS;
}

/**
 * Nanoseconds of an RFC 3339 text with an optional fraction; `undefined` if invalid. Deletes and old pushes
 * use it too.
 */
export function parseRfc3339(text: string): bigint | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const [zoneHours, zoneMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (zoneHours > 24 || zoneMinutes > 60) return undefined;
  const zoneMs = (zoneHours * 60 + zoneMinutes) * MS_PER_MINUTE * (match[8] === '-' ? -1 : 1);
  // Date.UTC maps years below 100 to the twentieth century, but Date.parse does not.
  const midnight = Date.parse(`${match[1]}-${match[2]}-${match[3]}T00:00:00Z`);
  const ms = midnight + ((hour * 60 + minute) * 60 + second) * 1000 - zoneMs;
  const nanos = BigInt((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  return clampInt64(BigInt(ms) * NS_PER_MS + nanos);
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}
