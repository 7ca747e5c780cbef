/** The package brings no types. It is the oracle for our own decoder, and the encoder of tests and benches. */
declare module 'snappyjs' {
  export function compress(input: Uint8Array): Uint8Array;
  /** Throws where the block is corrupt or longer than `maxLength`. */
  export function uncompress(input: Uint8Array, maxLength?: number): Uint8Array;
}
