/**
 * Tokens of a Go template: text outside `{{ }}`, and the words inside. Spaces are tokens, because `.a.b` is
 * one operand and `.a .b` are two. The lexer also handles trim markers (`{{- `, ` -}}`); the text that they
 * remove is not a token. Positions are UTF-16 offsets. Messages need bytes, so they convert them.
 */
import { quote } from '../../../base/model/quote.ts';

type TokenKind =
  | 'eof'
  | 'error'
  | 'text'
  | 'leftDelim'
  | 'rightDelim'
  | 'space'
  | 'identifier'
  | 'keyword'
  | 'bool'
  | 'nil'
  | 'dot'
  | 'field'
  | 'variable'
  | 'number'
  | 'charConstant'
  | 'string'
  | 'rawString'
  | 'declare'
  | 'assign'
  | 'pipe'
  | 'leftParen'
  | 'rightParen'
  | 'char';

export interface Token {
  readonly kind: TokenKind;
  readonly value: string;
  readonly pos: number;
  /** Line of the token's first character, from 1. */
  readonly line: number;
}

const KEYWORDS = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'template',
  'with',
]);
const WORD_CHARACTER = /^[\p{L}\p{Nd}_]$/u;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const SIMPLE_TOKENS = new Map<string, TokenKind>([
  ['=', 'assign'],
  ['|', 'pipe'],
]);

export class Lexer {
  readonly #text: string;
  #pos = 0;
  #line = 1;
  /** Offset up to which newlines are counted in `line`. */
  #counted = 0;
  #parenDepth = 0;
  #insideAction = false;
  #ended: Token | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the next token; after `eof` or `error`, always that token. */
  next(): Token {
    if (this.#ended !== undefined) return this.#ended;
    for (;;) {
      const token = this.#insideAction ? this.#lexAction() : this.#lexText();
      if (token === undefined) continue;
      if (token.kind === 'eof' || token.kind === 'error') this.#ended = token;
      return token;
    }
  }

  #token(kind: TokenKind, start: number, end: number, value = this.#text.slice(start, end)): Token {
    for (let at = this.#text.indexOf('\n', this.#counted); at >= 0 && at < start; ) {
      this.#line++;
      at = this.#text.indexOf('\n', (this.#counted = at + 1));
    }
    this.#pos = end;
    return { kind, value, pos: start, line: this.#line };
  }

  #fail(start: number, message: string): Token {
    return this.#token('error', start, this.#text.length, message);
  }

