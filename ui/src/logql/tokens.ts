/**
 * Tokenizes a query, also an incomplete one: enough to find the cursor's context and the filters. It is not a
 * parser; the store reports mistakes.
 */
type TokenKind = 'word' | 'string' | 'open-string' | 'number' | 'mark' | 'comment';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Offsets in the query. */
  readonly from: number;
  readonly to: number;
}

/** Token patterns, longest first. Numbers include durations and bytes. */
const PATTERNS: readonly (readonly [TokenKind, RegExp])[] = [
  ['comment', /#[^\n]*/y],
  ['string', /"(?:[^"\\\n]|\\.)*"|`[^`]*`/y],
  ['open-string', /"(?:[^"\\\n]|\\.)*\\?|`[^`]*/y],
  ['word', /[A-Za-z_][A-Za-z0-9_:]*/y],
  ['number', /(?:\d+(?:\.\d+)?|\.\d+)(?:[A-Za-zµ]+\d*)*/y],
  ['mark', /\|=|\|~|\|>|!=|!~|!>|=~|==|>=|<=|[-+*/%^|{}()[\],=<>!]/y],
];

export function tokensOf(query: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < query.length) {
    let length = 0;
    for (const [kind, pattern] of PATTERNS) {
      pattern.lastIndex = at;
      const found = pattern.exec(query);
      if (found === null) continue;
      length = found[0].length;
      tokens.push({ kind, text: found[0], from: at, to: at + length });
      break;
    }
    at += length || 1;
  }
  return tokens;
}

/** Value of a string token; undefined if an escape is invalid. */
export function valueOfString({ text }: Token): string | undefined {
  if (text.startsWith('`')) return text.slice(1, -1);
  try {
    return JSON.parse(text.replace(/\\([\s\S])/g, escapeForJson)) as string;
  } catch {
    return undefined;
  }
}

/** Translates escapes that JSON does not have. */
function escapeForJson(whole: string, character: string): string {
  const known: Record<string, string> = { a: '\\u0007', v: '\\u000b', "'": "'" };
  return known[character] ?? whole;
}

/** Text as a LogQL string. */
export function quoted(value: string): string {
  return JSON.stringify(value);
}

/** True for a log query, false for a metric query. */
export function asksForLines(query: string): boolean {
  const first = tokensOf(query).find(({ kind, text }) => kind !== 'comment' && text !== '(');
  return first?.text === '{';
}
