/**
 * Reads the index parts of an object page by page, for a new object that copies most of its pages
 * (compaction/merge.ts). Field columns are inside the pages.
 */

import { StoredFilter } from '../../execution/text-index/stored-filter.ts';
import { decodeSummaries, type PageSummary } from '../../execution/text-index/summary-codec.ts';
import { SectionKind } from '../../storage/chunk/format.ts';

export interface StoredExtras {
  readonly filter: StoredFilter;
  /** Indexed by page number. */
  readonly summaries: readonly PageSummary[];
}

/**
 * Returns `undefined` if the object lacks a section that is written now, or has another version of it. Then
 * its pages cannot be copied into an object with all sections. Throws CorruptionError, and the errors of
 * `load`.
 *
 * @param load loads the raw bytes of the section of a kind; `undefined` if the object has none
 * @param pages number of pages of the object
 */
export async function readStoredExtras(
  load: (kind: number) => Promise<Buffer | undefined>,
  pages: number,
): Promise<StoredExtras | undefined> {
  const filterSection = await load(SectionKind.filter);
  const section = await load(SectionKind.summaries);
  if (filterSection === undefined || section === undefined) return undefined;
  const filter = StoredFilter.of(filterSection, pages);
  const summaries = decodeSummaries(section, pages);
  return filter && summaries && { filter, summaries };
}
