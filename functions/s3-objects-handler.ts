/**
 * Stores the log files that an event names. If the function fails in the middle of a file, the retry of the
 * event stores the whole file again. Its entries are equal, so each entry is stored once.
 */
import { objectBatches } from '../shared/write/ingest/receivers/object-batches.ts';
import { objectReceiver } from '../shared/write/ingest/receivers/object-receiver.ts';
import type { EventStore } from './event-store.ts';
import { type ObjectLocation, objectsOf } from './s3-event.ts';

interface ReadableObject {
  readonly lastModifiedMs: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Opens an object. Returns `undefined` if the object does not exist any more. */
export type ReadObject = (location: ObjectLocation) => Promise<ReadableObject | undefined>;

/** Throws if an object cannot be read or stored now. Lambda then retries the event. */
export function createS3ObjectsHandler(
  store: EventStore,
  readObject: ReadObject,
): (event: unknown) => Promise<void> {
  return async event => {
    for (const location of objectsOf(event)) {
      // Pitfall: with events of the store's bucket, each stored chunk would trigger the next event.
      if (location.bucket === store.ownBucket)
        throw new Error(
          'the event is about the bucket of the chunks; remove its notification to this function',
        );
      const object = await readObject(location);
      if (object === undefined) store.log.warn({ ...location }, 'object deleted before it was read');
      else await storeObject(store, location, object);
    }
  };
}

async function storeObject(
  store: EventStore,
  { bucket, key }: ObjectLocation,
  { lastModifiedMs, body }: ReadableObject,
): Promise<void> {
  const labels = [{ name: 'bucket', value: bucket }, ...store.labels];
  const metadata = [{ name: 's3_key', value: key }];
  const lineBytes = metadata.reduce(
    (sum, { name, value }) => sum + name.length + Buffer.byteLength(value),
    0,
  );
  let entries = 0;
  for await (const batch of objectBatches(body, { lineBytes })) {
    const receiver = objectReceiver({ batch, labels, metadata, lastModifiedMs });
    const source = JSON.stringify([bucket, key, lastModifiedMs, batch.firstLine, batch.format]);
    entries += await store.push({ body: batch.bytes, receiver, source });
  }
  store.log.info({ bucket, key, entries }, 'object stored');
}
