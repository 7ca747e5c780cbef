/** Bounds of the parser: whatever the text, its time and its stack have an end. */

/** UTF-8 bytes; the reference refuses this many and more. */
export const MAX_QUERY_BYTES = 131_072;

/**
 * Entries of the parser's stack. An open parenthesis takes one, an open aggregation two, so 10,000 is past every
 * query that a person or a dashboard writes.
 */
export const MAX_PARSER_STACK = 10_000;

/**
 * Levels of nodes in the tree, lists counted too. Printers, planners and evaluators walk the tree by recursion: at a
 * few frames per level, 1,000 levels stay under a third of Node's default stack. The reference has no such limit.
 */
export const MAX_TREE_DEPTH = 1000;

export const TOO_DEEP = 'query is nested too deeply';
