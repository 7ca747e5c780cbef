/**
 * Parses a date by its layout. It is as lenient as Go: a fraction may follow the seconds without being in the
 * layout, and spaces match any number of spaces. A mismatch returns undefined, because the date functions
 * ignore the reason.
 */
import { SECONDS_PER_DAY } from '../../../base/model/time-units.ts';
import { layoutElements, MONTHS, WEEKDAYS } from './layout.ts';
import { daysFromCivil, daysInMonth, type GoTime, instantOfWall, wallSeconds } from './time.ts';
import { fixedZone, UTC, type Zone } from './zone.ts';

interface DateFields {
  year: number;
  month: number;
  day: number;
  yearDay: number;
  hour: number;
  minute: number;
  second: number;
  nanosecond: number;
  pm: boolean | undefined;
  zone: Zone | undefined;
  offsetSeconds: number | undefined;
  abbreviation: string;
}

interface Input {
  rest: string;
}

const UNSET = -1;

/** Returns the instant; `zone` applies to a text without an offset. */
export function parseGoTime(layout: string, text: string, zone: Zone): GoTime | undefined {
  const fields: DateFields = {
    year: 0,
    month: UNSET,
    day: UNSET,
    yearDay: UNSET,
    hour: 0,
    minute: 0,
    second: 0,
    nanosecond: 0,
    pm: undefined,
    zone: undefined,
    offsetSeconds: undefined,
    abbreviation: '',
  };
  const input: Input = { rest: text };
  const elements = layoutElements(layout);
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i];
    const read =
      element[0] === '='
        ? skipLiteral(element.slice(1), input)
        : readElement(element, fields, input, elements[i + 1]);
    if (!read) return undefined;
  }
  return input.rest === '' && resolveDay(fields) ? resolveZone(fields, zone) : undefined;
}

function skipLiteral(literal: string, input: Input): boolean {
  let at = 0;
  while (at < literal.length) {
    if (literal[at] === ' ') {
      if (input.rest !== '' && input.rest[0] !== ' ') return false;
      while (literal[at] === ' ') at++;
      input.rest = input.rest.replace(/^ +/, '');
      continue;
    }
    if (input.rest[0] !== literal[at]) return false;
    at++;
    input.rest = input.rest.slice(1);
  }
  return true;
}

/** Consumes the text that the pattern matches at the start. */
function take(input: Input, pattern: RegExp): string | undefined {
  const match = pattern.exec(input.rest);
  if (match === null) return undefined;
  input.rest = input.rest.slice(match[0].length);
  return match[0];
}

function takeNumber(input: Input, pattern: RegExp): number {
  const digits = take(input, pattern);
  return digits === undefined ? Number.NaN : Number(digits);
}

const ONE_OR_TWO = /^\d\d?/;
const TWO = /^\d\d/;

/** Returns the index of the name at the start, ignoring case; -1 if there is none. */
function takeName(input: Input, names: readonly string[], length?: number): number {
  for (const [i, name] of names.entries()) {
    const shown = length === undefined ? name : name.slice(0, length);
    if (input.rest.slice(0, shown.length).toLowerCase() === shown.toLowerCase()) {
      input.rest = input.rest.slice(shown.length);
      return i;
    }
  }
  return -1;
}

function inRange(value: number, low: number, high: number): boolean {
  return value >= low && value <= high;
}

function readElement(
  element: string,
  fields: DateFields,
  input: Input,
  following: string | undefined,
): boolean {
  switch (element) {
    case '2006':
      fields.year = takeNumber(input, /^\d{4}/);
      return fields.year >= 0;
    case '06': {
      const year = takeNumber(input, TWO);
      fields.year = year >= 69 ? 1900 + year : 2000 + year;
      return year >= 0;
    }
    case 'January':
      fields.month = takeName(input, MONTHS) + 1;
      return fields.month > 0;
    case 'Jan':
      fields.month = takeName(input, MONTHS, 3) + 1;
      return fields.month > 0;
    case '01':
    case '1':
      fields.month = takeNumber(input, element === '1' ? ONE_OR_TWO : TWO);
      return inRange(fields.month, 1, 12);
    case 'Monday':
      return takeName(input, WEEKDAYS) >= 0;
    case 'Mon':
      return takeName(input, WEEKDAYS, 3) >= 0;
    case '02':
    case '_2':
    case '2':
      if (element === '_2' && input.rest[0] === ' ') input.rest = input.rest.slice(1);
      fields.day = takeNumber(input, element === '02' ? TWO : ONE_OR_TWO);
      return fields.day >= 0;
    case '002':
    case '__2':
      fields.yearDay = takeNumber(input, element === '002' ? /^\d{3}/ : /^ {0,2}\d{1,3}/);
      return fields.yearDay >= 0;
    case '15':
      fields.hour = takeNumber(input, ONE_OR_TWO);
      return inRange(fields.hour, 0, 23);
    case '03':
    case '3':
      fields.hour = takeNumber(input, element === '3' ? ONE_OR_TWO : TWO);
      return inRange(fields.hour, 0, 12);
    case '04':
    case '4':
      fields.minute = takeNumber(input, element === '4' ? ONE_OR_TWO : TWO);
      return inRange(fields.minute, 0, 59);
    case '05':
    case '5':
      fields.second = takeNumber(input, element === '5' ? ONE_OR_TWO : TWO);
      if (!inRange(fields.second, 0, 59)) return false;
      if (following === undefined || !isFraction(following)) readFraction(fields, input);
      return true;
    case 'PM':
    case 'pm': {
      const half = take(input, element === 'PM' ? /^[AP]M/ : /^[ap]m/);
      if (half !== undefined) fields.pm = half[0].toUpperCase() === 'P';
      return half !== undefined;
    }
    case 'MST':
      return readAbbreviation(fields, input);
  }
  if (!isFraction(element)) return readOffset(element, fields, input);
  if (element[1] === '9') return readFraction(fields, input);
  const digits = take(input, new RegExp(`^[.,]\\d{${element.length - 1}}`));
  if (digits !== undefined) fields.nanosecond = nanoseconds(digits);
  return digits !== undefined;
}

