/** `logboom start`: runs the whole store on this machine, until it is stopped. */

import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { saveCompiledCode } from '../../local/compiled-code.ts';
import { DEFAULT_CONFIG_FILE, readLocalConfigText } from '../../local/default-config.ts';
import type { LocalOptions } from '../../local/start.ts';
import type { Environment } from '../../shared/base/model/environment.ts';
import { CorruptionError, messageOf } from '../../shared/base/model/errors.ts';
import { ConfigError, parseConfig } from '../../shared/server/admin/config.ts';
import { LOG_LEVELS } from '../../shared/server/admin/config-fields.ts';
import { type ProcessTarget, TARGETS } from '../../shared/server/admin/targets.ts';
import { LostCatalogError } from '../../shared/upkeep/integrity/lost-catalog.ts';
import { print, say } from '../cli/standard-output.ts';
import {
  addConfigFlag,
  addDataDirFlag,
  addStorageFlags,
  type StorageFlags,
  storageOf,
} from '../cli/storage-flags.ts';

/** Settings of the command line and environment; the rest comes from the configuration file. */
interface StartFlags extends StorageFlags {
  readonly port?: number;
  readonly host?: string;
  readonly logLevel?: string;
  readonly target?: ProcessTarget;
  readonly forwardTo?: string;
  readonly forwardTailsTo?: string;
  readonly beginAnew?: boolean;
}

/**
 * Window in which repeated signals count as one: a terminal, npm and the launcher each forward one Ctrl-C.
 */
const SAME_SIGNAL_MS = 500;
const EXIT_FAILED = 1;

const NOTES = `
Command-line options override environment variables, which override the configuration file.

Examples:
  logboom start                                                  data in ./data, port 3100, only this machine
  logboom start --data-dir /var/lib/logboom --port 3200 --log-level warn
  logboom start --config logboom.yaml
  logboom start --storage s3 --bucket logs --table logs --region eu-central-1`;

export function register(program: Command): void {
  const command = program.command('start').description('run a store on this machine');
  addConfigFlag(command)
    .addOption(
      new Option('--port <number>', 'port to listen on (0 = any free port)')
        .env('LOGBOOM_PORT')
        .argParser(parsePort),
    )
    .addOption(new Option('--host <address>', 'address to listen on (empty = all)').env('LOGBOOM_HOST'));
  addDataDirFlag(command).addOption(
    new Option('--log-level <level>', 'minimum log level').env('LOGBOOM_LOG_LEVEL').choices(LOG_LEVELS),
  );
  command.addOption(
    new Option('--target <name>', 'role of this process in a multi-process deployment')
      .env('LOGBOOM_TARGET')
      .choices(TARGETS),
  );
  command
    .addOption(
      new Option(
        '--forward-to <url>',
        'with a target that accepts pushes, forward all other requests to this store',
      ).env('LOGBOOM_FORWARD_TO'),
    )
    .addOption(
      new Option('--forward-tails-to <url>', 'forward live tails to this address instead').env(
        'LOGBOOM_FORWARD_TAILS_TO',
      ),
    );
  addStorageFlags(command)
    .option('--begin-anew', 'start with an empty catalog and leave the stored chunks unused')
    .addHelpText('after', NOTES)
    .action(start);
}

async function start(flags: StartFlags): Promise<void> {
  try {
    const { options, warnings } = readOptions(flags, process.env);
    for (const warning of warnings) say(`logboom: ${warning}\n`);
    const { startLocal } = await import('../../local/start.ts');
    const store = await startLocal(options);
    await print(welcome(store.url, options));
    stopOnSignal(store.stop);
    tidyUp();
  } catch (error) {
    say(`logboom: ${startError(error)}\n`);
    process.exit(EXIT_FAILED);
  }
}

/**
 * Start options from the flags and the configuration file. Throws ConfigError or an error of the file system.
 */
