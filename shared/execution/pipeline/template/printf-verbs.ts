/**
 * Formats one argument with one verb of `printf`: Go's rules for flags, width and precision by kind of value.
 */
import { bytesOfText } from '../../../base/model/byte-text.ts';
import { quote } from '../../../base/model/quote.ts';
import { MAX_OUTPUT_LENGTH } from './bounds.ts';
import { CallError, OUTPUT_TOO_LONG } from './error.ts';
import { formatFloat } from './float-text.ts';
import { MONTHS } from './layout.ts';
import { intText, valueText } from './print.ts';
import { GoTime } from './time.ts';
import { GoInt, LabelMap, sortedEntries, typeName, type Value } from './values.ts';

export interface VerbFlags {
  sharp: boolean;
  zero: boolean;
  plus: boolean;
  minus: boolean;
  space: boolean;
  /** Whether the verb is `%#v`, which prints Go source. */
  goSyntax: boolean;
  width: number | undefined;
  precision: number | undefined;
}

export const NO_FLAGS: Readonly<VerbFlags> = Object.freeze({
  sharp: false,
  zero: false,
  plus: false,
  minus: false,
  space: false,
  goSyntax: false,
  width: undefined,
  precision: undefined,
});

/** Returns a width or precision from an argument; undefined if it is not an integer. */
export function toFormatInt(value: Value): number | undefined {
  return value instanceof GoInt ? Number(value.value) : undefined;
}

/** Returns `int=1`, the form of a value in error messages. */
export function withType(value: Value): string {
  return value === undefined || value === null ? '<nil>' : `${typeName(value)}=${valueText(value)}`;
}

export function formatArgument(value: Value, verb: string, flags: VerbFlags): string {
  if (value === undefined || value === null) {
    return verb === 'v' || verb === 'T' ? pad('<nil>', flags) : `%!${verb}(<nil>)`;
  }
  if (verb === 'T') return formatString(typeName(value), 's', flags)!;
  return formatKnown(value, verb, flags) ?? complain(value, verb, flags);
}

function complain(value: NonNullable<Value>, verb: string, flags: VerbFlags): string {
  return `%!${verb}(${typeName(value)}=${formatArgument(value, 'v', flags)})`;
}

/** Returns undefined if the verb does not fit the value. */
function formatKnown(value: NonNullable<Value>, verb: string, flags: VerbFlags): string | undefined {
  if (verb === 'v' && flags.goSyntax) return pad(goSyntax(value), flags);
  switch (typeof value) {
    case 'string':
      return formatString(value, verb, flags);
    case 'number':
      return formatFloatVerb(value, verb, flags);
    case 'boolean':
      return verb === 'v' || verb === 't' ? pad(String(value), flags) : undefined;
  }
  if (value instanceof GoInt) return formatIntVerb(value, verb, flags);
  if (value instanceof GoTime)
    return 'vsxXq'.includes(verb) ? formatString(valueText(value), verb, flags) : undefined;
  if (Array.isArray(value)) return `[${joinBounded(value, item => formatItem(item, verb, flags))}]`;
  const entries = sortedEntries(value);
  const shown = joinBounded(
    entries,
    ([key, item]) => `${formatArgument(key, verb, flags)}:${formatItem(item, verb, flags)}`,
  );
  return `map[${shown}]`;
}

/** Joins bounded texts: a width applies to every element, so the sum is checked while it grows. */
function joinBounded<T>(items: readonly T[], format: (item: T) => string): string {
  let out = '';
  for (const [i, item] of items.entries()) {
    out += (i > 0 ? ' ' : '') + format(item);
    if (out.length > MAX_OUTPUT_LENGTH) throw new CallError(OUTPUT_TOO_LONG);
  }
  return out;
}

/** Formats an element of a list; nil prints the same for every verb. */
function formatItem(value: Value, verb: string, flags: VerbFlags): string {
  if (value === undefined || value === null) return '<nil>';
  return formatArgument(value, verb, flags);
}

/** Pads to the width, which counts characters; zeros only on the left. */
function pad(text: string, flags: VerbFlags): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - countCharacters(text);
  if (missing <= 0) return text;
  if (flags.minus) return text + ' '.repeat(missing);
  return (flags.zero ? '0' : ' ').repeat(missing) + text;
}

function countCharacters(text: string): number {
  let count = text.length;
  // Do not count the first half of a pair. A lone second half is an escaped byte, which counts as a
  // character.
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) count--;
  return count;
}

function truncate(text: string, precision: number | undefined): string {
  if (precision === undefined || text.length <= precision) return text;
  return [...text.slice(0, 2 * precision)].slice(0, precision).join('');
}

function formatString(text: string, verb: string, flags: VerbFlags): string | undefined {
  switch (verb) {
    case 'v':
    case 's':
      return pad(truncate(text, flags.precision), flags);
    case 'q': {
      const shown = truncate(text, flags.precision);
      const raw =
        flags.sharp && shown.isWellFormed() && !/[`\u007f\ufeff\ufffd]|[^\t -\u{10ffff}]/u.test(shown);
      return pad(raw ? `\`${shown}\`` : flags.plus ? quoteAscii(shown) : quote(shown), flags);
    }
    case 'x':
    case 'X':
      return pad(hexOfBytes(text, verb, flags), flags);
    default:
      return undefined;
  }
}

function quoteAscii(text: string): string {
  return quote(text).replace(/[^\0-\x7f]/gu, char => {
    const code = char.codePointAt(0)!;
    if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
    return `\\U${code.toString(16).padStart(8, '0')}`;
  });
}

