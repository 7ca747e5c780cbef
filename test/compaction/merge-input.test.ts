/** Chunks opened for a merge: as many as their footers may take, never fewer than two. */
import { expect, test } from '@jest/globals';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { recordOf } from '../../shared/storage/catalog/chunk-record.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { BYTES_PER_RUN, BYTES_PER_STREAM } from '../../shared/upkeep/compaction/merge-bounds.ts';
import { openInputs } from '../../shared/upkeep/compaction/merge-input.ts';
import type { PlainEntry } from '../support/rows.ts';
import { chunkId, objectOf } from './support/merge-chunks.ts';

const STREAMS = 10;
/** Rows of one chunk: a separate run and stream, or one that the others share. */
const OWN = STREAMS * (BYTES_PER_RUN + BYTES_PER_STREAM);
const SHARED = STREAMS * BYTES_PER_RUN;

async function recordsOf(chunks: number, streamOf: (chunk: number, i: number) => string) {
  return Promise.all(
    Array.from({ length: chunks }, async (_, c): Promise<ChunkRecord> => {
      const entries = Array.from({ length: STREAMS }, (_, i): PlainEntry => {
        return { stream: { app: streamOf(c, i) }, time: c, line: 'x', metadata: {} };
      });
      const object = await objectOf(entries, chunkId(c + 1));
      return recordOf(footerOf(object, 'x'), object.length, 0, { inline: object, tail: object });
    }),
  );
}

// [streams are the chunks' own, bound, chunks opened of 10]
test.each<[boolean, number, number]>([
  [true, Infinity, 10],
  [true, 10 * OWN, 10],
  [true, 10 * OWN - 1, 9],
  [true, 3 * OWN, 3],
  [true, 0, 2],
  [false, OWN + 9 * SHARED, 10],
  [false, OWN + 9 * SHARED - 1, 9],
])('own streams: %s, bytes: %d, opened: %d', async (isOwn, maxBytes, want) => {
  const records = await recordsOf(10, (chunk, i) => (isOwn ? `${chunk}-${i}` : `${i}`));
  const withFooters = records.map(record => ({ ...record, footerBytes: footerBytesOf(record) }));
  const inputs = await openInputs(memoryObjectStore(), withFooters, maxBytes);
  expect(inputs.map(({ footer }) => footer.id)).toEqual(records.slice(0, want).map(({ id }) => id));
  if (isOwn) return;
  for (const { footer } of inputs) {
    for (let i = 0; i < STREAMS; i++) expect(footer.streams[i]).toBe(inputs[0].footer.streams[i]);
  }
});

test('one chunk is opened alone', async () => {
  const [record] = await recordsOf(1, () => 'a');
  expect(
    await openInputs(memoryObjectStore(), [{ ...record, footerBytes: footerBytesOf(record) }], 0),
  ).toHaveLength(1);
});

function footerBytesOf({ inline }: ChunkRecord): number {
  return inline!.readUInt32LE(inline!.length - 12) + 12;
}
