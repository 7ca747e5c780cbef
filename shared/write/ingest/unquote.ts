/**
 * Parses Go string literals as in Prometheus text: `"..."` and `'...'` with Go's escapes, raw `` `...` ``.
 * The reverse of model/quote.ts.
 */

interface Unquoted {
  readonly value: string;
  /** Offset after the closing quote. */
  readonly end: number;
}

const SIMPLE = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
]);
const ENDS = { '"': /["\\\n]/g, "'": /['\\\n]/g } as const;

/** Parses the literal whose opening quote is at `start`. Returns the lexer's error text if it is invalid. */
export function unquoteAt(text: string, start: number): Unquoted | string {
  const mark = text[start];
  if (mark === '`') {
    const close = text.indexOf('`', start + 1);
    if (close < 0) return 'unterminated raw string';
    return { value: text.slice(start + 1, close).replaceAll('\r', ''), end: close + 1 };
  }
  const pattern = ENDS[mark as '"' | "'"];
  const parts: string[] = [];
  // Bytes of \x and octal escapes, which may be UTF-8 only in combination.
  let pending: number[] = [];
  const flush = () => {
    if (pending.length > 0) parts.push(Buffer.from(pending).toString('utf8'));
    pending = [];
  };
  let at = start + 1;
  for (;;) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null || match[0] === '\n') return 'unterminated quoted string';
    if (match.index > at) {
      flush();
      parts.push(text.slice(at, match.index));
    }
    if (match[0] === mark) {
      flush();
      return { value: parts.join(''), end: match.index + 1 };
    }
    at = match.index + 1;
    const char = text[at];
    if (char === undefined) return 'escape sequence not terminated';
    const simple = char === mark ? mark : SIMPLE.get(char);
    if (simple !== undefined) {
      flush();
      parts.push(simple);
      at++;
      continue;
    }
    const coded = codedEscape(text, at);
    if (typeof coded === 'string') return coded;
    at = coded.end;
    if (coded.isByte) pending.push(coded.code);
    else {
      flush();
      parts.push(String.fromCodePoint(coded.code));
    }
  }
}

interface CodedEscape {
  readonly code: number;
  readonly isByte: boolean;
  readonly end: number;
}

/** Parses `x41`, `101`, `u00e9`, `U0001f680`: the text after the backslash at `at - 1`. */
function codedEscape(text: string, at: number): CodedEscape | string {
  const char = text[at];
  let digits = 3;
  let base = 8;
  let max = 255;
  let from = at;
  if (char === 'x' || char === 'u' || char === 'U') {
    digits = char === 'x' ? 2 : char === 'u' ? 4 : 8;
    base = 16;
    max = char === 'x' ? 255 : 0x10ffff;
    from = at + 1;
  } else if (!(char >= '0' && char <= '7')) {
    return `unknown escape sequence ${unicodeName(text, at)}`;
  }
  let code = 0;
  for (let i = 0; i < digits; i++) {
    const digit = text[from + i];
    if (digit === undefined) return 'escape sequence not terminated';
    const value = Number.parseInt(digit, base);
    if (Number.isNaN(value)) {
      return `illegal character ${unicodeName(text, from + i)} in escape sequence`;
    }
    code = code * base + value;
  }
  if (code > max || (code >= 0xd800 && code <= 0xdfff)) {
    return 'escape sequence is an invalid Unicode code point';
  }
  return { code, isByte: digits < 4, end: from + digits };
}

/** Formats a character as Go's `%#U`: `U+0071 'q'`. */
function unicodeName(text: string, at: number): string {
  const code = text.codePointAt(at)!;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')} '${String.fromCodePoint(code)}'`;
}
