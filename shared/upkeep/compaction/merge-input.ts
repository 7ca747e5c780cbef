/**
 * Opens chunks of the catalog as merge inputs. Footers stay in memory until the merge ends. If labels repeat,
 * a decoded footer uses a hundred times its stored bytes. So all inputs share stream objects, counts are
 * dropped unless pages may be copied (a merge counts rows again), and the rest is limited.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Stream } from '../../base/model/page.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { readChunk, readFooter } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { CountsByStream } from '../../storage/chunk/format.ts';
import { StoredCounts } from '../../storage/chunk/stored-counts.ts';
import { BYTES_PER_RUN, BYTES_PER_STREAM, MAX_FOOTERS_BYTES } from './merge-bounds.ts';
import type { MergeInput } from './merge-reader.ts';
import { FINAL_LEVEL } from './merge-sizes.ts';

/** Concurrent footer reads: each can use some hundred megabytes for a short time, and waits 30 ms on S3. */
const FOOTERS_AT_ONCE = 4;

/**
 * Opens the first chunks whose footers fit `maxBytes` together, at least two if there are two. The inputs
 * have the order of the records. Throws what the store throws, and CorruptionError.
 */
export async function openInputs(
  store: ObjectStore,
  records: readonly ChunkRecord[],
  maxBytes = MAX_FOOTERS_BYTES,
): Promise<MergeInput[]> {
  const inputs: MergeInput[] = [];
  const streams = new Map<string, Stream>();
  let bytes = 0;
  for (let i = 0; i < records.length; i += FOOTERS_AT_ONCE) {
    const some = records.slice(i, i + FOOTERS_AT_ONCE);
    const opened = await Promise.all(some.map(record => openInput(store, record)));
    for (const input of opened) {
      const { footer } = input;
      const known = streams.size;
      const shared = footer.streams.map(stream => shareStream(streams, stream));
      const runs = footer.pages.reduce((sum, page) => sum + page.runs.length, 0);
      bytes += runs * BYTES_PER_RUN + (streams.size - known) * BYTES_PER_STREAM + storedBytesOf(input.counts);
      if (inputs.length >= 2 && bytes > maxBytes) return inputs;
      inputs.push({ ...input, footer: { ...footer, streams: shared } });
    }
    await nextTurn();
  }
  return inputs;
}

async function openInput(store: ObjectStore, record: ChunkRecord): Promise<MergeInput> {
  const { counts, ...footer } = await readFooter(store, record);
  const { storedBytes } = record;
  const read = (start: number, end: number) => readChunk(store, record, start, end);
  // Only final chunks have pages that may be copied.
  return record.level < FINAL_LEVEL ? { footer, storedBytes, read } : { footer, counts, storedBytes, read };
}

function storedBytesOf(counts: CountsByStream | undefined): number {
  return counts instanceof StoredCounts ? counts.storedBytes : 0;
}

function shareStream(streams: Map<string, Stream>, stream: Stream): Stream {
  const known = streams.get(stream.text);
  if (known !== undefined) return known;
  streams.set(stream.text, stream);
  return stream;
}
