/**
 * The package as a library: a whole store inside another program, for example its tests.
 *
 *     import { startLogboom } from 'logboom';
 *     const store = await startLogboom({ dataDir: './logs' });
 *     await fetch(`${store.url}/loki/api/v1/labels`);
 *     await store.stop();
 *
 * Its types name no other module, so they need no types of any other package.
 */
import { resolve } from 'node:path';

/** Bucket and table; credentials come from where the AWS SDK finds them. */
export interface S3Data {
  readonly bucket: string;
  readonly table: string;
  /** Another place than AWS, for example `http://localhost:4566`; bucket and table are made there where they are missing. */
  readonly endpoint?: string;
  readonly region?: string;
}

export interface LogboomOptions {
  /** Folder of the data, made where it is missing. Either this or `s3`. */
  readonly dataDir?: string;
  /** Where the data is on S3 and DynamoDB instead. */
  readonly s3?: S3Data;
  /** Default: 127.0.0.1. Empty: every address of the machine. */
  readonly host?: string;
  /** Default: 0, any free port; `url` tells which. */
  readonly port?: number;
  /** Text of a configuration in YAML (docs/reference/configuration.md). Default: one tenant, no login. */
  readonly config?: string;
  /** Values for `${NAME}` in the configuration. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Least level of the log, which goes to standard error. Default: error. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Start although the catalog is empty and chunks are stored, and leave those unused. Default: reject. */
  readonly beginAnew?: boolean;
}

export interface Logboom {
  /** Where it listens, for example `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Lets running requests end, then closes the data. What was acknowledged is there at the next start. */
  stop(): Promise<void>;
}

/**
 * Starts a store; it is ready when this resolves. Rejects with an error of the name ConfigError where the configuration is wrong,
 * CorruptionError where the data is, LostCatalogError where the catalog is gone and the data is not, and those of Node where the port or the folder cannot be had.
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
  if ((dataDir === undefined) === (s3 === undefined)) throw new TypeError('give either dataDir or s3');
  const { parseConfig } = await import('../shared/server/admin/config.ts');
  const { DEFAULT_CONFIG_FILE, readConfigText } = await import('./default-config.ts');
  const { startLocal } = await import('./start.ts');
  const text = options.config ?? readConfigText(DEFAULT_CONFIG_FILE);
  const { config } = parseConfig(text, { name: 'config', environment });
  const storage = s3 === undefined ? embeddedIn(dataDir!) : ({ kind: 's3', ...s3 } as const);
  const { url, stop } = await startLocal({ config, storage, host, port, logLevel, beginAnew });
  return { url, stop };
}

function embeddedIn(dataDir: string) {
  return { kind: 'embedded', dataDir: resolve(dataDir) } as const;
}
