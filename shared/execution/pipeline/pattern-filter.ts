/**
 * Line filters by pattern, `|> "a <_> b"` (docs/dev/logql-semantics.md#pattern-filters).
 *
 * Pitfall: a leading literal is not anchored, and captures are never empty. The first occurrence of each
 * literal is used and never reconsidered. `!>` is the negation.
 */
import { EMPTY_PATTERN } from '../../language/logql/pattern-check.ts';
import { indexOfBytes, parsePattern, refuseConsecutiveCaptures } from './pattern-syntax.ts';

export interface PatternFilter {
  /** Longest literal; a line without it cannot match. Empty if the pattern has no literal. */
  readonly needle: Buffer;
  test(source: Buffer, start: number, end: number): boolean;
}

/** Throws an Error with the reference's text for named or adjacent captures. */
export function compilePatternFilter(text: string): PatternFilter {
  const nodes = parsePattern(text);
  if (nodes.length === 0 && text !== '') throw new Error(EMPTY_PATTERN);
  for (const node of nodes) {
    if (node.kind === 'capture' && node.name !== '_') {
      throw new Error(`named captures are not allowed: found '<${node.name}>'`);
    }
  }
  refuseConsecutiveCaptures(nodes);
  const literals = nodes.flatMap(node => (node.kind === 'literal' ? [node.bytes] : []));
  const startsWithCapture = nodes[0]?.kind === 'capture';
  const endsWithCapture = nodes.at(-1)?.kind === 'capture';
  const needle = literals.reduce((a, b) => (b.length > a.length ? b : a), Buffer.alloc(0));

  function test(source: Buffer, start: number, end: number): boolean {
    if (nodes.length === 0 || start === end) return nodes.length === 0 && start === end;
    let at = start;
    for (let i = 0; i < literals.length; i++) {
      const found = indexOfBytes(source, at, end, literals[i]);
      if (found < 0) return false;
      const isFirstNode = i === 0 && !startsWithCapture;
      if (found === at && !isFirstNode) return false;
      at = found + literals[i].length;
    }
    return endsWithCapture ? at < end : at === end;
  }
  return { needle, test };
}
