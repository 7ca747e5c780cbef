/** Kinds of a member's value in a line (`LineMembers.kinds`). */

/** The bytes are the value, except for invalid UTF-8. */
export const VALUE = 0;
/** The bytes are the content of a quoted text with escapes. */
export const ESCAPED = 1;
/** The value is an object or an array. */
export const STRUCTURE = 2;
/** The value is JSON's null, which sets no label. */
export const NOTHING = 3;
