/** Parses the keys of chunk and index objects, and lists all objects of a store, which only maintenance may do. */
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { HASH_DIGITS } from './chunk-record.ts';

export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly kind: 'chunk' | 'index';
  readonly tenant: string;
  readonly day: number;
  readonly id: string;
  /** See ChunkRecord. */
  readonly hasHashedKey?: true | undefined;
}

const CHUNK_OR_INDEX =
  /^(?:(?:([0-9a-f]{2})\/)?([^/]+)\/chunks\/(-?\d+)\/\d+|([^/]+)\/index\/(-?\d+))\/([0-9a-f]{32})$/;

/** Fields of an object's key; undefined if it is not a chunk or an index. */
export function parseObjectKey(key: string): Omit<StoredObject, 'size'> | undefined {
  const match = CHUNK_OR_INDEX.exec(key);
  if (match === null) return undefined;
  const [, hash, tenant, day, indexTenant, indexDay, id] = match;
  if (indexTenant !== undefined)
    return { key, kind: 'index', tenant: indexTenant, day: Number(indexDay), id };
  if (hash !== undefined && hash !== id.slice(-HASH_DIGITS)) return undefined;
  return {
    key,
    kind: 'chunk',
    tenant,
    day: Number(day),
    id,
    hasHashedKey: hash === undefined ? undefined : true,
  };
}

/** `tenant/id` of the chunks with these object keys. */
export function chunksOfKeys(keys: readonly string[]): ReadonlySet<string> {
  const chunks = new Set<string>();
  for (const key of keys) {
    const object = parseObjectKey(key);
    if (object?.kind === 'chunk') chunks.add(`${object.tenant}/${object.id}`);
  }
  return chunks;
}

/** All chunks and indexes of a store, ascending by key. Objects of a day with hashed keys are not adjacent. */
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
