/** Types of shrink-node.mjs. */

/** Shrinks a Node program in its place. Returns whether it lost its languages too. */
export function shrinkNode(file: string): boolean;
