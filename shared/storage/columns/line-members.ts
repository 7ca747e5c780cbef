/** What stands at a member of a line (`LineMembers.kinds`). */

/** Its bytes are its value, but for UTF-8 that is broken. */
export const VALUE = 0;
/** Inside of a quoted text with escapes. */
export const ESCAPED = 1;
/** An object or an array. */
export const STRUCTURE = 2;
/** JSON's null: no label. */
export const NOTHING = 3;
