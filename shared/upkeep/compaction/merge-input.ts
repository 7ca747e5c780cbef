/**
 * Opens chunks of the catalog as merge inputs. Footers stay in memory until the merge ends. If labels repeat,
 * a decoded footer uses a hundred times its stored bytes. So all inputs share stream objects, counts are
 * dropped (a merge counts rows again), and the rest is limited.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Stream } from '../../base/model/page.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { readChunk, readFooter } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { BYTES_PER_RUN, BYTES_PER_STREAM, MAX_FOOTERS_BYTES } from './merge-bounds.ts';
import type { MergeInput } from './merge-reader.ts';

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
      bytes += runs * BYTES_PER_RUN + (streams.size - known) * BYTES_PER_STREAM;
      if (inputs.length >= 2 && bytes > maxBytes) return inputs;
      inputs.push({ ...input, footer: { ...footer, streams: shared } });
    }
    await nextTurn();
  }
  return inputs;
}

async function openInput(store: ObjectStore, record: ChunkRecord): Promise<MergeInput> {
  const { counts: _, ...footer } = await readFooter(store, record);
  const { storedBytes } = record;
  return { footer, storedBytes, read: (start, end) => readChunk(store, record, start, end) };
}

function shareStream(streams: Map<string, Stream>, stream: Stream): Stream {
  const known = streams.get(stream.text);
  if (known !== undefined) return known;
  streams.set(stream.text, stream);
  return stream;
}
