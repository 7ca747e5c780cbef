/**
 * Checks what a section of a chunk says about its pages. Checksums show that its bytes are those that were written, and
 * not that it fits the chunk. A section that does not makes queries slower, or patterns of the chunk unavailable.
 */
import { decodeHeader } from '../../execution/text-index/filter-layout.ts';
import { decodeSummaries } from '../../execution/text-index/summary-codec.ts';
import { type PageMeta, SectionKind } from '../../storage/chunk/format.ts';
import { checkParts, decodeSection } from '../pattern-mining/section-codec.ts';

/**
 * Throws CorruptionError. Sections of unknown kinds and versions are not checked.
 * @param section raw bytes
 * @param pages all pages of the chunk
 * @param what names the section
 */
export function checkSectionContent(
  kind: number,
  section: Buffer,
  pages: readonly PageMeta[],
  what: string,
): void {
  if (kind === SectionKind.filter) decodeHeader(section, pages.length);
  if (kind === SectionKind.summaries) decodeSummaries(section, pages.length);
  if (kind === SectionKind.patterns) checkPatterns(section, pages, what);
}

function checkPatterns(section: Buffer, pages: readonly PageMeta[], what: string): void {
  const patterns = decodeSection(section, what);
  if (patterns !== undefined) checkParts(patterns, pages, what);
}
