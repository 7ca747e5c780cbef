/**
 * Parses label sets of pushes, in Prometheus text: `{app="web", env='prod'}`. The errors are the ones that
 * agents show: `1:4: parse error: unterminated quoted string`, with the position as line:column in bytes.
 *
 * Pitfall: a name may occur twice in the result (sorted, in the order written). That is not a parse error.
 * Validation rejects only that stream (docs/dev/wire-format.md#validation), so such a result must be validated.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import { BadRequestError } from '../../base/model/errors.ts';
import type { Label, Labels } from '../../base/model/labels.ts';
import { quote } from '../../base/model/quote.ts';
import { MAX_LABELS_OF_STREAM } from './bounds.ts';
import { unquoteAt } from './unquote.ts';

type TokenKind = '{' | '}' | ',' | '=' | 'operator' | 'identifier' | 'string' | 'end';

interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** Value of a string, otherwise the text. */
  readonly value: string;
}

const IDENTIFIER = /[a-zA-Z_][a-zA-Z0-9_]*/y;
const METRIC = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;

/** Returns the labels of a text, sorted by name, without those of an empty value. Throws BadRequestError. */
export function parseLabelSet(text: string): Labels {
  const labels: Label[] = [];
  let at = skipBlank(text, 0);
  const metric = matchAt(METRIC, text, at);
  if (metric !== '') {
    labels.push({ name: '__name__', value: metric });
    at = skipBlank(text, at + metric.length);
  }
  if (text[at] === '{') {
    at = skipBlank(text, parsePairs(text, at + 1, labels));
  }
  if (at < text.length) {
    const char = String.fromCodePoint(text.codePointAt(at)!);
    fail(text, at, `unexpected character: ${quoteRune(char)}`);
  }
  const kept = labels.filter(label => label.value !== '');
  return kept.sort((a, b) => compareUtf8(a.name, b.name));
}

/** Parses the text after the left brace. Returns the offset after the right one. */
function parsePairs(text: string, from: number, into: Label[]): number {
  let token = nextToken(text, from);
  while (token.kind !== '}') {
    if (token.kind !== 'identifier' && token.kind !== 'string') {
      unexpected(text, token, 'identifier or "}"');
    }
    const name = token;
    token = nextToken(text, token.end);
    if (name.kind === 'string' && (token.kind === ',' || token.kind === '}')) {
      // A quoted name alone is the metric name.
      into.push({ name: '__name__', value: name.value });
    } else {
      if (token.kind !== '=') unexpected(text, token, '"="');
      const value = nextToken(text, token.end);
      if (value.kind !== 'string') unexpected(text, value, 'string');
      into.push({ name: name.value, value: value.value });
      token = nextToken(text, value.end);
    }
    if (into.length > MAX_LABELS_OF_STREAM) {
      throw new BadRequestError(`couldn't parse labels: more than ${MAX_LABELS_OF_STREAM} labels`);
    }
    if (token.kind === ',') token = nextToken(text, token.end);
    else if (token.kind !== '}') unexpected(text, token, '"," or "}"');
  }
  return token.end;
}

function nextToken(text: string, from: number): Token {
  const start = skipBlank(text, from);
  const char = text[start];
  if (char === undefined) fail(text, start, 'unexpected end of input inside braces');
  const identifier = matchAt(IDENTIFIER, text, start);
  if (identifier !== '') {
    return { kind: 'identifier', start, end: start + identifier.length, value: identifier };
  }
  switch (char) {
    case ',':
    case '}':
      return { kind: char, start, end: start + 1, value: char };
    case '=':
      if (text[start + 1] === '~') return { kind: 'operator', start, end: start + 2, value: '=~' };
      return { kind: '=', start, end: start + 1, value: '=' };
    case '!': {
      const next = text[start + 1];
      if (next === '~' || next === '=') {
        return { kind: 'operator', start, end: start + 2, value: char + next };
      }
      return fail(
        text,
        start,
        next === undefined
          ? 'unexpected end of input inside braces'
          : `unexpected character after '!' inside braces: ${quoteRune(String.fromCodePoint(text.codePointAt(start + 1)!))}`,
      );
    }
    case '"':
    case "'":
    case '`': {
      const string = unquoteAt(text, start);
      if (typeof string === 'string') return fail(text, start, string);
      return { kind: 'string', start, end: string.end, value: string.value };
    }
    case '{':
      return fail(text, start, "unexpected left brace '{'");
    default: {
      const rune = String.fromCodePoint(text.codePointAt(start)!);
      return fail(text, start, `unexpected character inside braces: ${quoteRune(rune)}`);
    }
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? '' : match[0];
}

/**
 * Returns the offset after white space and comments. It is a loop: with one expression, 16 MiB of spaces
 * overflow the matcher's stack.
 */
function skipBlank(text: string, from: number): number {
  for (let at = from; ; at++) {
    const char = text[at];
    if (char === '#') {
      at = text.indexOf('\n', at);
      if (at < 0) return text.length;
    } else if (char !== ' ' && char !== '\t' && char !== '\r' && char !== '\n') return at;
  }
}

/** Formats a character as Go's `%q`. */
function quoteRune(char: string): string {
  if (char === '"') return `'"'`;
  if (char === "'") return `'\\''`;
  return `'${quote(char).slice(1, -1)}'`;
}

function unexpected(text: string, token: Token, expected: string): never {
  const raw = quote(text.slice(token.start, token.end));
  const kind = token.kind === 'identifier' || token.kind === 'string' ? `${token.kind} ` : '';
  fail(text, token.start, `unexpected ${kind}${raw} in label set, expected ${expected}`);
}

function fail(text: string, at: number, message: string): never {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let i = before.indexOf('\n'); i >= 0; i = before.indexOf('\n', i + 1)) line++;
  const column = Buffer.byteLength(before.slice(lineStart)) + 1;
  throw new BadRequestError(`couldn't parse labels: ${line}:${column}: parse error: ${message}`);
}
