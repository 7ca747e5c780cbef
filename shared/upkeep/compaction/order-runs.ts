/**
 * Finds the chunks that can be merged without changing the order of entries with equal timestamps. The output
 * takes the position of the oldest input, so every other input moves forward, past the chunks in between:
 *
 *     by age    a   x   b          merged   ab   x       entries of b are before those of x now
 *
 * That changes nothing if the time range of `x` does not overlap that of `b`, or if their records say that they
 * have different parts of the streams (stream-part.ts). So a run of chunks to merge ends before a chunk that
 * overlaps a skipped one. Whether two chunks of one part share streams and timestamps is not checked, because
 * that would need their pages.
 *
 * A run stays valid if chunks are removed at its ends, but not in the middle. Runs of one day without a
 * common chunk can all be merged: if one of them moved an entry past one of another, it would have skipped
 * that chunk.
 */
import { binaryFirst } from '../../base/model/binary-search.ts';
import { compareChunks } from '../../storage/catalog/chunk-order.ts';
import { type ChunkRecord, streamPartOf } from '../../storage/catalog/chunk-record.ts';
import { commonPart, shareStreams } from '../../storage/catalog/stream-part.ts';

export class ChunkOrder {
  readonly #byAge: readonly ChunkRecord[];

  /** @param records all chunks of the day; fastest if most are in order of age */
  constructor(records: readonly ChunkRecord[]) {
    this.#byAge = records.toSorted(compareChunks);
  }

  /** Splits the candidates, some of the day's chunks, into runs, the oldest run first, each by age. */
  runs(candidates: readonly ChunkRecord[]): ChunkRecord[][] {
    const byAge = this.#byAge;
    const sorted = candidates.toSorted(compareChunks);
    const runs: ChunkRecord[][] = [];
    let run: ChunkRecord[] = [];
    const skipped = new SkippedChunks();
    const whole = hullOf(sorted);
    const wholePart = commonPart(sorted.map(streamPartOf));
    let next =
      sorted.length === 0 ? 0 : binaryFirst(byAge.length, i => compareChunks(byAge[i], sorted[0]) >= 0);
    for (const record of sorted) {
      for (; byAge[next].id !== record.id; next++) {
        const { first, last } = byAge[next];
        const isNear = first <= whole.last && last >= whole.first;
        if (isNear && shareStreams(streamPartOf(byAge[next]), wholePart)) skipped.add(byAge[next]);
      }
      next++;
      if (run.length === 0 || skipped.meets(record)) {
        run = [];
        runs.push(run);
        skipped.clear();
      }
      run.push(record);
    }
    return runs;
  }
}

function hullOf(records: readonly ChunkRecord[]): ChunkTimes {
  const whole = { first: Infinity, last: -Infinity };
  for (const { first, last } of records) {
    whole.first = Math.min(whole.first, first);
    whole.last = Math.max(whole.last, last);
  }
  return whole;
}

type ChunkTimes = Pick<ChunkRecord, 'first' | 'last'>;

/** Times of skipped chunks, by part of the streams. */
class SkippedChunks {
  readonly #byPart = new Map<number, TimeSpans>();

  clear(): void {
    if (this.#byPart.size > 0) this.#byPart.clear();
  }

  add(record: ChunkRecord): void {
    const part = streamPartOf(record);
    let spans = this.#byPart.get(part);
    if (spans === undefined) {
      spans = new TimeSpans();
      this.#byPart.set(part, spans);
    }
    spans.add(record);
  }

  /** Returns true if a skipped chunk can have a stream and timestamp of this one. */
  meets(record: ChunkRecord): boolean {
    const part = streamPartOf(record);
    for (const [other, spans] of this.#byPart) {
      if (shareStreams(part, other) && spans.meets(record)) return true;
    }
    return false;
  }
}

/** A union of time ranges, both ends included. */
class TimeSpans {
  /** Ascending and disjoint. */
  readonly #spans: ChunkTimes[] = [];

  add({ first, last }: ChunkTimes): void {
    const spans = this.#spans;
    const from = binaryFirst(spans.length, i => spans[i].last >= first);
    let to = from;
    while (to < spans.length && spans[to].first <= last) to++;
    const met = spans.slice(from, to);
    const joined = {
      first: Math.min(first, ...met.slice(0, 1).map(span => span.first)),
      last: Math.max(last, ...met.slice(-1).map(span => span.last)),
    };
    spans.splice(from, to - from, joined);
  }

  meets({ first, last }: ChunkTimes): boolean {
    const spans = this.#spans;
    const span = spans[binaryFirst(spans.length, i => spans[i].last >= first)];
    return span !== undefined && span.first <= last;
  }
}
