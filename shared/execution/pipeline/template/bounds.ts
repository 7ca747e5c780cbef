/**
 * Limits of one template. A template is part of a query and therefore untrusted. Without limits, a hundred
 * bytes could block the process, such as `{{ repeat 999999999 .a }}` or a template that calls itself.
 */

/**
 * Maximum length of the rendered text and of every intermediate value, UTF-16 units: 4 times the default
 * maximum line.
 */
export const MAX_OUTPUT_LENGTH = 1024 * 1024;

/**
 * Maximum depth of nested blocks and parentheses in the text. Each uses about 8 of a thread's roughly 10,000
 * stack frames.
 */
export const MAX_PARSE_DEPTH = 200;

/** Maximum depth of blocks, parentheses and template calls during rendering, in total. */
export const MAX_RENDER_DEPTH = 400;

/**
 * Maximum steps of one render. A step is an evaluated node or 64 processed characters, times the weight of
 * the function. On hostile templates, exhausting the budget took under 1 s. A typical line takes under 100
 * steps.
 */
export const MAX_RENDER_STEPS = 500_000;

/** Number of characters that count as one step. */
export const CHARACTERS_PER_STEP = 64;

/**
 * Maximum decimal digits of a value inside addf, mulf and similar functions; a float64 needs at most 1,100.
 */
export const MAX_DECIMAL_DIGITS = 8000;

/**
 * Maximum cached regular expressions, zones and layouts of this process; the templates of a dashboard use a
 * few.
 */
export const MAX_CACHED_REGEXES = 256;
export const MAX_CACHED_ZONES = 64;
export const MAX_CACHED_LAYOUTS = 256;

/** Maximum nesting of a JSON text in fromJson, because values print by recursion. */
export const MAX_TEMPLATE_JSON_DEPTH = 500;