function hexOfBytes(text: string, verb: string, flags: VerbFlags): string {
  let bytes = bytesOfText(text);
  if (flags.precision !== undefined) bytes = bytes.subarray(0, flags.precision);
  if (bytes.length === 0) return '';
  const prefix = flags.sharp ? '0x' : '';
  const hex = bytes.toString('hex');
  const shown = flags.space ? prefix + hex.match(/../g)!.join(` ${prefix}`) : prefix + hex;
  return verb === 'X' ? shown.toUpperCase() : shown;
}

function formatFloatVerb(value: number, verb: string, flags: VerbFlags): string | undefined {
  if (!'vbgGxXfFeE'.includes(verb)) return undefined;
  const style = verb === 'v' ? 'g' : verb === 'F' ? 'f' : verb;
  const fallback = 'feE'.includes(style) ? 6 : -1;
  let text = formatFloat(value, style, flags.precision ?? fallback);
  if (!/^[+-]/.test(text)) text = `+${text}`;
  if (flags.space && !flags.plus && text[0] === '+') text = ` ${text.slice(1)}`;
  if (!Number.isFinite(value)) {
    if (Number.isNaN(value) && !flags.space && !flags.plus) text = 'NaN';
    return pad(text, { ...flags, zero: false });
  }
  if (flags.sharp && style !== 'b' && style !== 'x' && style !== 'X') {
    text = keepPoint(text, style, flags.precision);
  }
  if (!flags.plus && text[0] === '+') return pad(text.slice(1), flags);
  if (flags.zero && !flags.minus && flags.width !== undefined && flags.width > text.length) {
    return text[0] + text.slice(1).padStart(flags.width - 1, '0');
  }
  return pad(text, flags);
}

/** Applies the `#` flag: always a decimal point, and the zeros that `%g` would drop. */
function keepPoint(text: string, style: string, precision: number | undefined): string {
  const exponentAt = text.search(/[eE]/);
  let mantissa = exponentAt < 0 ? text : text.slice(0, exponentAt);
  const tail = exponentAt < 0 ? '' : text.slice(exponentAt);
  if (!mantissa.includes('.')) mantissa += '.';
  if (style === 'g' || style === 'G') {
    const significant = mantissa
      .replace(/^[+ -]/, '')
      .replace('.', '')
      .replace(/^0+/, '').length;
    const zeroDigit = /[1-9]/.test(mantissa) ? 0 : 1;
    mantissa += '0'.repeat(Math.max((precision ?? 6) - significant - zeroDigit, 0));
  }
  return mantissa + tail;
}

const BASES = new Map([
  ['v', 10],
  ['d', 10],
  ['b', 2],
  ['o', 8],
  ['O', 8],
  ['x', 16],
  ['X', 16],
]);

function formatIntVerb(int: GoInt, verb: string, flags: VerbFlags): string | undefined {
  const named = int.type.startsWith('time.');
  if (named && 'vsxXq'.includes(verb)) return formatString(intText(int), verb, flags);
  const base = BASES.get(verb);
  if (base !== undefined) return formatInteger(int.value, base, verb, flags);
  const inRange = int.value >= 0n && int.value <= 0x10ffffn;
  const code = inRange && !(int.value >= 0xd800n && int.value < 0xe000n) ? Number(int.value) : 0xfffd;
  const char = String.fromCodePoint(code);
  switch (verb) {
    case 'c':
      return pad(char, flags);
    case 'q':
      return pad(quoteCharacter(char, flags), flags);
    case 'U': {
      const digits = BigInt.asUintN(64, int.value).toString(16).toUpperCase();
      const text = `U+${digits.padStart(Math.max(4, flags.precision ?? 0), '0')}`;
      const printable = flags.sharp && inRange && quote(char) === `"${char}"`;
      return pad(printable ? `${text} '${char}'` : text, { ...flags, zero: false });
    }
    default:
      return undefined;
  }
}

function quoteCharacter(char: string, flags: VerbFlags): string {
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  const quoted = flags.plus ? quoteAscii(char) : quote(char);
  return `'${quoted.slice(1, -1)}'`;
}

function formatInteger(value: bigint, base: number, verb: string, flags: VerbFlags): string {
  const negative = value < 0n;
  let digits = (negative ? -value : value).toString(base);
  if (verb === 'X') digits = digits.toUpperCase();
  let minimum = 0;
  if (flags.precision !== undefined) {
    minimum = flags.precision;
    if (minimum === 0 && value === 0n) return ' '.repeat(flags.width ?? 0);
  } else if (flags.zero && !flags.minus && flags.width !== undefined) {
    minimum = flags.width - (negative || flags.plus || flags.space ? 1 : 0);
  }
  digits = digits.padStart(minimum, '0');
  if (flags.sharp) {
    if (base === 2) digits = `0b${digits}`;
    else if (base === 8 && digits[0] !== '0') digits = `0${digits}`;
    else if (base === 16) digits = (verb === 'X' ? '0X' : '0x') + digits;
  }
  if (verb === 'O') digits = `0o${digits}`;
  const sign = negative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  return pad(sign + digits, { ...flags, zero: false });
}

/** Formats `%#v`: the value as Go source. */
function goSyntax(value: Value): string {
  if (value === undefined || value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return quote(value);
  if (value instanceof GoInt) {
    return value.type === 'uint8' ? `0x${value.value.toString(16)}` : value.value.toString();
  }
  if (value instanceof GoTime) {
    const { year, month, day, hour, minute, second, nanosecond } = value.clock();
    return `time.Date(${year}, time.${MONTHS[month - 1]}, ${day}, ${hour}, ${minute}, ${second}, ${nanosecond}, time.UTC)`;
  }
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (value instanceof Map || value instanceof LabelMap) {
    const entries = sortedEntries(value).map(([key, item]) => `${quote(key)}:${goSyntax(item)}`);
    return `${typeName(value)}{${entries.join(', ')}}`;
  }
  return valueText(value);
}