  /** Reads a text token or a left delimiter. Returns undefined after a comment or an empty text. */
  #lexText(): Token | undefined {
    const text = this.#text;
    const pos = this.#pos;
    if (pos >= text.length) return this.#token('eof', pos, pos);
    const open = text.indexOf('{{', pos);
    if (open !== pos) {
      const end = open < 0 ? text.length : open;
      const shownEnd = open >= 0 && this.#trimsLeft(open + 2) ? trimEnd(text, pos, end) : end;
      if (shownEnd === pos) {
        this.#pos = end;
        return undefined;
      }
      const token = this.#token('text', pos, shownEnd);
      this.#pos = end;
      return token;
    }
    const afterMarker = this.#trimsLeft(open + 2) ? open + 4 : open + 2;
    if (text.startsWith('/*', afterMarker)) return this.#lexComment(afterMarker);
    const token = this.#token('leftDelim', open, open + 2);
    this.#pos = afterMarker;
    this.#insideAction = true;
    this.#parenDepth = 0;
    return token;
  }

  #trimsLeft(at: number): boolean {
    return this.#text[at] === '-' && isSpace(this.#text[at + 1]);
  }

  /** Returns the length of the right delimiter at `at` with its trim marker: 0, 2 or 4. */
  #rightDelimiterLength(at: number): number {
    if (this.#text.startsWith('}}', at)) return 2;
    return isSpace(this.#text[at]) && this.#text.startsWith('-}}', at + 1) ? 4 : 0;
  }

  #lexComment(start: number): Token | undefined {
    const close = this.#text.indexOf('*/', start + 2);
    if (close < 0) return this.#fail(start, 'unclosed comment');
    const length = this.#rightDelimiterLength(close + 2);
    if (length === 0) return this.#fail(start, 'comment ends before closing delimiter');
    this.#pos = close + 2 + length;
    if (length === 4) this.#skipSpace();
    return undefined;
  }

  #skipSpace(): void {
    while (isSpace(this.#text[this.#pos])) this.#pos++;
  }

  #lexRightDelimiter(length: number): Token {
    const start = this.#pos + length - 2;
    const token = this.#token('rightDelim', start, start + 2);
    this.#insideAction = false;
    if (length === 4) this.#skipSpace();
    return token;
  }

  #lexAction(): Token {
    const text = this.#text;
    const pos = this.#pos;
    const close = this.#rightDelimiterLength(pos);
    if (close > 0) {
      return this.#parenDepth === 0 ? this.#lexRightDelimiter(close) : this.#fail(pos, 'unclosed left paren');
    }
    if (pos >= text.length) return this.#fail(pos, 'unclosed action');
    const char = String.fromCodePoint(text.codePointAt(pos)!);
    if (isSpace(char)) return this.#lexSpace();
    const simple = SIMPLE_TOKENS.get(char);
    if (simple !== undefined) return this.#token(simple, pos, pos + 1);
    if (char === ':') {
      return text[pos + 1] === '=' ? this.#token('declare', pos, pos + 2) : this.#fail(pos, 'expected :=');
    }
    if (char === '"') return this.#lexQuoted('"', 'string', 'unterminated quoted string');
    if (char === "'") return this.#lexQuoted("'", 'charConstant', 'unterminated character constant');
    if (char === '`') {
      const end = text.indexOf('`', pos + 1);
      return end < 0
        ? this.#fail(pos, 'unterminated raw quoted string')
        : this.#token('rawString', pos, end + 1);
    }
    if (char === '$') return this.#lexFieldOrVariable('variable');
    if (char === '.' && pos + 1 < text.length && !isDigit(text[pos + 1])) {
      return this.#lexFieldOrVariable('field');
    }
    if (char === '.' || char === '+' || char === '-' || isDigit(char)) return this.#lexNumber();
    if (WORD_CHARACTER.test(char)) return this.#lexWord();
    if (char === '(') {
      this.#parenDepth++;
      return this.#token('leftParen', pos, pos + 1);
    }
    if (char === ')') {
      this.#parenDepth--;
      return this.#parenDepth < 0
        ? this.#fail(pos, 'unexpected right paren')
        : this.#token('rightParen', pos, pos + 1);
    }
    if (char >= ' ' && char <= '~') return this.#token('char', pos, pos + 1);
    return this.#fail(pos, `unrecognized character in action: ${codePoint(char)}`);
  }

  #lexSpace(): Token {
    const start = this.#pos;
    let end = start;
    while (isSpace(this.#text[end])) end++;
    // The last space may belong to the delimiter ` -}}`.
    if (this.#text.startsWith('-}}', end)) {
      end--;
      if (end === start) return this.#lexRightDelimiter(4);
    }
    return this.#token('space', start, end);
  }

  #lexQuoted(mark: string, kind: TokenKind, unterminated: string): Token {
    const start = this.#pos;
    for (let at = start + 1; at < this.#text.length; at++) {
      let char = this.#text[at];
      if (char === mark) return this.#token(kind, start, at + 1);
      if (char === '\\') char = this.#text[++at];
      if (char === '\n') break;
    }
    return this.#fail(start, unterminated);
  }

  #wordEnd(at: number): number {
    while (at < this.#text.length) {
      const char = String.fromCodePoint(this.#text.codePointAt(at)!);
      if (!WORD_CHARACTER.test(char)) break;
      at += char.length;
    }
    return at;
  }

  /** Returns undefined if a word may end at `at`, else the error. */
  #badEnd(start: number, at: number): Token | undefined {
    const next = this.#text[at];
    if (next === undefined || isSpace(next) || '.,|:)('.includes(next)) return undefined;
    if (this.#text.startsWith('}}', at)) return undefined;
    return this.#fail(start, `bad character ${codePoint(String.fromCodePoint(this.#text.codePointAt(at)!))}`);
  }

  #lexWord(): Token {
    const start = this.#pos;
    const end = this.#wordEnd(start);
    const bad = this.#badEnd(start, end);
    if (bad !== undefined) return bad;
    const word = this.#text.slice(start, end);
    if (KEYWORDS.has(word)) return this.#token('keyword', start, end);
    if (word === 'nil') return this.#token('nil', start, end);
    return this.#token(word === 'true' || word === 'false' ? 'bool' : 'identifier', start, end);
  }

  #lexFieldOrVariable(kind: 'field' | 'variable'): Token {
    const start = this.#pos;
    if (this.#badEndFree(start + 1)) {
      return this.#token(kind === 'variable' ? 'variable' : 'dot', start, start + 1);
    }
    const end = this.#wordEnd(start + 1);
    return this.#badEnd(start, end) ?? this.#token(kind, start, end);
  }

  #badEndFree(at: number): boolean {
    const next = this.#text[at];
    return next === undefined || isSpace(next) || '.,|:)('.includes(next) || this.#text.startsWith('}}', at);
  }

  #lexNumber(): Token {
    const start = this.#pos;
    const pattern =
      /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;
    pattern.lastIndex = start;
    const end = start + pattern.exec(this.#text)![0].length;
    const next = end < this.#text.length ? String.fromCodePoint(this.#text.codePointAt(end)!) : '';
    if (WORD_CHARACTER.test(next)) {
      return this.#fail(start, `bad number syntax: ${quote(this.#text.slice(start, end + next.length))}`);
    }
    // `1+2i` is one constant in Go. Complex values are useless in a log line and are refused with Go's text.
    pattern.lastIndex = end;
    const second = next === '+' || next === '-' ? pattern.exec(this.#text)![0] : '';
    const following = second === '' ? undefined : this.#text.codePointAt(end + second.length);
    const word = following === undefined ? '' : String.fromCodePoint(following);
    const raw = this.#text.slice(start, end) + second + (WORD_CHARACTER.test(word) ? word : '');
    if (next === '+' || next === '-' || raw.endsWith('i')) {
      return this.#fail(start, `bad number syntax: ${quote(raw)}`);
    }
    return this.#token('number', start, end);
  }
}

function isSpace(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '\n';
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9';
}

function trimEnd(text: string, start: number, end: number): number {
  while (end > start && isSpace(text[end - 1])) end--;
  return end;
}

/** Formats as Go's `%#U`: `U+0021 '!'`. */
function codePoint(char: string): string {
  const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return PRINTABLE.test(char) ? `U+${code} '${char}'` : `U+${code}`;
}
