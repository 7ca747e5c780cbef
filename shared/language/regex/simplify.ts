/**
 * Simplifies patterns without changing whether they match, or without changing their first match. Users often
 * write `.*error.*`, which is the slowest way to search for `error` if executed literally.
 */
import { ALL_BUT_NEWLINE, ALL_CHARS, type CharSet, equalSets } from './char-set.ts';
import { concat, partsOf, type RegexNode, withoutGroups } from './syntax.ts';

/** Returns the pattern for tests only: same result, no groups, no loops at its ends. */
export function forTest(node: RegexNode): RegexNode {
  const parts = [...partsOf(withoutGroups(node))];
  for (let changed = true; changed; ) {
    changed = dropEnd(parts, 0, 'textStart') || dropEnd(parts, parts.length - 1, 'textEnd');
  }
  return concat(parts);
}

/** Removes a redundant part at one end of a pattern that is free at that end. Returns whether it did. */
function dropEnd(parts: RegexNode[], index: number, kind: 'textStart' | 'textEnd'): boolean {
  const part = parts[index];
  if (part === undefined) return false;
  const inner = index + (kind === 'textStart' ? 1 : -1);
  // `^(?s:.*)x` is `x`.
  if (part.type === 'assertion' && part.kind === kind && isStarOf(parts[inner], ALL_CHARS)) {
    parts.splice(Math.min(index, inner), 2);
    return true;
  }
  // A free end needs only the minimum count: `(ab)+x` is `abx`, `x.*` is `x`.
  if (part.type !== 'repeat' || (part.max === part.min && part.max !== 1)) return false;
  const least = { ...part, max: part.min };
  parts.splice(index, 1, ...(part.min === 0 ? [] : part.min === 1 ? partsOf(part.node) : [least]));
  return true;
}

/**
 * Returns the pattern for the first match, with the same groups. A pattern that begins with `.*` has its
 * first match at the start of a line, or no match in this line. Other starts are not tried.
 */
export function forFirstMatch(node: RegexNode): RegexNode {
  const first = partsOf(node)[0];
  if (isStarOf(first, ALL_CHARS)) return concat([{ type: 'assertion', kind: 'textStart' }, node]);
  if (isStarOf(first, ALL_BUT_NEWLINE)) return concat([{ type: 'assertion', kind: 'lineStart' }, node]);
  return node;
}

function isStarOf(node: RegexNode | undefined, set: CharSet): boolean {
  return (
    node?.type === 'repeat' &&
    node.min === 0 &&
    node.max === Number.POSITIVE_INFINITY &&
    node.node.type === 'chars' &&
    equalSets(node.node.set, set)
  );
}
