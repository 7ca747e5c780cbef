/**
 * Adds patterns to the index parts of a chunk. It wraps another indexer, because patterns are optional
 * (`pattern_ingester.enabled`) and must cost nothing if they are off.
 */

import { invariant } from '../../base/model/errors.ts';
import type { ChunkIndexer, ExtraColumn, PageOrigin } from '../../storage/chunk/chunk-indexer.ts';
import { SectionKind } from '../../storage/chunk/format.ts';
import { levelsOfRows } from './levels.ts';
import { type MinedRows, PatternBuilder } from './pattern-builder.ts';
import type { PatternSection } from './section-codec.ts';

/**
 * Wraps the indexer of one chunk. `finish` appends the patterns to the other sections.
 *
 * @param stored patterns of the chunks whose pages may be copied
 */
export function withPatterns(inner: ChunkIndexer, stored: readonly PatternSection[] = []): ChunkIndexer {
  const builder = new PatternBuilder();
  return {
    page(lines, lineOffsets, rows, metadata, origin): readonly ExtraColumn[] {
      builder.addPage(minedRows(lines, lineOffsets, origin, rows));
      return inner.page(lines, lineOffsets, rows, metadata, origin);
    },
    copied(page) {
      const { source, index } = page;
      invariant(source < stored.length, 'pages are copied together with the patterns of their chunk');
      invariant(inner.copied !== undefined, 'the indexer has the derived data of a copied page');
      inner.copied(page);
      builder.copyPage(stored[source], index);
    },
    finish() {
      const bytes = builder.finish();
      const sections = inner.finish();
      return bytes === undefined ? sections : [...sections, { kind: SectionKind.patterns, bytes }];
    },
  };
}

function minedRows(
  lines: Buffer,
  lineOffsets: Uint32Array,
  { input, from, split }: PageOrigin,
  rows: number,
): MinedRows {
  const { streamOf } = input;
  const runs: { readonly firstRow: number; readonly rows: number }[] = [];
  for (let row = 0, firstRow = 0; row < rows; row++) {
    if (row + 1 < rows && streamOf[from + row + 1] === streamOf[from + row]) continue;
    runs.push({ firstRow, rows: row + 1 - firstRow });
    firstRow = row + 1;
  }
  const times = input.times.subarray(from, from + rows);
  const levels = levelsOfRows(input, from, rows);
  return { lines, lineOffsets, runs, times, base: 0, levels, split };
}
