/** Opens only the object store, for a thread that uses no table. */
import type { ObjectStore } from '../shared/base/ports/object-store.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import type { StorageOptions } from './storage.ts';

export async function openObjectStore(options: StorageOptions): Promise<ObjectStore> {
  if (options.kind === 'embedded') {
    const { openFileObjectStore } = await import('./file-object-store.ts');
    return openFileObjectStore(options.dataDir);
  }
  // Imported only here, because the SDK takes long to load.
  const { openAwsStorage } = await import('../shared/aws/storage.ts');
  return openAwsStorage({ ...options, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS }).store;
}
