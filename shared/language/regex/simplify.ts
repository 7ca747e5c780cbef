/**
 * Smaller patterns with the same answer to "does it match?" or with the same first match. They matter because
 * people write `.*error.*`, which, taken literally, is the slowest way to say `error`.
 */
import { allButNewline, allChars, type CharSet, equalSets } from './char-set.ts';
import { concat, partsOf, type RegexNode, withoutGroups } from './syntax.ts';

/** The pattern for tests only: same answer, no groups, no loops at its ends. */
export function forTest(node: RegexNode): RegexNode {
  const parts = [...partsOf(withoutGroups(node))];
  for (let changed = true; changed; ) {
    changed = dropEnd(parts, 0, 'textStart') || dropEnd(parts, parts.length - 1, 'textEnd');
  }
  return concat(parts);
}

/** Drops what is redundant at one end of an otherwise free pattern; true where something was. */
function dropEnd(parts: RegexNode[], index: number, kind: 'textStart' | 'textEnd'): boolean {
  const part = parts[index];
  if (part === undefined) return false;
  const inner = index + (kind === 'textStart' ? 1 : -1);
  // `^(?s:.*)x` is `x`.
  if (part.type === 'assertion' && part.kind === kind && isStarOf(parts[inner], allChars)) {
    parts.splice(Math.min(index, inner), 2);
    return true;
  }
  // A free end needs no more than the least count: `(ab)+x` is `abx`, `x.*` is `x`.
  if (part.type !== 'repeat' || (part.max === part.min && part.max !== 1)) return false;
  const least = { ...part, max: part.min };
  parts.splice(index, 1, ...(part.min === 0 ? [] : part.min === 1 ? partsOf(part.node) : [least]));
  return true;
}

/**
 * The pattern for the first match: same groups. A pattern that begins with `.*` matches first at the start of a
 * line or not in this line at all, so no other start needs a try.
 */
export function forFirstMatch(node: RegexNode): RegexNode {
  const first = partsOf(node)[0];
  if (isStarOf(first, allChars)) return concat([{ type: 'assertion', kind: 'textStart' }, node]);
  if (isStarOf(first, allButNewline)) return concat([{ type: 'assertion', kind: 'lineStart' }, node]);
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
