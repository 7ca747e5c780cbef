/**
 * Declarations of a package without types. It is the oracle for our decoder, and the encoder of tests and
 * benchmarks.
 */
declare module 'snappyjs' {
  export function compress(input: Uint8Array): Uint8Array;
  /** Throws if the block is corrupt or longer than `maxLength`. */
  export function uncompress(input: Uint8Array, maxLength?: number): Uint8Array;
}
