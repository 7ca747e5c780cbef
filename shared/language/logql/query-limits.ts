/** Limits of the parser. They bound its time and stack for every text. */

/** Query size in UTF-8 bytes; the reference refuses this size and above. */
export const MAX_QUERY_BYTES = 131_072;

/**
 * Maximum entries of the parser's stack. An open parenthesis uses one, an open aggregation two. 10,000
 * exceeds every query that a person or a dashboard writes.
 */
export const MAX_PARSER_STACK = 10_000;

/**
 * Maximum depth of the tree, including lists. Printers, planners and evaluators walk the tree by recursion.
 * At a few frames per level, 1,000 levels use less than a third of the default stack of Node.js. The
 * reference has no such limit.
 */
export const MAX_TREE_DEPTH = 1000;

export const TOO_DEEP = 'query is nested too deeply';
