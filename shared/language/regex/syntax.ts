/**
 * Syntax tree of a regular expression, free of flags. Case folding, `.` and classes are sets of code points.
 * `(?m)^` and `^` are different assertions, and greediness is a property of each repetition.
 */
import type { CharSet } from './char-set.ts';

export type AssertionKind =
  | 'textStart'
  | 'textEnd'
  | 'lineStart'
  | 'lineEnd'
  | 'wordBoundary'
  | 'notWordBoundary';

export type RegexNode =
  | { readonly type: 'empty' }
  /** Matches one code point of the set; the empty set matches no text. */
  | { readonly type: 'chars'; readonly set: CharSet }
  | { readonly type: 'assertion'; readonly kind: AssertionKind }
  /** Capturing group; `index` counts from 1. */
  | { readonly type: 'group'; readonly index: number; readonly node: RegexNode }
  /** Repetition; `max` is Infinity if the count has no upper bound. */
  | {
      readonly type: 'repeat';
      readonly node: RegexNode;
      readonly min: number;
      readonly max: number;
      readonly greedy: boolean;
    }
  | { readonly type: 'concat'; readonly nodes: readonly RegexNode[] }
  /** Alternatives; earlier branches are preferred. */
  | { readonly type: 'alternate'; readonly nodes: readonly RegexNode[] };

export const EMPTY_NODE: RegexNode = { type: 'empty' };

/** Returns a concatenation, flattened and without empty parts. */
export function concat(nodes: readonly RegexNode[]): RegexNode {
  const flat: RegexNode[] = [];
  for (const node of nodes) {
    if (node.type === 'concat') flat.push(...node.nodes);
    else if (node.type !== 'empty') flat.push(node);
  }
  if (flat.length === 0) return EMPTY_NODE;
  return flat.length === 1 ? flat[0] : { type: 'concat', nodes: flat };
}

export function alternate(nodes: readonly RegexNode[]): RegexNode {
  return nodes.length === 1 ? nodes[0] : { type: 'alternate', nodes };
}

/** Returns the parts that `node` matches in sequence. */
export function partsOf(node: RegexNode): readonly RegexNode[] {
  if (node.type === 'concat') return node.nodes;
  return node.type === 'empty' ? [] : [node];
}

/** Removes captures, for tests whether a text matches. */
export function withoutGroups(node: RegexNode): RegexNode {
  switch (node.type) {
    case 'group':
      return withoutGroups(node.node);
    case 'repeat':
      return { ...node, node: withoutGroups(node.node) };
    case 'concat':
      return concat(node.nodes.map(withoutGroups));
    case 'alternate':
      return { type: 'alternate', nodes: node.nodes.map(withoutGroups) };
    default:
      return node;
  }
}

/** Returns whether the node can match the empty string, if all assertions hold. */
export function isNullable(node: RegexNode): boolean {
  switch (node.type) {
    case 'chars':
      return false;
    case 'group':
      return isNullable(node.node);
    case 'repeat':
      return node.min === 0 || isNullable(node.node);
    case 'concat':
      return node.nodes.every(isNullable);
    case 'alternate':
      return node.nodes.some(isNullable);
    default:
      return true;
  }
}
