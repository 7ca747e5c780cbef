/**
 * Lexer: reads query text as tokens, one at a time (docs/dev/logql-semantics.md#tokens). Positions are those of a token's
 * start.
 *
 * Pitfall: words such as `rate` are reserved only before a parenthesis. A number includes the unit that
 * touches it (`5m`, `1KB`), and `-5m` is one token. Characters without a meaning become IDENTIFIER, so the
 * grammar refuses them.
 */
import { parseByteSize } from '../../base/model/byte-size.ts';
import { parseGoDuration, parsePrometheusDuration } from '../../base/model/duration.ts';
import { messageOf } from '../../base/model/errors.ts';
import { ParseError, type Position } from './errors.ts';
import { scanNumber } from './number-literal.ts';
import { parseRangeDuration } from './range-duration.ts';
import { type Scanned, scanQuoted, scanRaw, unquote } from './string-literal.ts';
import { FUNCTIONS, KEYWORDS, OPERATORS, tokenNumber } from './token-names.ts';

type TokenValue = string | number | bigint;

/** Current token of a lexer. `next` overwrites it. */
interface Lexer {
  /** Number of the latest token; 0 at the end of the text. */
  token: number;
  value: TokenValue;
  /** Undefined only for an empty text. */
  position: Position | undefined;
  /** Reads the next token. Throws a ParseError. */
  next(): void;
}

const BYTES = tokenNumber('BYTES');
const IDENTIFIER = tokenNumber('IDENTIFIER');
const STRING = tokenNumber('STRING');
const NUMBER = tokenNumber('NUMBER');
const FLAG = tokenNumber('FUNCTION_FLAG');
const DURATION = tokenNumber('DURATION');
const RANGE = tokenNumber('RANGE');

