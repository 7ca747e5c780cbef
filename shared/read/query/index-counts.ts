/**
 * Counts chunks from the day index, without their footers, as footer-counts.ts does with footers. One read gets
 * the counts of all chunks of a range.
 *
 * Pitfall: the index knows the names of a chunk's metadata, and not on which pages they are. A chunk with
 * metadata that the query wants is read from its footer.
 */
import { CorruptionError } from '../../base/model/errors.ts';
import { ObjectNotFoundError } from '../../base/ports/object-store.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { minuteOf } from '../../storage/chunk/counts.ts';
import { LEVEL_NAME, OTHER_LEVELS } from '../../storage/chunk/format.ts';
import type { IndexOfDay } from '../../storage/index/joined-index.ts';
import { type CountedChunk, CountedRows, type CountSinks } from './counted-rows.ts';
import { countsWithoutLines, hasWholeMinutes } from './footer-counts.ts';
import type { StreamSelector } from './selector.ts';
import type { DayInterval } from './stream-presence-verdict.ts';

/** Streams of chunks whose counts are held until they are added: with one minute each, 10 MB. */
const MAX_HELD_STREAMS = 50_000;

interface CountsRequest extends DayInterval, CountSinks {
  readonly day: number;
  readonly selector: StreamSelector;
}

/** Chunk with the indexes of its matching streams. */
interface ChunkToAdd extends CountedChunk {
  readonly matching: readonly number[];
}

/** Whether a day index can answer the query: it counts lines of whole minutes. */
export function countsFromIndex(sinks: Pick<CountSinks, 'extractor' | 'accumulator'>): boolean {
  return countsWithoutLines(sinks) && hasWholeMinutes(sinks.accumulator);
}

/**
 * Adds the counts of chunks that share no time of a stream with another one (index-survey.ts), and of which
 * nothing is hidden. Returns the chunks that must be read from their footers.
 */
export async function countFromIndex(
  index: IndexOfDay,
  records: readonly ChunkRecord[],
  asked: CountsRequest,
): Promise<ChunkRecord[]> {
  const { metadata } = asked.extractor.needs;
  const wantsLevel = metadata === 'all' || metadata.has(LEVEL_NAME);
  const isWanted = (name: string) => metadata === 'all' || metadata.has(name);
  const left = new Map(records.map(record => [record.id, record]));
  const ids = records
    .map(({ id }) => id)
    .filter(id => index.summaryOf(id)?.metadataNames?.some(isWanted) === false);
  let held: ChunkToAdd[] = [];
  let heldStreams = 0;
  const addHeld = () => {
    addCounts(held, asked);
    for (const { id } of held) left.delete(id);
    held = [];
    heldStreams = 0;
  };
  try {
    for await (const [id, { levels, counts }] of index.countsOf(ids)) {
      if (wantsLevel && levels.includes(OTHER_LEVELS)) continue;
      const { streams: indexes, first, last } = index.presenceOf(id)!;
      const streams = Array.from(indexes, i => index.streams[i]);
      const matching = Array.from(streams.keys()).filter(
        i => last[i] >= asked.from && first[i] < asked.to && asked.selector.matches(streams[i]),
      );
      held.push({ id, streams, levels, counts, matching });
      heldStreams += matching.length;
      if (heldStreams >= MAX_HELD_STREAMS) addHeld();
    }
  } catch (error) {
    // An index is derived data: footers replace it, and index sync reports it.
    if (!(error instanceof CorruptionError || error instanceof ObjectNotFoundError)) throw error;
  }
  addHeld();
  return [...left.values()];
}

/** Pitfall: nothing may wait between the rows of one CountedRows. */
function addCounts(chunks: readonly ChunkToAdd[], { day, from, to, ...sinks }: CountsRequest): void {
  if (chunks.length === 0) return;
  const rows = new CountedRows(sinks, day, { from: minuteOf(from), to: minuteOf(to - 1) });
  for (const chunk of chunks) for (const stream of chunk.matching) rows.add(chunk, stream, []);
  rows.finish();
}
