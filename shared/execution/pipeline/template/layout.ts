/**
 * Go's date layouts: a layout shows how the instant 2006-01-02 15:04:05 -0700 would be written. This file
 * splits a layout into elements and formats dates; `date-parser.ts` parses them.
 */
import { MAX_CACHED_LAYOUTS } from './bounds.ts';
import type { GoTime, TimeFields } from './time.ts';

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/**
 * Returns a layout's elements. Literals start with `=`, fractions are `.000`, `,99` and similar, and other
 * elements are themselves.
 */
export function layoutElements(layout: string): readonly string[] {
  const known = CACHE.get(layout);
  if (known !== undefined) return known;
  const elements = cutLayout(layout);
  if (layout.length <= MAX_KEPT_LAYOUT_LENGTH) {
    if (CACHE.size >= MAX_CACHED_LAYOUTS) CACHE.delete(CACHE.keys().next().value!);
    CACHE.set(layout, elements);
  }
  return elements;
}

const CACHE = new Map<string, readonly string[]>();
/** Maximum length of cached layouts. Real layouts are shorter. */
const MAX_KEPT_LAYOUT_LENGTH = 200;

function cutLayout(layout: string): readonly string[] {
  const elements: string[] = [];
  let literal = '';
  for (let at = 0; at < layout.length; ) {
    const element = elementAt(layout, at);
    if (element === '') {
      literal += layout[at++];
      continue;
    }
    if (literal !== '') elements.push(`=${literal}`);
    literal = '';
    elements.push(element);
    at += element.length;
  }
  if (literal !== '') elements.push(`=${literal}`);
  return elements;
}

/** Elements by first character; those with a common start are ordered by length, longest first. */
const BY_FIRST = new Map<string, readonly string[]>([
  ['J', ['January', 'Jan']],
  ['M', ['Monday', 'Mon', 'MST']],
  ['0', ['002', '01', '02', '03', '04', '05', '06']],
  ['1', ['15', '1']],
  ['2', ['2006', '2']],
  ['_', ['__2', '_2']],
  ['3', ['3']],
  ['4', ['4']],
  ['5', ['5']],
  ['P', ['PM']],
  ['p', ['pm']],
  ['-', ['-070000', '-07:00:00', '-0700', '-07:00', '-07']],
  ['Z', ['Z070000', 'Z07:00:00', 'Z0700', 'Z07:00', 'Z07']],
]);

function elementAt(layout: string, at: number): string {
  const first = layout[at];
  if (first === '.' || first === ',') return fractionAt(layout, at);
  for (const element of BY_FIRST.get(first) ?? []) {
    if (!layout.startsWith(element, at)) continue;
    // `Jane` and `Month` are words; `_2006` is an underscore and a year.
    if ((element === 'Jan' || element === 'Mon') && /[a-z]/.test(layout[at + 3] ?? '')) continue;
    if (element === '_2' && layout.startsWith('_2006', at)) continue;
    return element;
  }
  return '';
}

function fractionAt(layout: string, at: number): string {
  const digit = layout[at + 1];
  if (digit !== '0' && digit !== '9') return '';
  let end = at + 1;
  while (layout[end] === digit) end++;
  return /[0-9]/.test(layout[end] ?? '') ? '' : layout.slice(at, end);
}

export function formatGoTime(time: GoTime, layout: string): string {
  const clock = time.clock();
  let out = '';
  for (const element of layoutElements(layout)) {
    out += element[0] === '=' ? element.slice(1) : formatElement(element, clock);
  }
  return out;
}

const two = (value: number) => pad(value, 2);

function pad(value: number, width: number, fill = '0'): string {
  return value < 0 ? `-${pad(-value, width, fill)}` : String(value).padStart(width, fill);
}

function formatElement(element: string, clock: TimeFields): string {
  switch (element) {
    case 'January':
      return MONTHS[clock.month - 1];
    case 'Jan':
      return MONTHS[clock.month - 1].slice(0, 3);
    case 'Monday':
      return WEEKDAYS[clock.weekday];
    case 'Mon':
      return WEEKDAYS[clock.weekday].slice(0, 3);
    case '2006':
      return pad(clock.year, 4);
    case '06':
      return two(((clock.year % 100) + 100) % 100);
    case '01':
      return two(clock.month);
    case '1':
      return String(clock.month);
    case '02':
      return two(clock.day);
    case '_2':
      return pad(clock.day, 2, ' ');
    case '2':
      return String(clock.day);
    case '002':
      return pad(clock.yearDay, 3);
    case '__2':
      return pad(clock.yearDay, 3, ' ');
    case '15':
      return two(clock.hour);
    case '03':
      return two(clock.hour % 12 || 12);
    case '3':
      return String(clock.hour % 12 || 12);
    case '04':
      return two(clock.minute);
    case '4':
      return String(clock.minute);
    case '05':
      return two(clock.second);
    case '5':
      return String(clock.second);
    case 'PM':
      return clock.hour >= 12 ? 'PM' : 'AM';
    case 'pm':
      return clock.hour >= 12 ? 'pm' : 'am';
    case 'MST':
      return clock.abbreviation === '' ? formatOffset('-0700', clock.offsetSeconds) : clock.abbreviation;
  }
  if (element[0] === '.' || element[0] === ',') return formatFraction(element, clock.nanosecond);
  return formatOffset(element, clock.offsetSeconds);
}

function formatFraction(element: string, nanosecond: number): string {
  const digits = pad(nanosecond, 9)
    .slice(0, element.length - 1)
    .padEnd(element.length - 1, '0');
  if (element[1] === '0') return element[0] + digits;
  const shown = digits.replace(/0+$/, '');
  return shown === '' ? '' : element[0] + shown;
}

function formatOffset(element: string, offsetSeconds: number): string {
  if (element[0] === 'Z' && offsetSeconds === 0) return 'Z';
  const size = Math.abs(offsetSeconds);
  const colon = element.includes(':') ? ':' : '';
  const digits = element.replace(/\D/g, '').length;
  let out = (offsetSeconds < 0 ? '-' : '+') + two(Math.floor(size / 3600));
  if (digits >= 4) out += colon + two(Math.floor(size / 60) % 60);
  if (digits >= 6) out += colon + two(size % 60);
  return out;
}

/** Formats a time as Go's `Time.String()`, which is how a time prints. */
export function goTimeText(time: GoTime): string {
  return formatGoTime(time, '2006-01-02 15:04:05.999999999 -0700 MST');
}
