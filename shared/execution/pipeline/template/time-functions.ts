/** Functions on times and dates. Layouts are Go's; a date without a zone is in the process's time zone. */
import { floorDivide } from '../../../base/model/floor-divide.ts';
import { MAX_INT64, MIN_INT64 } from '../../../base/model/int64.ts';
import { quote } from '../../../base/model/quote.ts';
import { NS_PER_DAY, NS_PER_MS, NS_PER_SECOND } from '../../../base/model/time-units.ts';
import { parseGoTime } from './date-parser.ts';
import { CallError } from './error.ts';
import { fixed, type TemplateFunction } from './function-types.ts';
import { formatGoTime } from './layout.ts';
import type { TemplateData } from './state.ts';
import { GoTime, ZERO_TIME } from './time.ts';
import { GoInt, type Value } from './values.ts';
import { localZone, UTC, zoneNamed } from './zone.ts';

const epoch = (toUnits: (time: GoTime) => bigint) =>
  fixed(['time'], ([time]) => BigInt.asIntN(64, toUnits(time as GoTime)).toString());

export const TIME_FUNCTIONS: ReadonlyArray<readonly [string, TemplateFunction]> = [
  ['__timestamp__', fixed([], (_args, data) => new GoTime(data.timestampNs, localZone()))],
  ['now', fixed([], (_args, data) => new GoTime(data.clock.nowNs(), localZone()))],
  [
    'date',
    fixed(['string', 'any'], ([layout, when], data) => formatGoTime(timeOf(when, data), layout as string)),
  ],
  [
    'toDate',
    fixed(
      ['string', 'string'],
      ([layout, text]) => parseGoTime(layout as string, text as string, localZone()) ?? ZERO_TIME,
    ),
  ],
  [
    'toDateInZone',
    fixed(
      ['string', 'string', 'string'],
      ([layout, zone, text]) =>
        parseGoTime(layout as string, text as string, zoneNamed(zone as string) ?? UTC) ?? ZERO_TIME,
    ),
  ],
  ['unixEpoch', epoch(time => time.unixSeconds())],
  ['unixEpochMillis', epoch(time => floorDivide(time.ns, NS_PER_MS))],
  ['unixEpochNanos', epoch(time => time.ns)],
  ['unixToTime', fixed(['string'], ([text]) => unixToTime(text as string))],
];

/** Returns a time from a time or Unix seconds; any other value means now, as in the reference's library. */
function timeOf(value: Value, data: TemplateData): GoTime {
  const zone = localZone();
  if (value instanceof GoTime) return value.in(zone);
  const isSeconds = value instanceof GoInt && (value.type === 'int' || value.type === 'int64');
  return isSeconds ? GoTime.ofSeconds(value.value, zone) : new GoTime(data.clock.nowNs(), zone);
}

/** Unit of a Unix time by its number of digits: days, seconds, milli-, micro- and nanoseconds. */
const NS_BY_DIGITS = new Map<number, bigint>([
  [5, NS_PER_DAY],
  [10, NS_PER_SECOND],
  [13, NS_PER_MS],
  [16, 1000n],
  [19, 1n],
]);

function unixToTime(text: string): GoTime {
  const unable = (reason: string) => new CallError(`unable to parse time '${text}': ${reason}`);
  if (!/^[+-]?\d+$/.test(text)) throw unable(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
  // A number with more digits than any int64 is not converted.
  const value = text.length > 40 ? MAX_INT64 + 1n : BigInt(text.replace('+', ''));
  if (value > MAX_INT64 || value < MIN_INT64) {
    throw unable(`strconv.ParseInt: parsing ${quote(text)}: value out of range`);
  }
  const unit = NS_BY_DIGITS.get(text.length);
  // The reference prints a missing reason in this way.
  if (unit === undefined) throw unable('%!w(<nil>)');
  return new GoTime(value * unit, localZone());
}
