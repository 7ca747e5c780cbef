/** `logboom start`: the whole store on this machine, in one process, until it is told to stop. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LocalOptions } from '../../local/start.ts';
import type { StorageOptions } from '../../local/storage.ts';
import { ConfigError, parseConfig } from '../../shared/admin/config.ts';
import {
  LOG_LEVELS,
  type LogboomConfig,
  STORAGE_KINDS,
  type StorageKind,
} from '../../shared/admin/config-fields.ts';
import { messageOf } from '../../shared/model/errors.ts';

/** What the command line or the environment says; the rest comes from the configuration file. */
export interface StartFlags {
  readonly config: string;
  readonly port?: number;
  readonly host?: string;
  readonly dataDir?: string;
  readonly logLevel?: string;
  readonly storage?: StorageKind;
  readonly bucket?: string;
  readonly table?: string;
  readonly endpoint?: string;
  readonly region?: string;
}

const LOCAL_CONFIG = fileURLToPath(new URL('../../config/local.yaml', import.meta.url));
/** A terminal, npm and the launcher each pass on one Ctrl-C: what comes within this time is the same one. */
const SAME_SIGNAL_MS = 500;
const EXIT_FAILED = 1;

export function register(program: Command): void {
  program
    .command('start')
    .description('run the store on this machine')
    .addOption(
      new Option('--config <file>', 'configuration, YAML')
        .env('LOGBOOM_CONFIG')
        .default(LOCAL_CONFIG, 'config/local.yaml'),
    )
    .addOption(
      new Option('--port <number>', 'port to listen on, 0 for any').env('LOGBOOM_PORT').argParser(parsePort),
    )
    .addOption(new Option('--host <address>', 'address to listen on, empty for all').env('LOGBOOM_HOST'))
    .addOption(new Option('--data-dir <folder>', 'where the data is kept').env('LOGBOOM_DATA_DIR'))
    .addOption(
      new Option('--log-level <level>', 'least level to log').env('LOGBOOM_LOG_LEVEL').choices(LOG_LEVELS),
    )
    .addOption(
      new Option(
        '--storage <kind>',
        'where chunks and catalog are kept: in the data folder, or on S3 and DynamoDB',
      )
        .env('LOGBOOM_STORAGE')
        .choices(STORAGE_KINDS),
    )
    .addOption(new Option('--bucket <name>', 'bucket of S3, with --storage s3').env('LOGBOOM_BUCKET'))
    .addOption(new Option('--table <name>', 'table of DynamoDB, with --storage s3').env('LOGBOOM_TABLE'))
    .addOption(
      new Option('--endpoint <url>', 'another place than AWS; bucket and table are made where missing').env(
        'LOGBOOM_ENDPOINT',
      ),
    )
    .addOption(new Option('--region <name>', 'region of AWS').env('LOGBOOM_REGION'))
    .addHelpText(
      'after',
      '\nAn option wins over the environment, the environment over the configuration file.',
    )
    .action(start);
}

async function start(flags: StartFlags): Promise<void> {
  try {
    const { options, warnings } = readOptions(flags, process.env);
    for (const warning of warnings) process.stderr.write(`logboom: ${warning}\n`);
    const { startLocal } = await import('../../local/start.ts');
    const store = await startLocal(options);
    process.stdout.write(welcome(store.url, options));
    stopOnSignal(store.stop);
  } catch (error) {
    process.stderr.write(`logboom: ${explain(error)}\n`);
    process.exit(EXIT_FAILED);
  }
}

/** What to start with, from the flags and the file that they name. Throws ConfigError or an error of the file system. */
export function readOptions(
  flags: StartFlags,
  environment: Readonly<Record<string, string | undefined>>,
): { options: LocalOptions; warnings: readonly string[] } {
  const text = readFileSync(flags.config, 'utf8');
  const { config, warnings } = parseConfig(text, { name: flags.config, environment });
  const { server, logboom } = config;
  const options: LocalOptions = {
    config,
    storage: storageOf(flags, logboom),
    host: flags.host ?? server.httpListenAddress,
    port: flags.port ?? server.httpListenPort,
    logLevel: flags.logLevel ?? server.logLevel,
  };
  return { options, warnings };
}