const WORD = /[_\p{L}][_\p{L}\p{Nd}]*/uy;
const DIGIT = /[0-9]/;
const SPACE = /[\t\n\r ]*/y;
const DURATION_TAIL = /[\p{N}.nu\u00b5mshdwy]+/uy;
const BYTES_TAIL = /[\p{N}.BikKMGTP]+/uy;
/** Text after a word that makes it a function. */
const CALL = /\s*(?:\(|(?:by|without)\s*\()/iy;
const FLAGS = ['--strict', '--keep-empty'];
const FLAG_CHAR = /[-\p{L}]/u;
/** Characters that Go's scanner always refuses: NUL, or half of a code point. */
const BAD_CHARACTER = /\0|\p{Surrogate}/u;

/** Creates a lexer for one query text. */
export function createLexer(text: string): Lexer {
  const badAt = text.search(BAD_CHARACTER);
  let at = text.startsWith('\ufeff') ? 1 : 0;
  // Offset up to which lines and columns are counted.
  let counted = 0;
  let line = 1;
  let column = 1;

  function positionOf(index: number): Position {
    for (; counted < index; counted++) {
      const code = text.charCodeAt(counted);
      if (code === 0x0a) {
        line++;
        column = 1;
      } else if (code < 0xdc00 || code > 0xdfff) column++;
    }
    return { line, column };
  }

  /** Go's scanner reads one character ahead and reports the error at the current token. */
  function checkCharacters(index: number): void {
    if (badAt < 0 || badAt > index) return;
    const message = text[badAt] === '\0' ? 'invalid character NUL' : 'invalid UTF-8 encoding';
    throw new ParseError(message, lexer.position);
  }

  function scanned(result: Scanned): number {
    if (result.error !== undefined) throw new ParseError(result.error, lexer.position);
    return result.end;
  }

  function skipSpace(): void {
    for (;;) {
      SPACE.lastIndex = at;
      at += SPACE.exec(text)![0].length;
      checkCharacters(at);
      if (text[at] === '#' || text.startsWith('//', at)) {
        const end = text.indexOf('\n', at);
        lexer.position = positionOf(at);
        at = end < 0 ? text.length : end;
      } else if (text.startsWith('/*', at)) {
        const end = text.indexOf('*/', at + 2);
        lexer.position = positionOf(at);
        if (end < 0) throw new ParseError('comment not terminated', lexer.position);
        at = end + 2;
      } else return;
    }
  }

  function set(token: number, value: TokenValue, end: number): void {
    lexer.token = token;
    lexer.value = value;
    at = end;
  }

  function tail(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return from + (pattern.exec(text)?.[0].length ?? 0);
  }

  function readDuration(start: number, numberEnd: number): boolean {
    const end = tail(DURATION_TAIL, numberEnd);
    const ns = end > numberEnd ? durationNs(text.slice(start, end)) : undefined;
    if (ns !== undefined) set(DURATION, ns, end);
    return ns !== undefined;
  }

  function readNumber(start: number): void {
    const numberEnd = scanned(scanNumber(text, start));
    if (readDuration(start, numberEnd)) return;
    const end = tail(BYTES_TAIL, numberEnd);
    const bytes = end > numberEnd ? byteSize(text.slice(start, end)) : undefined;
    if (bytes !== undefined) set(BYTES, bytes, end);
    else set(NUMBER, text.slice(start, numberEnd), numberEnd);
  }

  function readRange(start: number): void {
    const end = text.indexOf(']', start);
    if (end < 0) throw new ParseError("missing closing ']' in duration", lexer.position);
    try {
      set(RANGE, parseRangeDuration(text.slice(start + 1, end)), end + 1);
    } catch (error) {
      throw new ParseError(messageOf(error), lexer.position);
    }
  }

  function readWord(start: number, end: number): void {
    const word = text.slice(start, end);
    const lower = word.toLowerCase();
    CALL.lastIndex = end;
    const called = FUNCTIONS.get(lower);
    const reserved = called !== undefined && CALL.test(text) ? called : KEYWORDS.get(lower);
    if (reserved === undefined) set(IDENTIFIER, word, end);
    else set(reserved, lower, end);
  }

  function readString(start: number, end: number): void {
    const value = unquote(text.slice(start, end));
    if (value === undefined) throw new ParseError('invalid syntax', lexer.position);
    set(STRING, value, end);
  }

  /** Go scans `'a'` as one token, which has no meaning in LogQL. */
  function readCharacter(start: number, end: number): void {
    const literal = text.slice(start, end);
    const length = [...(unquote(literal) ?? '')].length;
    if (length !== 1) throw new ParseError('invalid char literal', lexer.position);
    set(IDENTIFIER, literal, end);
  }

  function readFlag(start: number): boolean {
    const flag = FLAGS.find(name => text.startsWith(name, start));
    if (flag === undefined) return false;
    const end = start + flag.length;
    if (FLAG_CHAR.test(text[end] ?? '')) return false;
    set(FLAG, flag, end);
    return true;
  }

  function readOperator(start: number): void {
    const char = String.fromCodePoint(text.codePointAt(start)!);
    if (char === '-' && (readFlag(start) || readDuration(start, start + 1))) return;
    const two = text.slice(start, start + 2);
    const operator = OPERATORS.has(two) ? two : char;
    set(OPERATORS.get(operator) ?? IDENTIFIER, operator, start + operator.length);
  }

  function read(start: number): void {
    const char = text[start];
    const next = text[start + 1] ?? '';
    if (char === '"') readString(start, scanned(scanQuoted(text, start)));
    else if (char === '`') readString(start, scanned(scanRaw(text, start)));
    else if (char === "'") readCharacter(start, scanned(scanQuoted(text, start)));
    else if (char === '[') readRange(start);
    else if (DIGIT.test(char) || (char === '.' && DIGIT.test(next))) readNumber(start);
    else {
      const end = tail(WORD, start);
      if (end > start) readWord(start, end);
      else readOperator(start);
    }
  }

  const lexer: Lexer = {
    token: 0,
    value: '',
    position: undefined,
    next() {
      skipSpace();
      if (text === '') return;
      lexer.position = positionOf(at);
      if (at >= text.length) set(0, '', at);
      else read(at);
      checkCharacters(at);
    },
  };
  return lexer;
}

/** Returns the nanoseconds of a duration in either dialect, or undefined if the text is not a duration. */
export function durationNs(text: string): bigint | undefined {
  return attempt(() => parsePrometheusDuration(text)) ?? attempt(() => parseGoDuration(text));
}

function byteSize(text: string): number | undefined {
  return attempt(() => parseByteSize(text));
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
