/**
 * The package as a library: a whole store inside another program, for example its tests.
 *
 *     import { startLogboom } from 'logboom';
 *     const store = await startLogboom({ dataDir: './logs' });
 *     await fetch(`${store.url}/loki/api/v1/labels`);
 *     await store.stop();
 *
 * The types refer to no other module, so users need no types of other packages.
 */

import { resolve } from 'node:path';

/** Bucket and table. The AWS SDK finds the credentials. */
export interface S3Data {
  readonly bucket: string;
  readonly table: string;
  /**
   * Endpoint of an emulator, for example `http://localhost:4566`. Missing buckets and tables are created
   * there.
   */
  readonly endpoint?: string;
  readonly region?: string;
}

export interface LogboomOptions {
  /** Folder of the data, created if missing. Give either this or `s3`. */
  readonly dataDir?: string;
  /** Stores the data in S3 and DynamoDB instead. */
  readonly s3?: S3Data;
  /** Default: 127.0.0.1. Empty: all addresses of the machine. */
  readonly host?: string;
  /** Default: 0, any free port. The result `url` contains it. */
  readonly port?: number;
  /** Text of a configuration in YAML (docs/reference/configuration.md). Default: one tenant, no login. */
  readonly config?: string;
  /** Values for `${NAME}` in the configuration. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Minimum log level. The log goes to standard error. Default: error. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Start even if the catalog is empty but chunks are stored, and leave those unused. Default: reject. */
  readonly beginAnew?: boolean;
}

export interface Logboom {
  /** Address of the store, for example `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Completes running requests, then closes the data. The next start has all acknowledged entries. */
  stop(): Promise<void>;
}

/**
 * Starts a store, which is ready when this resolves. Rejects with an error named ConfigError if the
 * configuration is invalid, CorruptionError if the data is damaged, or LostCatalogError if the data exists
 * without its catalog. Rejects with errors of Node.js if the port or the folder is not available.
 */
export async function startLogboom(options: LogboomOptions): Promise<Logboom> {
  const {
    dataDir,
    s3,
    host = '127.0.0.1',
    port = 0,
    environment = process.env,
    logLevel = 'error',
    beginAnew = false,
  } = options;
  if ((dataDir === undefined) === (s3 === undefined)) throw new TypeError('set either dataDir or s3');
  const { parseConfig } = await import('../shared/server/admin/config.ts');
  const { DEFAULT_CONFIG_FILE, readLocalConfigText } = await import('./default-config.ts');
  const { startLocal } = await import('./start.ts');
  const text = options.config ?? readLocalConfigText(DEFAULT_CONFIG_FILE);
  const { config } = parseConfig(text, { name: 'config', environment });
  const storage = s3 === undefined ? embeddedIn(dataDir!) : ({ kind: 's3', ...s3 } as const);
  const { url, stop } = await startLocal({ config, storage, host, port, logLevel, beginAnew });
  return { url, stop };
}

function embeddedIn(dataDir: string) {
  return { kind: 'embedded', dataDir: resolve(dataDir) } as const;
}
