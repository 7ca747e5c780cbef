/**
 * Values and names in query text. The reference prints some of them so that they do not read back (sizes rounded,
 * NaN, names in quotes); here what is printed always reads back, and where the reference's text does so too it is
 * the reference's text (difference D6).
 */
import { formatByteSize, parseByteSize } from '../../base/model/byte-size.ts';
import { formatGoDuration, formatPrometheusDuration } from '../../base/model/duration.ts';
import { formatPlain } from '../../base/model/number.ts';
import { quote } from '../../base/model/quote.ts';
import { isTextRegex } from '../regex/text-alternatives.ts';
import { formatFixed, formatGo } from './format-number.ts';
import { durationNs } from './lexer.ts';

const WORD = /^[_\p{L}][_\p{L}\p{Nd}]*$/u;
const NOT_IN_RAW = /[`\r\0]/;
/** A size token of query text: `E` would start an exponent. */
const SIZE_TOKEN = /^[0-9][0-9.]*[BikKMGTP]+$/;
const EXACT_UNITS: readonly (readonly [string, number])[] = [
  ['PiB', 1024 ** 5],
  ['TiB', 1024 ** 4],
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
  ['PB', 1000 ** 5],
  ['TB', 1000 ** 4],
  ['GB', 1000 ** 3],
  ['MB', 1000 ** 2],
  ['kB', 1000],
];

/** A name in front of an operator. A lone character such as `!` would join with it, so it keeps its distance. */
export function nameBefore(name: string): string {
  return WORD.test(name) ? name : `${name} `;
}

/** A name behind an operator. */
export function nameAfter(name: string): string {
  return WORD.test(name) ? name : ` ${name}`;
}

/** The expression of a positive label filter: raw where the reference keeps it as a regular expression. */
export function filterRegex(pattern: string): string {
  const raw = !NOT_IN_RAW.test(pattern) && pattern.isWellFormed() && !isTextRegex(pattern);
  return raw ? `\`${pattern}\`` : quote(pattern);
}

/** The number of a label filter: no exponent. */
export function filterNumber(value: number): string {
  // The lexer takes `-0` for a duration.
  return Object.is(value, -0) ? '-0.0' : formatPlain(value);
}

/** A literal of an expression. Texts that are no literals become an operation that folds to the value. */
export function literalText(value: number): string {
  if (Number.isNaN(value)) return '(0 / 0)';
  if (value === Infinity) return '(1e+308 * 10)';
  if (value === -Infinity) return '(-1e+308 * 10)';
  return Object.is(value, -0) ? '-0.0' : formatGo(value);
}

/** The number of vector(). */
export function vectorText(value: number): string {
  const fixed = formatFixed(value);
  return Number(fixed) === value ? fixed : formatGo(value);
}

/** The size of a label filter. */
export function sizeText(bytes: number): string {
  const rounded = formatByteSize(bytes);
  if (readsBack(rounded, bytes)) return rounded;
  // `0B` reads as the start of a binary number.
  if (bytes === 0) return '0kB';
  for (const [unit, size] of EXACT_UNITS) {
    const text = `${bytes / size}${unit}`;
    if (bytes % size === 0 && readsBack(text, bytes)) return text;
  }
  return `${bytes}B`;
}

function readsBack(text: string, bytes: number): boolean {
  return SIZE_TOKEN.test(text) && !text.startsWith('0B') && parseByteSize(text) === bytes;
}

/** The offset of a range, in Go's form. */
export function offsetText(ns: bigint): string {
  return ns === 0n ? '' : ` offset ${formatGoDuration(ns)}`;
}

/** The offset of a range on its own lines: Prometheus's form where it has one. */
export function prettyOffsetText(ns: bigint): string {
  if (ns === 0n) return '';
  const text = formatPrometheusDuration(ns);
  return durationNs(text) === ns ? ` offset ${text}` : offsetText(ns);
}
