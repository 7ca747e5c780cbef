/** The local process on a storage of choice. */
import { startLocal } from '../../../local/start.ts';
import type { StorageOptions } from '../../../local/storage.ts';
import { parseConfig } from '../../../shared/server/admin/config.ts';
import { createClient, type HttpClient } from '../../end-to-end/support/client.ts';

export interface StoreOnStorage {
  readonly client: HttpClient;
  stop(): Promise<void>;
}

export async function startOn(storage: StorageOptions, yaml: string): Promise<StoreOnStorage> {
  const { config } = parseConfig(yaml, { name: 'test', environment: {} });
  const store = await startLocal({ config, storage, host: '127.0.0.1', port: 0, logLevel: 'silent' });
  const client = createClient(store.url);
  return {
    client,
    stop: async () => {
      client.close();
      await store.stop();
    },
  };
}
