/** Byte limit that several holders share: the queries of a process, or of several threads. */
export interface BytePool {
  /** Reserves bytes. Returns false, and reserves nothing, if fewer are available. */
  take(bytes: number): boolean;
  /** Releases bytes, at most as many as were reserved. */
  give(bytes: number): void;
}

/** Creates a pool for holders of one thread. */
export function bytePool(maxBytes: number): BytePool {
  let held = 0;
  return {
    take(bytes) {
      if (held + bytes > maxBytes) return false;
      held += bytes;
      return true;
    },
    give(bytes) {
      held -= bytes;
    },
  };
}
