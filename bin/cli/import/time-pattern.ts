/** Parses times by a user's pattern with strftime directives: `%d.%m.%Y %H:%M:%S,%f`. */
import { InvalidArgumentError } from 'commander';
import { type CalendarTime, calendarNs, monthNumber } from './calendar.ts';

type TimePart =
  | 'year'
  | 'shortYear'
  | 'month'
  | 'monthName'
  | 'day'
  | 'hour'
  | 'halfDayHour'
  | 'minute'
  | 'second'
  | 'fraction'
  | 'half'
  | 'offset'
  | 'unix'
  | 'none';

/** Directives: the text that each one matches, and the part of the time that the text is. */
const DIRECTIVES: ReadonlyMap<string, readonly [string, TimePart]> = new Map([
  ['Y', ['\\d{4}', 'year']],
  ['y', ['\\d{2}', 'shortYear']],
  ['m', ['\\d{1,2}', 'month']],
  ['b', ['[A-Za-z]{3}', 'monthName']],
  ['B', ['[A-Za-z]{3,9}', 'monthName']],
  ['d', ['\\d{1,2}', 'day']],
  ['e', ['\\s?\\d{1,2}', 'day']],
  ['H', ['\\d{1,2}', 'hour']],
  ['I', ['\\d{1,2}', 'halfDayHour']],
  ['M', ['\\d{2}', 'minute']],
  ['S', ['\\d{2}', 'second']],
  ['f', ['\\d{1,9}', 'fraction']],
  ['L', ['\\d{3}', 'fraction']],
  ['N', ['\\d{1,9}', 'fraction']],
  ['p', ['[AaPp][Mm]', 'half']],
  ['z', ['Z|[+-]\\d{2}:?\\d{2}', 'offset']],
  ['Z', ['UTC|GMT|Z', 'offset']],
  ['s', ['\\d{1,11}', 'unix']],
  ['a', ['[A-Za-z]{3}', 'none']],
  ['A', ['[A-Za-z]{3,9}', 'none']],
]);

const SHORTCUTS: ReadonlyMap<string, string> = new Map([
  ['F', '%Y-%m-%d'],
  ['T', '%H:%M:%S'],
  ['R', '%H:%M'],
  ['D', '%m/%d/%y'],
]);

type ReadTime = (
  text: string,
  referenceMs: number,
) => { readonly ns: bigint; readonly end: number } | undefined;

/** Compiles a pattern into a reader of the time at the start of a text. Throws InvalidArgumentError. */
export function timePattern(pattern: string): ReadTime {
  const parts: TimePart[] = [];
  const whole = pattern.replace(/%([FTRD])/g, (_, name: string) => SHORTCUTS.get(name)!);
  const source = whole.replace(/%(.?)|[^%]/gs, (text: string, name?: string) => {
    if (name === undefined) return text === ' ' ? ' +' : text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
    if (name === '%') return '%';
    const directive = DIRECTIVES.get(name);
    if (directive === undefined) {
      const known = [...DIRECTIVES.keys(), ...SHORTCUTS.keys()].map(each => `%${each}`).join(' ');
      throw new InvalidArgumentError(
        `Unknown directive %${name} in the time format; known ones are ${known}.`,
      );
    }
    parts.push(directive[1]);
    return `(${directive[0]})`;
  });
  if (!parts.includes('unix') && !(parts.includes('day') && /month/.test(parts.join())))
    throw new InvalidArgumentError('A time format needs a day and a month, or %s.');
  const matcher = new RegExp(`^${source}`);
  return (text, referenceMs) => {
    const match = matcher.exec(text);
    if (match === null) return undefined;
    const found = new Map(parts.map((part, i) => [part, match[i + 1].trim()] as const));
    const ns = nsOf(found, referenceMs);
    return ns === undefined ? undefined : { ns, end: match[0].length };
  };
}

function nsOf(found: ReadonlyMap<TimePart, string>, referenceMs: number): bigint | undefined {
  const number = (part: TimePart) => Number(found.get(part) ?? 0);
  const fraction = found.get('fraction');
  if (found.has('unix'))
    return BigInt(found.get('unix')!) * 10n ** 9n + BigInt((fraction ?? '').padEnd(9, '0'));
  const month = found.has('monthName') ? monthNumber(found.get('monthName')!) : number('month');
  const hour = halfDayHour(found) ?? number('hour');
  const time: CalendarTime = {
    year: yearOf(found),
    month,
    day: number('day'),
    hour,
    minute: number('minute'),
    second: number('second'),
    fraction,
    offset: found.get('offset'),
  };
  return calendarNs(time, referenceMs);
}

function yearOf(found: ReadonlyMap<TimePart, string>): number | undefined {
  if (found.has('year')) return Number(found.get('year'));
  // As in strptime, years 69 to 99 are in the last century.
  const short = found.get('shortYear');
  return short === undefined ? undefined : Number(short) + (Number(short) < 69 ? 2000 : 1900);
}

function halfDayHour(found: ReadonlyMap<TimePart, string>): number | undefined {
  const text = found.get('halfDayHour');
  if (text === undefined) return undefined;
  const hour = Number(text);
  // The hour does not exist. The value 24 is refused later.
  if (hour < 1 || hour > 12) return 24;
  return (hour % 12) + (found.get('half')?.toLowerCase() === 'pm' ? 12 : 0);
}
