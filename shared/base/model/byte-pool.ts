/** A bound on bytes that several holders share: the queries of a process, or those of several threads. */
export interface BytePool {
  /** False if there are not as many left; nothing is taken then. */
  take(bytes: number): boolean;
  /** At most what was taken. */
  give(bytes: number): void;
}

/** For holders of one thread. */
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
