/**
 * Converts plain words into a query: `connection refused`, `"user 42" -health`, `timeout OR refused`. Each
 * word is a case-insensitive line filter. Quoted text and words without letters match exactly; `-` excludes;
 * `OR` joins alternatives.
 *
 *     readQuery('connection -"GET /health"', ALL_SERVICES).logql
 *     // {service_name=~".+"} |~ "(?i)connection" != "GET /health"
 *
 * Pitfall: the store's grammar decides first if a text is LogQL. A single number is LogQL.
 */
import { isLogql } from './grammar.ts';
import { quoted, tokensOf } from './tokens.ts';
import { AGGREGATIONS, RANGE_FUNCTIONS } from './vocabulary.ts';

/** Selector of all streams: the store adds a service name to each stream without one. */
export const ALL_SERVICES = '{service_name=~".+"}';

/**
 * Maximum number of terms. A pasted text is not a search, and each word is a filter that reads the lines
 * again.
 */
export const MAX_TERMS = 30;

interface Term {
  readonly text: string;
  /** True if the case must match. */
  readonly isExact: boolean;
  readonly isExcluded: boolean;
}

/** Terms of which a line must have one. An excluded term has no alternatives. */
type Alternatives = readonly Term[];

export type QueryReading =
  | { readonly kind: 'logql'; readonly logql: string }
  | { readonly kind: 'words'; readonly logql: string };

const TERM = /(-?)(?:"((?:[^"\\]|\\.)*)(?:"|$)|`([^`]*)(?:`|$)|((?:[^\s"]|(?<==)"[^"]*"|(?<=[^\s])")+))/gsu;
const FUNCTIONS = new Set([...RANGE_FUNCTIONS, ...AGGREGATIONS].map(({ text }) => text));
const MATCHERS = new Set(['=', '!=', '=~', '!~', '==']);

/** @param scope selector that words search in */
export function readQuery(text: string, scope: string): QueryReading {
  if (text.trim() === '' || isLogql(text) || looksLikeLogql(text)) return { kind: 'logql', logql: text };
  return { kind: 'words', logql: logqlOfWords(text, scope) };
}

/**
 * True if an invalid text is probably meant as LogQL: it has a selector, or begins with a brace, a stage or a
 * call. Then its mistake is explained instead of searching for the words.
 */
function looksLikeLogql(text: string): boolean {
  const tokens = tokensOf(text).filter(({ kind }) => kind !== 'comment');
  const first = tokens.findIndex(({ text }) => text !== '(');
  if (first === -1) return false;
  const [begin, next] = tokens.slice(first, first + 2);
  if (begin.text === '{' || /^(?:\||\|[=~>]|![=~>])$/.test(begin.text)) return true;
  if (begin.kind === 'word' && next !== undefined) {
    if (FUNCTIONS.has(begin.text) && ['(', 'by', 'without'].includes(next.text)) return true;
  }
  return tokens.some(
    ({ text }, i) =>
      text === '{' && tokens[i + 1]?.kind === 'word' && MATCHERS.has(tokens[i + 2]?.text ?? ''),
  );
}

function logqlOfWords(text: string, scope: string): string {
  return [scope, ...alternativesOf(text).map(filterOf)].join(' ');
}

/** Up to MAX_TERMS terms. */
export function alternativesOf(text: string): readonly Alternatives[] {
  const found: Term[][] = [];
  let joins = false;
  let count = 0;
  for (const match of text.toWellFormed().matchAll(TERM)) {
    const [whole, minus, inQuotes, raw, word] = match;
    const before = found.at(-1);
    if (whole === 'OR' && before !== undefined) {
      // An excluded term has no alternatives.
      joins = !before[0].isExcluded;
      continue;
    }
    const term = termOf(minus === '-', inQuotes?.replace(/\\(["\\])/g, '$1') ?? raw, word);
    if (term === undefined) continue;
    if (joins && !term.isExcluded) before?.push(term);
    else found.push([term]);
    joins = false;
    if (++count >= MAX_TERMS) break;
  }
  return found;
}

function termOf(
  isExcluded: boolean,
  inQuotes: string | undefined,
  word: string | undefined,
): Term | undefined {
  const text = inQuotes ?? word ?? '';
  // A dash between two words is punctuation.
  if (text === '' || (word !== undefined && /^-+$/.test(word))) return undefined;
  const hasCase = text.toLowerCase() !== text.toUpperCase();
  return { text, isExact: inQuotes !== undefined || !hasCase, isExcluded };
}

function filterOf(terms: Alternatives): string {
  const { isExcluded } = terms[0];
  if (terms.every(({ isExact }) => isExact)) {
    return `${isExcluded ? '!=' : '|='} ${terms.map(({ text }) => quoted(text)).join(' or ')}`;
  }
  const expression = terms.some(({ isExact }) => isExact)
    ? terms.map(({ text, isExact }) => (isExact ? escaped(text) : `(?i:${escaped(text)})`)).join('|')
    : `(?i)${terms.map(({ text }) => escaped(text)).join('|')}`;
  return `${isExcluded ? '!~' : '|~'} ${literalOf(expression)}`;
}

/** Escapes characters that have a meaning in regular expressions. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** String literal; uses backquotes if that avoids escapes. */
function literalOf(expression: string): string {
  // A string in backquotes loses its carriage returns.
  return expression.includes('\\') && !/[`\r\0]/.test(expression) ? `\`${expression}\`` : quoted(expression);
}
