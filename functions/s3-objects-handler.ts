/**
 * Stores the log files that an event names. A file that was stored in part when the function failed is stored again when
 * the event is repeated: its entries are the same, so each is there once.
 */
import { objectBatches } from '../shared/write/ingest/receivers/object-batches.ts';
import { objectReceiver } from '../shared/write/ingest/receivers/object-receiver.ts';
import type { EventStore } from './event-store.ts';
import { type ObjectLocation, objectsOf } from './s3-event.ts';

export interface ReadableObject {
  readonly lastModifiedMs: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Opens an object; undefined where there is none any more. */
export type ReadObject = (location: ObjectLocation) => Promise<ReadableObject | undefined>;

/** Throws where an object cannot be read or stored now: the event is then repeated. */
export function createS3ObjectsHandler(
  store: EventStore,
  readObject: ReadObject,
): (event: unknown) => Promise<void> {
  return async event => {
    for (const location of objectsOf(event)) {
      // Each chunk that is stored would name itself again.
      if (location.bucket === store.ownBucket) throw new Error('events of the bucket of the store itself');
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
