/** First used address. An uninitialized address does not trap, but it points below all data of a kernel. */
export const BASE: usize = 4096;

/** Padding after each text: loads of 16 bytes, and of words of a bitmap, may begin at its last byte. */
export const SLACK: usize = 64;