export function readOptions(
  flags: StartFlags,
  environment: Environment,
): { options: LocalOptions; warnings: readonly string[] } {
  const { name, text } = configText(flags, environment);
  const { config: written, warnings } = parseConfig(text, { name, environment });
  const target = flags.target ?? written.auth.target;
  const { server } = written;
  const logboom = {
    ...written.logboom,
    forwardTo: flags.forwardTo ?? written.logboom.forwardTo,
    forwardTailsTo: flags.forwardTailsTo ?? written.logboom.forwardTailsTo,
  };
  const config = { ...written, auth: { ...written.auth, target }, logboom };
  const options: LocalOptions = {
    config,
    storage: storageOf(flags, logboom),
    host: flags.host ?? server.httpListenAddress,
    port: flags.port ?? server.httpListenPort,
    logLevel: flags.logLevel ?? server.logLevel,
    beginAnew: flags.beginAnew ?? false,
  };
  return { options, warnings };
}

/** The configuration itself may be in the environment, for containers without files, as in functions. */
function configText(
  { config: file }: StartFlags,
  { LOGBOOM_CONFIG_YAML: yaml }: Environment,
): { readonly name: string; readonly text: string } {
  if (yaml && file === DEFAULT_CONFIG_FILE) return { name: 'LOGBOOM_CONFIG_YAML', text: yaml };
  return { name: file, text: readLocalConfigText(file) };
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

/** Welcome message: where the store listens, how to push, and how to query. */
export function welcome(url: string, { config, storage }: LocalOptions): string {
  const { authEnabled, noAuthTenant } = config.auth;
  const { tokensEnabled } = config.access;
  const user = authEnabled ? 'TENANT' : noAuthTenant;
  const tenant = tokensEnabled ? `-u ${user}:TOKEN ` : authEnabled ? "-H 'X-Scope-OrgID: me' " : '';
  const entry = `{"streams":[{"stream":{"app":"hello"},"values":[["'$(date +%s)000000000'","first line"]]}]}`;
  return [
    `Logboom listens on ${url}`,
    `  data     ${storage.kind === 's3' ? `bucket ${storage.bucket}, table ${storage.table}` : storage.dataDir}`,
    `  tenants  ${authEnabled ? 'by the header X-Scope-OrgID' : `one, named ${noAuthTenant}; no header needed`}`,
    ...(tokensEnabled ? ['  access   with access tokens: logboom token create (docs/security.md)'] : []),
    '',
    'Push a line:',
    `  curl ${tenant}-H 'Content-Type: application/json' ${url}/loki/api/v1/push --data-raw '${entry}'`,
    'Query it:',
    `  curl ${tenant}-G ${url}/loki/api/v1/query_range --data-urlencode 'query={app="hello"}'`,
    '',
    'Press Ctrl-C to stop.',
    '',
  ].join('\n');
}

/** Explains why the store did not start, and what to do. */
export function startError(error: unknown): string {
  const { code, address, port, path, syscall } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  const listenAddress = `${address ?? 'this machine'}, port ${port}`;
  if (error instanceof ConfigError || error instanceof LostCatalogError) return error.message;
  if (error instanceof CorruptionError)
    return `${error.message}; run logboom doctor, and see docs/operate/troubleshoot.md`;
  if (code === 'EADDRINUSE')
    return `${listenAddress} is in use; stop the program that uses it, or choose another port with --port`;
  if (code === 'EADDRNOTAVAIL')
    return `${listenAddress}: this machine has no such address; choose another with --host`;
  if (code === 'EACCES' && port !== undefined)
    return `${listenAddress} is not allowed; choose a port over 1023 with --port`;
  if (syscall === 'mkdir' && path !== undefined)
    return `cannot create the folder ${path} (${code}); choose another with --data-dir`;
  if (code === 'EISDIR') return 'the configuration is a folder; name a file with --config';
  if (code === 'ENOENT' && path !== undefined) return `file not found: ${path}`;
  return `cannot start: ${code === undefined && error instanceof Error ? error.stack : messageOf(error)}`;
}

/** Saves compiled code for the next start, then frees the 10 MB that only the start needed. */
function tidyUp(): void {
  saveCompiledCode();
  flushCompileCache();
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' });
}

/** Stops cleanly on the first signal, and at once on the second. A killed launcher counts as a signal. */
function stopOnSignal(stop: () => Promise<void>): void {
  let firstMs: number | undefined;
  const onSignal = () => {
    if (firstMs !== undefined) {
      if (performance.now() - firstMs > SAME_SIGNAL_MS) process.exit(EXIT_FAILED);
      return;
    }
    firstMs = performance.now();
    say('logboom: stopping\n');
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        say(`logboom: ${messageOf(error)}\n`);
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
