/** Rules that name mistakes in queries: their type, and helpers over tokens. */
import type { Token } from './tokens.ts';

export interface MistakeExplanation {
  readonly sentence: string;
  /** Corrected query. */
  readonly query?: string;
}

/** Explains a mistake; undefined if the query does not have it. Comments are not among the tokens. */
export type MistakeRule = (query: string, tokens: readonly Token[]) => MistakeExplanation | undefined;

export const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/^ms$|^milli/i, 'ms'],
  [/^s$|^sec/i, 's'],
  [/^m$|^min/i, 'm'],
  [/^h$|^hour/i, 'h'],
  [/^d$|^day/i, 'd'],
  [/^w$|^week/i, 'w'],
  [/^y$|^year/i, 'y'],
];

/** LogQL's unit for a unit as people write it. */
export function shortUnit(unit: string): string | undefined {
  return UNITS.find(([pattern]) => pattern.test(unit))?.[1];
}

export function replaced(query: string, { from, to }: Pick<Token, 'from' | 'to'>, text: string): string {
  return query.slice(0, from) + text + query.slice(to);
}

export function inserted(query: string, at: number, text: string): string {
  return query.slice(0, at) + text + query.slice(at);
}

/** Index of the token that closes the bracket at `open`; -1 if none does. */
export function closeIndex(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const { kind, text } = tokens[i];
    if (kind !== 'mark') continue;
    if (text in CLOSERS) depth++;
    else if (Object.values(CLOSERS).includes(text) && --depth === 0) return i;
  }
  return -1;
}

/** For each token, true if it is between the braces of a selector. */
export function inSelector(tokens: readonly Token[]): readonly boolean[] {
  let open = false;
  return tokens.map(({ kind, text }) => {
    if (kind === 'mark' && (text === '{' || text === '}')) {
      open = text === '{';
      return false;
    }
    return open;
  });
}

export function quotedPart(text: string): string {
  return `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;
}
