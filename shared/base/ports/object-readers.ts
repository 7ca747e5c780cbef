/**
 * Tracks reads of objects that the catalog no longer names, if one process can observe all readers. This is
 * epoch-based reclamation, which frees memory next to readers without locks. An object replaced before a mark
 * is free once all reads that began before it have ended.
 */
export interface ObjectReaders {
  /** Returns the current epoch. Reads that begin later find only objects that the catalog names now. */
  mark(): number;
  /** Runs work that reads objects, and settles like it. What it may read is not free meanwhile. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Returns whether all reads that began before the mark have ended and no reader has requested to retain
   * replaced objects.
   */
  haveLeft(mark: number): Promise<boolean>;
  /**
   * Reports replaced objects, so that readers drop cached data of them: once when reads that begin later do not find them,
   * and once when they are deleted, for data that earlier reads cached meanwhile.
   */
  replaced(keys: readonly string[]): void;
}
