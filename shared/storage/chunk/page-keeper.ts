/** Cache of pages, as a page uses it. */
export interface PageKeeper<Page> {
  /**
   * Returns memory for the lines of a page, which it owns while `lineSlot` is set. Returns undefined if none
   * is free.
   */
  slotFor(columns: Page): Buffer | undefined;
  /** Notes a use of lines in a slot. */
  usedLines(columns: Page): void;
  /** Drops a corrupt page from the cache. */
  forget(columns: Page): void;
  /** Notes that queries parse lines for these names repeatedly. */
  noteLearned(names: string): void;
  /** Whether that was noted for any page. */
  hasLearned(names: string): boolean;
}
