/**
 * Who still reads objects that the catalog no longer names, where one process can tell. It is how memory is reclaimed beside readers
 * that take no lock (epoch-based reclamation): what was replaced before a moment is needed by nobody once all that had begun to read
 * by then has ended.
 */
export interface ObjectReaders {
  /** This moment: whatever begins to read from now on begins after it, and finds what the catalog names now. */
  mark(): number;
  /** Whether all that had begun to read by that moment has ended, and nobody has asked for replaced objects to stay. */
  haveLeft(mark: number): Promise<boolean>;
  /** These objects are deleted: readers need no memory for what they keep of them. */
  deleted(keys: readonly string[]): void;
}
