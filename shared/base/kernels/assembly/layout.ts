/** Nothing lies below: an address that was not set traps nothing, but hits no kernel's data either. */
export const BASE: usize = 4096;

/** Behind every text: loads of 16 bytes, and of words of a bitmap, may begin at its last byte. */
export const SLACK: usize = 64;
