/** Brackets without a partner: `{app="x"`, `rate({app="x"}[5m)`, `sum(rate({app="x"}[5m])))`. */
import { isLogql } from './grammar.ts';
import { CLOSERS, type MistakeRule } from './mistake-rule.ts';
import type { Token } from './tokens.ts';

export const openBracket: MistakeRule = (query, tokens) => {
  const { text, missing, extra } = balanced(query.trimEnd(), tokens);
  if (extra !== '') return { sentence: `There is no bracket that ${extra} closes.`, query: text };
  if (missing === '') return undefined;
  return {
    sentence: `${missing.length === 1 ? 'A bracket is' : 'Brackets are'} not closed: ${missing} is missing.`,
    query: isLogql(text) ? text : undefined,
  };
};

/** Brackets that close all open ones, innermost first. */
export function closersAt(tokens: readonly Token[]): string {
  const open: string[] = [];
  for (const { kind, text } of tokens) {
    if (kind !== 'mark') continue;
    if (text in CLOSERS) open.push(CLOSERS[text]);
    else if (text === open.at(-1)) open.pop();
  }
  return open.reverse().join('');
}

interface Balanced {
  /** Query with missing brackets, and without the first extra one. */
  readonly text: string;
  readonly missing: string;
  readonly extra: string;
}

function balanced(query: string, tokens: readonly Token[]): Balanced {
  const open: string[] = [];
  let text = '';
  let missing = '';
  let copied = 0;
  for (const token of tokens) {
    if (token.kind !== 'mark') continue;
    if (token.text in CLOSERS) {
      open.push(CLOSERS[token.text]);
      continue;
    }
    if (!Object.values(CLOSERS).includes(token.text)) continue;
    const at = open.lastIndexOf(token.text);
    if (at === -1) {
      return { text: query.slice(0, token.from) + query.slice(token.to), missing: '', extra: token.text };
    }
    // Inner brackets end before the one that this token closes.
    const inner = open.splice(at).slice(1).reverse().join('');
    text += query.slice(copied, token.from) + inner;
    copied = token.from;
    missing += inner;
  }
  const rest = open.reverse().join('');
  return { text: text + query.slice(copied) + rest, missing: missing + rest, extra: '' };
}
