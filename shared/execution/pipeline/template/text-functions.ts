/**
 * Functions on text.
 *
 * Pitfall: lower-case names take the subject as the last argument, for pipelines. Capitalized names are older
 * and take it as the first.
 */

import { byteLengthOf, bytesOfText, sliceBytes, textOfBytes } from '../../../base/model/byte-text.ts';
import { MAX_OUTPUT_LENGTH } from './bounds.ts';
import { CallError, OUTPUT_TOO_LONG } from './error.ts';
import { escapeQuery, unescapeQuery } from './escapes.ts';
import { fixed, type ParameterType, type TemplateFunction } from './function-types.ts';
import { lower, title, upper } from './letter-case.ts';
import { countPattern, replacePattern } from './regex-cache.ts';
import { GoInt, type Value } from './values.ts';

type TextFunction = (...texts: string[]) => Value;

/** Declares a function of texts only. */
function ofTexts(count: number, call: TextFunction): TemplateFunction {
  return fixed(new Array<ParameterType>(count).fill('string'), args => call(...(args as string[])));
}

/** Declares a function of one int and a text. */
function ofCountAndText(call: (count: number, text: string) => Value): TemplateFunction {
  return fixed(['int', 'string'], ([count, text]) => call(asNumber(count), text as string));
}

function asNumber(value: Value): number {
  return Number((value as GoInt).value);
}

export const TEXT_FUNCTIONS: ReadonlyArray<readonly [string, TemplateFunction]> = [
  ['lower', ofTexts(1, lower)],
  ['ToLower', ofTexts(1, lower)],
  ['upper', ofTexts(1, upper)],
  ['ToUpper', ofTexts(1, upper)],
  ['title', ofTexts(1, title)],
  ['trim', ofTexts(1, trimSpace)],
  ['TrimSpace', ofTexts(1, trimSpace)],
  ['trimAll', ofTexts(2, (set, text) => trimEnd(trimStart(text, set), set))],
  ['Trim', ofTexts(2, (text, set) => trimEnd(trimStart(text, set), set))],
  ['TrimLeft', ofTexts(2, trimStart)],
  ['TrimRight', ofTexts(2, trimEnd)],
  ['trimPrefix', ofTexts(2, (affix, text) => trimPrefix(text, affix))],
  ['TrimPrefix', ofTexts(2, trimPrefix)],
  ['trimSuffix', ofTexts(2, (affix, text) => trimSuffix(text, affix))],
  ['TrimSuffix', ofTexts(2, trimSuffix)],
  ['replace', ofTexts(3, (old, by, text) => replace(text, old, by, -1))],
  [
    'Replace',
    fixed(['string', 'string', 'string', 'int'], ([text, old, by, limit]) =>
      replace(text as string, old as string, by as string, asNumber(limit)),
    ),
  ],
  ['trunc', ofCountAndText(truncate)],
  [
    'substr',
    fixed(['int', 'int', 'string'], ([start, end, text]) =>
      substring(asNumber(start), asNumber(end), text as string),
    ),
  ],
  ['alignLeft', ofCountAndText((width, text) => align(width, text, true))],
  ['alignRight', ofCountAndText((width, text) => align(width, text, false))],
  ['indent', ofCountAndText(indent)],
  ['nindent', ofCountAndText((count, text) => `\n${indent(count, text)}`)],
  ['repeat', ofCountAndText((count, text) => repeat(text, count))],
  ['contains', ofTexts(2, (needle, text) => comparable(text, needle).includes(comparable(needle, needle)))],
  ['hasPrefix', ofTexts(2, (needle, text) => startsWith(text, needle))],
  ['hasSuffix', ofTexts(2, (needle, text) => endsWith(text, needle))],
  ['urlencode', ofTexts(1, escapeQuery)],
  ['urldecode', ofTexts(1, unescapeQuery)],
  ['b64enc', ofTexts(1, text => bytesOfText(text).toString('base64'))],
  ['b64dec', ofTexts(1, decodeBase64)],
];

export const REGEX_FUNCTIONS: ReadonlyArray<readonly [string, TemplateFunction]> = [
  ['regexReplaceAll', ofTexts(3, (pattern, text, by) => replacePattern(pattern, text, by, false))],
  ['regexReplaceAllLiteral', ofTexts(3, (pattern, text, by) => replacePattern(pattern, text, by, true))],
  ['count', ofTexts(2, (pattern, text) => GoInt.of(countPattern(pattern, text)))],
];

// Go's white space. JavaScript's \s includes the byte order mark and lacks U+0085.
const LEADING_SPACE = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

function isGoSpace(char: string): boolean {
  return LEADING_SPACE.test(char);
}

function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isGoSpace(text[start])) start++;
  while (end > start && isGoSpace(text[end - 1])) end--;
  return text.slice(start, end);
}

/**
 * Removes characters of the set at the start. In Go, all bytes that are not UTF-8 and U+FFFD count as one
 * character.
 */
function trimStart(text: string, set: string): string {
  const characters = new Set(set.toWellFormed());
  let at = 0;
  for (const char of text.toWellFormed()) {
    if (!characters.has(char)) break;
    at += char.length;
  }
  return text.slice(at);
}

function trimEnd(text: string, set: string): string {
  const characters = new Set(set.toWellFormed());
  const shown = text.toWellFormed();
  let end = shown.length;
  while (end > 0) {
    const isPair = (shown.charCodeAt(end - 1) & 0xfc00) === 0xdc00;
    const start = isPair ? end - 2 : end - 1;
    if (!characters.has(shown.slice(start, end))) break;
    end = start;
  }
  return text.slice(0, end);
}

