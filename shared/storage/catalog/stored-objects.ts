/** What the keys of chunk and index objects say; and all objects of a store, by listing it, which is for maintenance by hand alone. */
import type { ObjectStore } from '../../base/ports/object-store.ts';

export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly kind: 'chunk' | 'index';
  readonly tenant: string;
  readonly day: number;
  readonly id: string;
}

const CHUNK_OR_INDEX = /^([^/]+)\/(?:(chunks)\/(-?\d+)\/\d+|index\/(-?\d+))\/([0-9a-f]{32})$/;

/** What the key of an object says, or undefined where it is of another kind. */
export function parseObjectKey(key: string): Omit<StoredObject, 'size'> | undefined {
  const match = CHUNK_OR_INDEX.exec(key);
  if (match === null) return undefined;
  const kind = match[2] === undefined ? 'index' : 'chunk';
  return { key, kind, tenant: match[1], day: Number(match[3] ?? match[4]), id: match[5] };
}

export async function* listStoredObjects(store: ObjectStore): AsyncGenerator<StoredObject> {
  let after: string | undefined;
  do {
    const page = await store.list('', { after });
    for (const { key, size } of page.objects) {
      const parsed = parseObjectKey(key);
      if (parsed !== undefined) yield { ...parsed, size };
    }
    after = page.next;
  } while (after !== undefined);
}
