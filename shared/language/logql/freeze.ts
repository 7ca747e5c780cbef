/**
 * Freezes a tree and bounds its depth. Works without recursion, because the depth of the tree is not yet
 * known.
 */
import { ParseError } from './errors.ts';
import { MAX_TREE_DEPTH, TOO_DEEP } from './query-limits.ts';

/**
 * Freezes every object and list in the tree, and returns the tree. Throws a ParseError if it is too deep.
 */
export function freezeTree<T extends object>(tree: T): T {
  const nodes: object[] = [tree];
  const depths: number[] = [1];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const depth = depths.pop()!;
    if (depth > MAX_TREE_DEPTH) throw new ParseError(TOO_DEEP);
    for (const child of Object.values(node)) {
      if (typeof child !== 'object' || child === null) continue;
      nodes.push(child);
      depths.push(depth + 1);
    }
    Object.freeze(node);
  }
  return tree;
}
