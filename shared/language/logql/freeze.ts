/** Freezes a tree and bounds its depth, without recursion: the first walk over a tree cannot trust its depth. */
import { ParseError } from './errors.ts';
import { MAX_TREE_DEPTH, TOO_DEEP } from './query-limits.ts';

/** The tree itself, every object and list in it frozen. Throws a ParseError where it is too deep. */
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
