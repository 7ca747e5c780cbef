/**
 * Indexes of the windows of one day, as one index. A chunk is in the index of the window in which it begins.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import type { Stream } from '../../base/model/page.ts';
import type { DayIndex } from './day-index.ts';
import type { ChunkCounts, ChunkPresence, ChunkSummary } from './format.ts';

/** Parts of the index of a day that queries read. */
export type IndexOfDay = Pick<DayIndex, 'streams' | 'covers' | 'summaryOf' | 'presenceOf' | 'countsOf'>;

interface JoinedWindow {
  readonly index: DayIndex;
  /** Indexes of its streams in the joined list. Both lists ascend by text. */
  readonly streamIndexes: Uint32Array;
}

export function joinIndexes(indexes: readonly DayIndex[]): IndexOfDay | undefined {
  return indexes.length > 1 ? new JoinedIndex(indexes) : indexes.at(0);
}

class JoinedIndex implements IndexOfDay {
  readonly streams: readonly Stream[];
  readonly #windowOf = new Map<string, JoinedWindow>();

  constructor(indexes: readonly DayIndex[]) {
    const byText = new Map<string, Stream>();
    for (const { streams } of indexes) for (const stream of streams) byText.set(stream.text, stream);
    this.streams = [...byText.values()].sort((a, b) => compareUtf8(a.text, b.text));
    const indexOf = new Map(this.streams.map(({ text }, i) => [text, i]));
    for (const index of indexes) {
      const streamIndexes = Uint32Array.from(index.streams, ({ text }) => indexOf.get(text)!);
      const window = { index, streamIndexes };
      for (const { id } of index.chunks) this.#windowOf.set(id, window);
    }
  }

  covers(chunkId: string): boolean {
    return this.#windowOf.has(chunkId);
  }

  summaryOf(chunkId: string): ChunkSummary | undefined {
    return this.#windowOf.get(chunkId)?.index.summaryOf(chunkId);
  }

  presenceOf(chunkId: string): ChunkPresence | undefined {
    const window = this.#windowOf.get(chunkId);
    const presence = window?.index.presenceOf(chunkId);
    if (window === undefined || presence === undefined) return undefined;
    return { ...presence, streams: presence.streams.map(stream => window.streamIndexes[stream]) };
  }

  /** Yields the counts of one window after the other. */
  async *countsOf(chunkIds: Iterable<string>): AsyncGenerator<readonly [string, ChunkCounts]> {
    const byWindow = new Map<DayIndex, string[]>();
    for (const id of chunkIds) {
      const index = this.#windowOf.get(id)?.index;
      if (index === undefined) continue;
      const ids = byWindow.get(index);
      if (ids === undefined) byWindow.set(index, [id]);
      else ids.push(id);
    }
    for (const [index, ids] of byWindow) yield* index.countsOf(ids);
  }
}