/**
 * Returns the text in a form that can be searched for `needle`. If the needle contains bytes that are not
 * UTF-8, the form has one unit for each byte. Such a byte can be part of a character of the text.
 */
function comparable(text: string, needle: string): string {
  return needle.isWellFormed() ? text : bytesOfText(text).toString('latin1');
}

function startsWith(text: string, needle: string): boolean {
  return comparable(text, needle).startsWith(comparable(needle, needle));
}

function endsWith(text: string, needle: string): boolean {
  return comparable(text, needle).endsWith(comparable(needle, needle));
}

function trimPrefix(text: string, affix: string): string {
  return startsWith(text, affix) ? sliceBytes(text, byteLengthOf(affix), byteLengthOf(text)) : text;
}

function trimSuffix(text: string, affix: string): string {
  return endsWith(text, affix) ? sliceBytes(text, 0, byteLengthOf(text) - byteLengthOf(affix)) : text;
}

/**
 * Replaces the first `limit` occurrences, or all if negative. An empty `old` matches between all characters.
 */
function replace(text: string, old: string, by: string, limit: number): string {
  if (!old.isWellFormed()) {
    const [bytes, oldBytes, byBytes] = [text, old, by].map(part => comparable(part, old));
    return textOfBytes(Buffer.from(replace(bytes, oldBytes, byBytes, limit), 'latin1'));
  }
  const between = text === '' ? ['', ''] : ['', ...text, ''];
  const pieces = old === '' ? between : text.split(old);
  const count = limit < 0 ? pieces.length - 1 : Math.min(limit, pieces.length - 1);
  checkLength(text.length + count * by.length);
  const kept = pieces.slice(count).join(old);
  return count === 0 ? text : pieces.slice(0, count).join(by) + by + kept;
}

function checkLength(length: number): void {
  if (length > MAX_OUTPUT_LENGTH) throw new CallError(OUTPUT_TOO_LONG);
}

/** Returns the first `count` bytes, or the last ones if negative; the whole text if it is shorter. */
function truncate(count: number, text: string): string {
  const length = byteLengthOf(text);
  if (count < 0) return length + count > 0 ? sliceBytes(text, length + count, length) : text;
  return length > count ? sliceBytes(text, 0, count) : text;
}

function substring(start: number, end: number, text: string): string {
  const length = byteLengthOf(text);
  if (start < 0) {
    if (end < 0) throw outOfRange(`[:${end}]`);
    if (end > length) throw outOfRange(`[:${end}] with length ${length}`);
    return sliceBytes(text, 0, end);
  }
  if (end < 0 || end > length) {
    if (start > length) throw outOfRange(`[${start}:${length}]`);
    return sliceBytes(text, start, length);
  }
  if (start > end) throw outOfRange(`[${start}:${end}]`);
  return sliceBytes(text, start, end);
}

function outOfRange(range: string): CallError {
  return new CallError(`runtime error: slice bounds out of range ${range}`);
}

/** Returns exactly `width` characters: padded, or truncated at the side away from the alignment. */
function align(width: number, text: string, left: boolean): string {
  if (width < 0) return text;
  const characters = [...text];
  const missing = width - characters.length;
  if (missing === 0) return text;
  if (missing > 0) {
    const padding = repeat(' ', missing);
    return left ? text + padding : padding + text;
  }
  // Truncation works on characters, so bytes that are not UTF-8 become U+FFFD.
  return (left ? characters.slice(0, width) : characters.slice(-missing)).join('').toWellFormed();
}

function repeat(text: string, count: number): string {
  if (count < 0) throw new CallError('strings: negative Repeat count');
  checkLength(text.length * count);
  return text.repeat(text === '' ? 0 : count);
}

function indent(count: number, text: string): string {
  const padding = repeat(' ', count);
  return padding + replace(text, '\n', `\n${padding}`, -1);
}

const BASE64_DIGIT = /[A-Za-z0-9+/]/;

/** Decodes Base64. For invalid input, the result is the error text. Missing padding is accepted. */
function decodeBase64(text: string): string {
  const length = text.replace(/[\r\n]/g, '').length;
  const padded = text + '='.repeat((4 - (length % 4)) % 4);
  const bad = base64ErrorAt(padded);
  if (bad >= 0) return `illegal base64 data at input byte ${bad}`;
  return textOfBytes(Buffer.from(padded.replace(/[\r\n]/g, ''), 'base64'));
}

/** Returns the offset at which the data stops being Base64, or -1. Line ends are skipped, as in Go. */
function base64ErrorAt(text: string): number {
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '\r' || char === '\n' || (BASE64_DIGIT.test(char) && ++digits)) continue;
    const offset = byteLengthOf(text.slice(0, at));
    const missing = (4 - (digits % 4)) % 4;
    if (char !== '=' || missing === 0 || missing === 3) return offset;
    const rest = /^=[\r\n]*(=?)[\r\n]*/.exec(text.slice(at))!;
    if (missing === 2 && rest[1] === '') return byteLengthOf(text);
    const used = missing === 2 ? rest[0].length : /^=[\r\n]*/.exec(text.slice(at))![0].length;
    return at + used === text.length ? -1 : offset + used;
  }
  return digits % 4 === 0 ? -1 : byteLengthOf(text);
}
