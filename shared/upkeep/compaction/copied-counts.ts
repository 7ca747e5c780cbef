/**
 * Counts of the rows in copied pages, by stream, level and minute. Footers count the rows of a whole chunk. So they are
 * the counts of the inputs that have such pages, without the rows of their other pages, which are decoded anyway. No
 * copied page is decoded.
 */
import { CorruptionError } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import { RowCounter } from '../../storage/chunk/counts.ts';
import { type LevelCounts, OTHER_LEVELS, type PageMeta } from '../../storage/chunk/format.ts';
import { mayRepeatItself } from '../../storage/chunk/metadata-column.ts';
import type { MergeRows } from './merge-cursor.ts';
import type { MergeInput } from './merge-reader.ts';
import type { NumberedInput } from './strands.ts';

export class CopiedCounts {
  /** By index among the streams of all inputs. */
  readonly #counter = new RowCounter();
  readonly #counted = new Map<MergeInput, Uint32Array>();

  /** Adds all rows of an input. Throws CorruptionError. */
  add({ input, streamIndexes }: NumberedInput): void {
    const { levels } = input.footer;
    this.#counted.set(input, streamIndexes);
    let stream = 0;
    for (const ofStream of input.counts!) this.#counter.addCounts(streamIndexes[stream++], levels, ofStream);
  }

  /**
   * Removes rows of a page of an input that is not copied. Throws CorruptionError if the runs have other bytes.
   * @param page its runs to remove
   */
  subtract(input: MergeInput, page: Pick<PageMeta, 'base' | 'runs'>, rows: MergeRows): void {
    const streamIndexes = this.#counted.get(input);
    if (streamIndexes === undefined) return;
    checkRuns(input, page, rows);
    const runs = page.runs.map(run => ({ ...run, stream: streamIndexes[run.stream] }));
    this.#counter.subtractPage(rows, { base: page.base, runs });
  }

  /**
   * Calls `give` for each stream with copied rows. Throws CorruptionError if more rows were removed than were counted.
   * @param streams streams of all inputs
   */
  finish(
    streams: readonly Stream[],
    give: (index: number, levels: readonly string[], counts: readonly LevelCounts[]) => void,
  ): void {
    const { levels, counts } = this.#counter.finish();
    for (let index = 0; index < streams.length; index++) {
      const ofStream = counts[index];
      if (ofStream === undefined || ofStream.length === 0) continue;
      if (!ofStream.every(arePossible))
        throw new CorruptionError('a merged chunk counts rows that it does not have');
      give(index, levels, ofStream);
    }
  }
}

/**
 * Whether the footer of an input counts each level by its name, and each row as it is decoded. Earlier versions counted
 * empty metadata, which is not decoded any more.
 */
export function hasExactCounts({ counts, footer }: MergeInput): boolean {
  return counts !== undefined && !footer.levels.includes(OTHER_LEVELS) && !footer.pages.some(mayRepeatItself);
}

function arePossible({ entries, lineBytes, metadataBytes }: LevelCounts): boolean {
  return entries.every((count, i) => count > 0 && lineBytes[i] >= 0 && metadataBytes[i] >= 0);
}

function checkRuns(
  { footer }: MergeInput,
  { runs }: Pick<PageMeta, 'runs'>,
  { lineOffsets, hashes }: MergeRows,
): void {
  for (const { firstRow, rows, lineBytes, metadataBytes } of runs) {
    const end = firstRow + rows;
    let metadata = 0;
    for (let row = firstRow; row < end; row++) metadata += hashes.metadataBytes[row];
    if (lineOffsets[end] - lineOffsets[firstRow] !== lineBytes || metadata !== metadataBytes) {
      throw new CorruptionError(`chunk ${footer.tenant}/${footer.id}: a run has other bytes than its rows`);
    }
  }
}
