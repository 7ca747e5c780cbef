/**
 * What an enriched object holds beside its entries, page by page: for an object that is made from it with most of its pages as
 * they are (chunk/chunk-patcher.ts). Promoted columns lie in the pages themselves.
 */

import { StoredFilter } from '../../execution/text-index/stored-filter.ts';
import { decodeSummaries, type PageSummary } from '../../execution/text-index/summary-codec.ts';
import { SectionKind } from '../../storage/chunk/format.ts';

export interface StoredExtras {
  readonly filter: StoredFilter;
  /** By place of the page. */
  readonly summaries: readonly PageSummary[];
}

/**
 * Undefined where the object lacks a section that is written now, or has it of another version: its pages cannot be copied into
 * an object that has all of them. Throws CorruptionError, and what `load` throws.
 *
 * @param load the raw bytes of the section of a kind; undefined where there is none
 * @param pages how many the object has
 */
export async function readStoredExtras(
  load: (kind: number) => Promise<Buffer | undefined>,
  pages: number,
): Promise<StoredExtras | undefined> {
  const filter = await load(SectionKind.filter);
  const section = await load(SectionKind.summaries);
  if (filter === undefined || section === undefined) return undefined;
  const summaries = decodeSummaries(section, pages);
  return summaries && { filter: new StoredFilter(filter, pages), summaries };
}
