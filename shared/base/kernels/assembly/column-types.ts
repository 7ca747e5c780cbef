/** Types of columns, numbered as in docs/dev/format.md. */
export const TEXT: u32 = 0;
export const WORDS: u32 = 1;
export const NUMBER: u32 = 2;
export const PATTERN: u32 = 3;
export const HEX: u32 = 4;
export const CLOCK: u32 = 5;
export const NUMBERED: u32 = 6;
