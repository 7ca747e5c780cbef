/**
 * Texts that the line filters of a query search for, as JavaScript regular expressions, to highlight them in
 * lines.
 */
import { tokensOf, valueOfString } from './tokens.ts';

/** Maximum number of highlights per line: a filter for one letter would match thousands. */
const MAX_MATCHES = 200;

/** Case-sensitive unless the filter says otherwise. Omits patterns that JavaScript does not support. */
export function highlightsOf(query: string): readonly RegExp[] {
  const tokens = tokensOf(query).filter(({ kind }) => kind !== 'comment');
  const found: RegExp[] = [];
  let filter = '';
  tokens.forEach((token, i) => {
    if (token.text === '|=' || token.text === '|~') filter = token.text;
    else if (token.kind === 'string' && filter !== '') {
      const value = valueOfString(token);
      const expression = value === undefined ? undefined : expressionOf(value, filter);
      if (expression !== undefined) found.push(expression);
      // `|= "a" or "b"`
      if (tokens[i + 1]?.text !== 'or') filter = '';
    } else if (token.text !== 'or') filter = '';
  });
  return found;
}

function expressionOf(value: string, filter: string): RegExp | undefined {
  if (value === '') return undefined;
  if (filter === '|=') return new RegExp(value.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'g');
  const [, flags = '', source] = /^(?:\(\?([ims]+)\))?([\s\S]*)$/.exec(value)!;
  try {
    return new RegExp(source, `g${flags}`);
  } catch {
    return undefined;
  }
}

/** Matches in order without overlap: offsets that alternate start and end. */
export function matchesIn(line: string, highlights: readonly RegExp[]): readonly number[] {
  if (highlights.length === 0) return [];
  const ranges: [number, number][] = [];
  for (const highlight of highlights) {
    highlight.lastIndex = 0;
    for (let found = highlight.exec(line); found !== null; found = highlight.exec(line)) {
      if (found[0] === '') highlight.lastIndex++;
      else ranges.push([found.index, found.index + found[0].length]);
      if (ranges.length >= MAX_MATCHES) break;
    }
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const merged: number[] = [];
  for (const [from, to] of ranges) {
    const last = merged.length - 1;
    if (last > 0 && from <= merged[last]) merged[last] = Math.max(merged[last], to);
    else merged.push(from, to);
  }
  return merged;
}
