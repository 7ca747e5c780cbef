/**
 * Lists the objects that an event is about. Accepts S3's own notification, the event of EventBridge, and
 * either of them in the body of an SQS message.
 *
 * Pitfall: S3's own notification has the key form-encoded, EventBridge's has it unencoded.
 */
import { decodeComponent } from '../shared/server/http/params.ts';

export interface ObjectLocation {
  readonly bucket: string;
  readonly key: string;
  /** Absent if the bucket is not versioned. */
  readonly versionId?: string;
}

/**
 * Maximum number of objects. A notification has one record in practice, and an SQS batch has at most 10,000
 * messages.
 */
const MAX_OBJECTS = 10_000;
const NO_EVENT = 'this function accepts events of S3, of EventBridge about S3, or of SQS with one of them';

interface S3Record {
  readonly eventName?: string;
  readonly s3?: {
    readonly bucket?: { readonly name?: unknown };
    readonly object?: { readonly key?: unknown; readonly versionId?: unknown };
  };
}

interface EventBridgeEvent {
  readonly 'detail-type'?: string;
  readonly detail?: {
    readonly bucket?: { readonly name?: unknown };
    readonly object?: { readonly key?: unknown; readonly 'version-id'?: unknown };
  };
}

/** Returns the created objects in order. Throws Error if the event has none of these shapes. */
export function objectsOf(event: unknown): readonly ObjectLocation[] {
  const objects = objectsIn(event, true);
  if (objects.length > MAX_OBJECTS) throw new Error(`the event names more than ${MAX_OBJECTS} objects`);
  return objects;
}

function objectsIn(event: unknown, mayBeQueued: boolean): readonly ObjectLocation[] {
  if (typeof event !== 'object' || event === null) throw new Error(NO_EVENT);
  const { Records: records, source, Event: name } = event as Record<string, unknown>;
  // S3 sends this event once when a notification is set up.
  if (name === 's3:TestEvent') return [];
  if (source === 'aws.s3') return ofEventBridge(event);
  if (!Array.isArray(records)) throw new Error(NO_EVENT);
  return records.flatMap(record => {
    const { eventSource, body } = (record ?? {}) as Record<string, unknown>;
    if (eventSource === 'aws:sqs' && mayBeQueued && typeof body === 'string') {
      return objectsIn(parsed(body), false);
    }
    if (eventSource !== 'aws:s3') throw new Error(NO_EVENT);
    return ofNotification(record as S3Record);
  });
}

function ofNotification({ eventName = '', s3 }: S3Record): readonly ObjectLocation[] {
  if (!eventName.startsWith('ObjectCreated:')) return [];
  const { name } = s3?.bucket ?? {};
  const { key, versionId } = s3?.object ?? {};
  if (typeof key !== 'string') throw new Error(NO_EVENT);
  return [location(name, decodeComponent(key), versionId)];
}

function ofEventBridge(event: EventBridgeEvent): readonly ObjectLocation[] {
  if (event['detail-type'] !== 'Object Created') return [];
  const { bucket, object } = event.detail ?? {};
  return [location(bucket?.name, object?.key, object?.['version-id'])];
}

function location(bucket: unknown, key: unknown, versionId: unknown): ObjectLocation {
  if (typeof bucket !== 'string' || typeof key !== 'string' || bucket === '' || key === '') {
    throw new Error(NO_EVENT);
  }
  return typeof versionId === 'string' && versionId !== '' ? { bucket, key, versionId } : { bucket, key };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(NO_EVENT, { cause });
  }
}
