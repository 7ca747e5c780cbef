/**
 * Finds out from the day index what a range of chunks needs to be read for. Footers are a thousandth of the
 * lines, which is 13 GB for a day of 10 TB. Its index has the streams of each chunk with their times in a
 * hundredth of that.
 *
 *     own chunk without a matching stream in the time range           is skipped
 *     chunk outside that shares no time of a stream with an own one   is not a neighbor
 *     own chunk whose streams share no time with another chunk        its counts are in the index (index-counts.ts)
 *
 * A chunk that the index does not cover may have any stream.
 */
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { IndexOfDay } from '../../storage/index/joined-index.ts';
import type { StreamSelector } from './selector.ts';
import type { DayInterval } from './stream-presence-verdict.ts';

interface ChunksToSurvey extends DayInterval {
  readonly own: readonly ChunkRecord[];
  readonly neighbors: readonly ChunkRecord[];
  readonly selector: StreamSelector;
}

interface SurveyedChunks {
  /** Own chunks that share no time of a stream with another chunk. The index covers them. */
  readonly alone: readonly ChunkRecord[];
  /** The other own chunks. */
  readonly shared: readonly ChunkRecord[];
  /** Chunks outside that may have entries of own ones. */
  readonly neighbors: readonly ChunkRecord[];
}

/** Times of a matching stream in an own chunk. */
interface StreamTimes {
  readonly record: ChunkRecord;
  readonly first: number;
  readonly last: number;
}

export function surveyChunks(
  index: IndexOfDay,
  { own, neighbors, selector, from, to }: ChunksToSurvey,
): SurveyedChunks {
  /** Spans of own chunks by stream of the index. */
  const byStream = new Map<number, StreamTimes[]>();
  const wanted: ChunkRecord[] = [];
  const shared = new Set<ChunkRecord>();
  const uncovered: ChunkRecord[] = [];
  for (const record of own) {
    const presence = index.presenceOf(record.id);
    if (presence === undefined) {
      wanted.push(record);
      uncovered.push(record);
      shared.add(record);
      continue;
    }
    const { streams, first, last } = presence;
    let isWanted = false;
    for (let i = 0; i < streams.length; i++) {
      if (last[i] < from || first[i] >= to || !selector.matches(index.streams[streams[i]])) continue;
      isWanted = true;
      const span = { record, first: first[i], last: last[i] };
      const spans = byStream.get(streams[i]);
      if (spans === undefined) byStream.set(streams[i], [span]);
      else spans.push(span);
    }
    if (isWanted) wanted.push(record);
  }
  for (const spans of byStream.values()) addOverlapping(spans, shared);
  const needed = neighbors.filter(record => {
    const presence = index.presenceOf(record.id);
    if (presence === undefined) {
      uncovered.push(record);
      return true;
    }
    const { streams, first, last } = presence;
    let isNeeded = false;
    for (let i = 0; i < streams.length; i++) {
      for (const span of byStream.get(streams[i]) ?? []) {
        if (span.last < first[i] || span.first > last[i]) continue;
        shared.add(span.record);
        isNeeded = true;
      }
    }
    return isNeeded;
  });
  for (const one of uncovered) {
    for (const record of wanted) if (record.first <= one.last && one.first <= record.last) shared.add(record);
  }
  const remaining = wanted.filter(record => shared.has(record));
  return {
    alone: wanted.filter(record => !shared.has(record)),
    shared: remaining,
    neighbors: needed.filter(
      one =>
        index.covers(one.id) || remaining.some(({ first, last }) => first <= one.last && one.first <= last),
    ),
  };
}

/** Adds the chunks of spans that share time with another one. */
function addOverlapping(spans: StreamTimes[], shared: Set<ChunkRecord>): void {
  spans.sort((a, b) => a.first - b.first);
  let latest = spans[0];
  for (const span of spans.slice(1)) {
    if (span.first <= latest.last) {
      shared.add(span.record);
      shared.add(latest.record);
    }
    if (span.last > latest.last) latest = span;
  }
}
