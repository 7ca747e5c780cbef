/** Methods of a time that a template may call: `{{ (__timestamp__).Unix }}`, `{{ now.Format "2006" }}`. */
import { floorDivide } from '../../../base/model/floor-divide.ts';
import { MAX_INT64, MIN_INT64 } from '../../../base/model/int64.ts';
import { NS_PER_MS } from '../../../base/model/time-units.ts';
import { fixed, type TemplateFunction } from './function-types.ts';
import { formatGoTime, goTimeText } from './layout.ts';
import { GoTime, instantOfWall, wallSeconds, ZERO_TIME } from './time.ts';
import { GoInt, type IntType, type Value } from './values.ts';
import { localZone, UTC } from './zone.ts';

type TimeMethod = (time: GoTime, args: Value[]) => Value;

const int = (value: bigint | number, type: IntType = 'int') => new GoInt(BigInt(value), type);
const int64 = (value: bigint) => GoInt.int64(value);
const asInt = (value: Value) => (value as GoInt).value;
const asTime = (value: Value) => (value as GoTime).ns;

function addDate(time: GoTime, [years, months, days]: Value[]): GoTime {
  const clock = time.clock();
  const seconds = wallSeconds({
    ...clock,
    year: clock.year + Number(asInt(years)),
    month: clock.month + Number(asInt(months)),
    day: clock.day + Number(asInt(days)),
  });
  return Number.isSafeInteger(seconds) ? instantOfWall(seconds, clock.nanosecond, time.zone) : ZERO_TIME;
}

function difference(a: bigint, b: bigint): GoInt {
  const ns = a - b;
  if (ns > MAX_INT64) return int(MAX_INT64, 'time.Duration');
  if (ns < MIN_INT64) return int(MIN_INT64, 'time.Duration');
  return int(ns, 'time.Duration');
}

const METHODS = new Map<string, { parameters: TemplateFunction['parameters']; call: TimeMethod }>([
  ['Format', { parameters: ['string'], call: (time, [layout]) => formatGoTime(time, layout as string) }],
  ['String', { parameters: [], call: goTimeText }],
  ['Unix', { parameters: [], call: time => int64(time.unixSeconds()) }],
  ['UnixMilli', { parameters: [], call: time => int64(floorDivide(time.ns, NS_PER_MS)) }],
  ['UnixMicro', { parameters: [], call: time => int64(floorDivide(time.ns, 1000n)) }],
  ['UnixNano', { parameters: [], call: time => int64(time.ns) }],
  ['Year', { parameters: [], call: time => int(time.clock().year) }],
  ['Month', { parameters: [], call: time => int(time.clock().month, 'time.Month') }],
  ['Day', { parameters: [], call: time => int(time.clock().day) }],
  ['Hour', { parameters: [], call: time => int(time.clock().hour) }],
  ['Minute', { parameters: [], call: time => int(time.clock().minute) }],
  ['Second', { parameters: [], call: time => int(time.clock().second) }],
  ['Nanosecond', { parameters: [], call: time => int(time.clock().nanosecond) }],
  ['Weekday', { parameters: [], call: time => int(time.clock().weekday, 'time.Weekday') }],
  ['YearDay', { parameters: [], call: time => int(time.clock().yearDay) }],
  ['IsZero', { parameters: [], call: time => time.ns === ZERO_TIME.ns }],
  ['UTC', { parameters: [], call: time => time.in(UTC) }],
  ['Local', { parameters: [], call: time => time.in(localZone()) }],
  ['Add', { parameters: ['duration'], call: (time, [by]) => new GoTime(time.ns + asInt(by), time.zone) }],
  ['AddDate', { parameters: ['int', 'int', 'int'], call: addDate }],
  ['Sub', { parameters: ['time'], call: (time, [other]) => difference(time.ns, asTime(other)) }],
  ['Before', { parameters: ['time'], call: (time, [other]) => time.ns < asTime(other) }],
  ['After', { parameters: ['time'], call: (time, [other]) => time.ns > asTime(other) }],
  ['Equal', { parameters: ['time'], call: (time, [other]) => time.ns === asTime(other) }],
]);

/** Returns the method bound to its time, or undefined if it does not exist. */
export function methodOf(time: GoTime, name: string): TemplateFunction | undefined {
  const method = METHODS.get(name);
  return method && fixed(method.parameters, args => method.call(time, args));
}
