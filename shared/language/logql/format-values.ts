/**
 * Formats values and names in query text. The reference prints some of them in a form that it cannot read
 * back (rounded sizes, NaN, names in quotes). Logboom always prints a readable form, and the reference's text
 * if that is readable (difference D6).
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
/** Size token of query text. `E` is missing because it would start an exponent. */
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

/**
 * Formats a name before an operator. A space separates a lone character such as `!`, which would otherwise
 * join with the operator.
 */
export function nameBefore(name: string): string {
  return WORD.test(name) ? name : `${name} `;
}

/** Formats a name after an operator. */
export function nameAfter(name: string): string {
  return WORD.test(name) ? name : ` ${name}`;
}

/**
 * Formats the expression of a positive label filter: raw if the reference handles it as a regular expression.
 */
export function filterRegex(pattern: string): string {
  const raw = !NOT_IN_RAW.test(pattern) && pattern.isWellFormed() && !isTextRegex(pattern);
  return raw ? `\`${pattern}\`` : quote(pattern);
}

/** Formats the number of a label filter, without an exponent. */
export function filterNumber(value: number): string {
  // The lexer reads `-0` as a duration.
  return Object.is(value, -0) ? '-0.0' : formatPlain(value);
}

/**
 * Formats a literal of an expression. Values without a literal become an operation that folds to the value.
 */
export function literalText(value: number): string {
  if (Number.isNaN(value)) return '(0 / 0)';
  if (value === Infinity) return '(1e+308 * 10)';
  if (value === -Infinity) return '(-1e+308 * 10)';
  return Object.is(value, -0) ? '-0.0' : formatGo(value);
}

/** Formats the number of vector(). */
export function vectorText(value: number): string {
  const fixed = formatFixed(value);
  return Number(fixed) === value ? fixed : formatGo(value);
}

/** Formats the size of a label filter. */
export function sizeText(bytes: number): string {
  const rounded = formatByteSize(bytes);
  if (readsBack(rounded, bytes)) return rounded;
  // `0B` would read as the start of a binary number.
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

/** Formats the offset of a range, in Go's form. */
export function offsetText(ns: bigint): string {
  return ns === 0n ? '' : ` offset ${formatGoDuration(ns)}`;
}

/** Formats the offset of a range in a multi-line layout: Prometheus's form if it has one. */
export function prettyOffsetText(ns: bigint): string {
  if (ns === 0n) return '';
  const text = formatPrometheusDuration(ns);
  return durationNs(text) === ns ? ` offset ${text}` : offsetText(ns);
}
