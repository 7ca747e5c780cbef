/** Sequence of bytes, each of one value, or of one of two: mostly both cases of an ASCII letter. */
export interface BytePattern {
  /** Value of each byte, and its alternative. Both are equal if there is no alternative. */
  readonly bytes: Uint8Array;
  readonly others: Uint8Array;
}