function storageOf(flags: StartFlags, logboom: LogboomConfig): StorageOptions {
  if ((flags.storage ?? logboom.storage) === 'files') {
    return { kind: 'embedded', dataDir: resolve(flags.dataDir ?? logboom.dataDir) };
  }
  const bucket = flags.bucket ?? logboom.s3Bucket;
  const table = flags.table ?? logboom.dynamodbTable;
  if (bucket === '' || table === '') {
    throw new ConfigError(
      'storage s3 needs a bucket and a table: give --bucket and --table, or s3_bucket and dynamodb_table in the section logboom',
    );
  }
  const endpoint = (flags.endpoint ?? logboom.awsEndpoint) || undefined;
  const region = (flags.region ?? logboom.awsRegion) || undefined;
  return { kind: 's3', bucket, table, endpoint, region };
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

/** What a person needs to know first: where it listens, how to push, how to ask. */
export function welcome(url: string, { config, storage }: LocalOptions): string {
  const { authEnabled, noAuthTenant } = config.auth;
  const tenant = authEnabled ? "-H 'X-Scope-OrgID: me' " : '';
  const entry = `{"streams":[{"stream":{"app":"hello"},"values":[["'$(date +%s)000000000'","first line"]]}]}`;
  return [
    `Logboom listens on ${url}`,
    `  data     ${storage.kind === 's3' ? `bucket ${storage.bucket}, table ${storage.table}` : storage.dataDir}`,
    `  tenants  ${authEnabled ? 'by the header X-Scope-OrgID' : `one, named ${noAuthTenant}; no header is needed`}`,
    '',
    'Push a line:',
    `  curl ${tenant}-H 'Content-Type: application/json' ${url}/loki/api/v1/push --data-raw '${entry}'`,
    'Ask for it:',
    `  curl ${tenant}-G ${url}/loki/api/v1/query_range --data-urlencode 'query={app="hello"}'`,
    '',
    'Ctrl-C stops it.',
    '',
  ].join('\n');
}

/** Why it did not start, and what to do. */
export function explain(error: unknown): string {
  const { code, address, port, path, syscall } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  const place = `${address ?? 'this machine'}, port ${port}`;
  if (error instanceof ConfigError) return error.message;
  if (code === 'EADDRINUSE')
    return `${place} is in use: stop what listens there, or choose another port with --port`;
  if (code === 'EADDRNOTAVAIL') return `${place}: this machine has no such address; choose one with --host`;
  if (code === 'EACCES' && port !== undefined)
    return `${place} is not allowed; choose a port over 1023 with --port`;
  if (syscall === 'mkdir' && path !== undefined)
    return `cannot make the folder ${path} (${code}); choose another with --data-dir`;
  if (code === 'EISDIR') return 'the configuration is a folder; name a file with --config';
  if (code === 'ENOENT' && path !== undefined) return `there is no file ${path}`;
  return `cannot start: ${code === undefined && error instanceof Error ? error.stack : messageOf(error)}`;
}

/** The first signal stops cleanly, a second one at once. A launcher that was killed counts as a signal. */
function stopOnSignal(stop: () => Promise<void>): void {
  let firstMs: number | undefined;
  const onSignal = () => {
    if (firstMs !== undefined) {
      if (performance.now() - firstMs > SAME_SIGNAL_MS) process.exit(EXIT_FAILED);
      return;
    }
    firstMs = performance.now();
    process.stderr.write('logboom: stopping\n');
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`logboom: ${messageOf(error)}\n`);
        process.exit(EXIT_FAILED);
      },
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  if (process.send !== undefined) {
    process.once('disconnect', onSignal);
    process.channel?.unref();
  }
}
