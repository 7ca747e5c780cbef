/** Declarations of a package without types. It is the oracle for our decoder, and the encoder of tests. */
declare module 'lz4js' {
  /** One frame of linked-free blocks, without checksums of blocks. */
  export function compress(input: Uint8Array, maxSize?: number): Uint8Array;
  export function decompress(input: Uint8Array, maxSize?: number): Uint8Array;
}
