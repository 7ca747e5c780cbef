/** A chunk of the catalog as the merge takes it. */
import { readChunk, readFooter } from '../catalog/chunk-object.ts';
import type { ChunkRecord } from '../catalog/chunk-record.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { MergeInput } from './merge.ts';

export async function mergeInput(store: ObjectStore, record: ChunkRecord): Promise<MergeInput> {
  const { storedBytes } = record;
  const footer = await readFooter(store, record);
  return { footer, storedBytes, read: (start, end) => readChunk(store, record, start, end) };
}