function isFraction(element: string): boolean {
  return element[0] === '.' || element[0] === ',';
}

function readFraction(fields: DateFields, input: Input): boolean {
  const digits = take(input, /^[.,]\d+/);
  if (digits !== undefined) fields.nanosecond = nanoseconds(digits);
  return true;
}

function nanoseconds(fraction: string): number {
  return Number(fraction.slice(1, 10).padEnd(9, '0'));
}

const OFFSET_PATTERNS = new Map<string, RegExp>([
  ['07', /^([+-])(\d\d)()()/],
  ['0700', /^([+-])(\d\d)(\d\d)()/],
  ['07:00', /^([+-])(\d\d):(\d\d)()/],
  ['070000', /^([+-])(\d\d)(\d\d)(\d\d)/],
  ['07:00:00', /^([+-])(\d\d):(\d\d):(\d\d)/],
]);

function readOffset(element: string, fields: DateFields, input: Input): boolean {
  if (element[0] === 'Z' && input.rest[0] === 'Z') {
    input.rest = input.rest.slice(1);
    fields.zone = UTC;
    return true;
  }
  const match = OFFSET_PATTERNS.get(element.slice(1))!.exec(input.rest);
  if (match === null) return false;
  const [whole, sign, hours, minutes, seconds] = match;
  if (Number(hours) > 24 || Number(minutes) > 60 || Number(seconds) > 60) return false;
  input.rest = input.rest.slice(whole.length);
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  fields.offsetSeconds = sign === '-' ? -size : size;
  return true;
}

const ABBREVIATION =
  /^(?:ChST|MeST|GMT(?:[+-]\d{1,2})?|[+-]\d{2}(?:\d{2})?|WITA|[A-Z]{4}T|[A-Z]{3}T|[A-Z]{3})(?![A-Z])/;

function readAbbreviation(fields: DateFields, input: Input): boolean {
  if (input.rest.startsWith('UTC')) {
    input.rest = input.rest.slice(3);
    fields.zone = UTC;
    return true;
  }
  const abbreviation = take(input, ABBREVIATION);
  if (abbreviation !== undefined) fields.abbreviation = abbreviation;
  return abbreviation !== undefined;
}

/** Sets month and day, and refuses dates such as February 30. */
function resolveDay(fields: DateFields): boolean {
  if (fields.pm === true && fields.hour < 12) fields.hour += 12;
  if (fields.pm === false && fields.hour === 12) fields.hour = 0;
  if (fields.yearDay !== UNSET) {
    const start = daysFromCivil(fields.year, 1, 1);
    if (!inRange(fields.yearDay, 1, daysFromCivil(fields.year + 1, 1, 1) - start)) return false;
    let month = 1;
    let day = fields.yearDay;
    while (day > daysInMonth(fields.year, month)) day -= daysInMonth(fields.year, month++);
    if (fields.month !== UNSET && fields.month !== month) return false;
    if (fields.day !== UNSET && fields.day !== day) return false;
    fields.month = month;
    fields.day = day;
  }
  if (fields.month === UNSET) fields.month = 1;
  if (fields.day === UNSET) fields.day = 1;
  return inRange(fields.day, 1, daysInMonth(fields.year, fields.month));
}

// An abbreviation may belong to the other season, or occur with a date without a year.
const HALF_YEAR = 182 * SECONDS_PER_DAY;
const WINTER_2020 = 1_577_836_800;
const SUMMER_2020 = 1_593_561_600;

function resolveZone(fields: DateFields, zone: Zone): GoTime {
  const seconds = wallSeconds(fields);
  if (fields.zone !== undefined) return instantOfWall(seconds, fields.nanosecond, fields.zone);
  if (fields.offsetSeconds !== undefined) {
    const instant = instantOfWall(seconds, fields.nanosecond, fixedZone('', fields.offsetSeconds));
    const known = zone.at(seconds - fields.offsetSeconds);
    const same =
      known.offsetSeconds === fields.offsetSeconds &&
      (fields.abbreviation === '' || fields.abbreviation === known.abbreviation);
    return instant.in(same ? zone : fixedZone(fields.abbreviation, fields.offsetSeconds));
  }
  if (fields.abbreviation === '') return instantOfWall(seconds, fields.nanosecond, zone);
  for (const when of [seconds, seconds - HALF_YEAR, seconds + HALF_YEAR, WINTER_2020, SUMMER_2020]) {
    const known = zone.at(when);
    if (known.abbreviation !== fields.abbreviation) continue;
    return instantOfWall(seconds, fields.nanosecond, fixedZone('', known.offsetSeconds)).in(zone);
  }
  // With an abbreviation that is unknown in the zone, the instant is in UTC; `GMT+3` only changes how it
  // prints.
  const hours = fields.abbreviation.startsWith('GMT') ? Number(fields.abbreviation.slice(3)) : 0;
  return instantOfWall(seconds, fields.nanosecond, UTC).in(fixedZone(fields.abbreviation, hours * 3600));
}
