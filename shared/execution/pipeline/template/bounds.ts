/**
 * What one template may cost. A template comes from a query, so it is as untrusted as the query: without these a
 * hundred bytes (`{{ repeat 999999999 .a }}`, a template that calls itself) would take the process.
 */

/** Rendered text and every value on the way to it, UTF-16 units: 4 times the default longest line. */
export const MAX_OUTPUT_LENGTH = 1024 * 1024;

/** Nested blocks and parentheses in the text. About 8 stack frames each, of some 10,000 that a thread has. */
export const MAX_PARSE_DEPTH = 200;

/** Blocks, parentheses and template calls in progress while rendering: the same sum. */
export const MAX_RENDER_DEPTH = 400;

/**
 * Steps of one render: a step is a node evaluated or 64 characters handled, times the weight of the function.
 * Measured on hostile templates: under 1 s until the budget is spent. A usual line takes under 100 steps.
 */
export const MAX_RENDER_STEPS = 500_000;

/** Characters that count as one step. */
export const CHARACTERS_PER_STEP = 64;

/** Decimal digits of a value inside addf, mulf and the like; a float64 needs 1100 at most. */
export const MAX_DECIMAL_DIGITS = 8000;

/** Compiled regular expressions and zones kept by this process; a dashboard's templates use a handful. */
export const MAX_CACHED_REGEXES = 256;
export const MAX_CACHED_ZONES = 64;
export const MAX_CACHED_LAYOUTS = 256;

/** Nesting of a JSON text that fromJson reads: values print by recursion. */
export const MAX_JSON_DEPTH = 500;
