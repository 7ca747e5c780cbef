/**
 * The whole store in this process, on a separate folder that is deleted with it; on S3 and DynamoDB if
 * scripts/test-aws.mjs runs the same tests against emulators.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalOptions, startLocal } from '../../../local/start.ts';
import type { StorageOptions } from '../../../local/storage.ts';
import { parseConfig } from '../../../shared/server/admin/config.ts';
import { createClient, type HttpClient } from './client.ts';

export interface TestStore {
  readonly url: string;
  readonly client: HttpClient;
  readonly storage: StorageOptions;
  stop(): Promise<void>;
}

/**
 * @param yaml configuration file; missing keys have the program's defaults. A given folder always holds its
 * data, and is deleted with the store.
 */
export async function startStore(
  yaml: string,
  { dataDir: given, ...more }: Pick<LocalOptions, 'cores' | 'replaced'> & { readonly dataDir?: string } = {},
): Promise<TestStore> {
  const { config, warnings } = parseConfig(yaml, { name: 'test', environment: {} });
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), 'logboom-test-')));
  const storage: StorageOptions = given === undefined ? storageIn(dataDir) : { kind: 'embedded', dataDir };
  const store = await startLocal({
    config,
    storage,
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    ...more,
  });
  const client = createClient(store.url);
  return {
    url: store.url,
    client,
    storage,
    stop: async () => {
      client.close();
      await store.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function storageIn(dataDir: string): StorageOptions {
  const endpoint = process.env.LOGBOOM_TEST_MINISTACK;
  if (endpoint === undefined) return { kind: 'embedded', dataDir };
  const name = `logboom-${randomBytes(6).toString('hex')}`;
  return { kind: 's3', bucket: name, table: name, endpoint };
}
