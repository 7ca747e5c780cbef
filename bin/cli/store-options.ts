/**
 * Connection options: which store to use, and as which tenant and user. Each has an environment variable of
 * Logboom and one of logcli, so that a shell that is configured for logcli works unchanged. Logboom's
 * variable takes precedence over logcli's, and an option over both.
 */
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandError } from './command-error.ts';
import { contextValues } from './contexts.ts';
import { isOlderNode, needNewerNode } from './newer-node.ts';
import { usesProxy } from './proxy.ts';
import { keepQuiet } from './standard-output.ts';

const HEADING = 'Connection options (logcli variables such as LOKI_ADDR also work):';
const DEFAULT_ADDRESS = 'http://localhost:3100';

export interface StoreFlags {
  readonly addr: URL;
  readonly tenant?: string;
  readonly username?: string;
  readonly password?: string;
  readonly bearerToken?: string;
  readonly bearerTokenFile?: string;
  /** Name of the header for the login, if a proxy uses `Authorization` itself. */
  readonly authHeader?: string;
  readonly caCert?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly tlsSkipVerify?: boolean;
  readonly queryTags?: string;
  /** Overrides the proxy variables of the environment. */
  readonly proxyUrl?: string;
  /** Times that a failed query is repeated. */
  readonly retries?: number;
  /** Delays between attempts, seconds. */
  readonly minBackoff?: number;
  readonly maxBackoff?: number;
  /** Requests compressed responses from this machine, too. */
  readonly compress?: boolean;
  /** Requests that proxies do not answer from a cache. */
  readonly nocache?: boolean;
}

interface Setting {
  readonly flags: string;
  readonly text: string;
  /** Environment variables; the first one that is set applies. */
  readonly variables: readonly [string, string];
}

const SETTINGS: readonly Setting[] = [
  {
    flags: '--tenant <name>',
    text: 'tenant (header X-Scope-OrgID)',
    variables: ['LOGBOOM_TENANT', 'LOKI_ORG_ID'],
  },
  {
    flags: '--username <name>',
    text: 'user name for basic authentication',
    variables: ['LOGBOOM_USERNAME', 'LOKI_USERNAME'],
  },
  {
    flags: '--password <text>',
    text: 'password; prefer the environment variable',
    variables: ['LOGBOOM_PASSWORD', 'LOKI_PASSWORD'],
  },
  {
    flags: '--bearer-token <text>',
    text: 'access token; prefer the environment variable',
    variables: ['LOGBOOM_BEARER_TOKEN', 'LOKI_BEARER_TOKEN'],
  },
  {
    flags: '--bearer-token-file <file>',
    text: 'file with the access token',
    variables: ['LOGBOOM_BEARER_TOKEN_FILE', 'LOKI_BEARER_TOKEN_FILE'],
  },
  {
    flags: '--auth-header <name>',
    text: 'header for the credentials (default: Authorization)',
    variables: ['LOGBOOM_AUTH_HEADER', 'LOKI_AUTH_HEADER'],
  },
  {
    flags: '--ca-cert <file>',
    text: 'certificate of the certificate authority (PEM)',
    variables: ['LOGBOOM_CA_CERT_PATH', 'LOKI_CA_CERT_PATH'],
  },
  {
    flags: '--cert <file>',
    text: 'client certificate (PEM)',
    variables: ['LOGBOOM_CLIENT_CERT_PATH', 'LOKI_CLIENT_CERT_PATH'],
  },
  {
    flags: '--key <file>',
    text: 'key of the client certificate (PEM)',
    variables: ['LOGBOOM_CLIENT_KEY_PATH', 'LOKI_CLIENT_KEY_PATH'],
  },
  {
    flags: '--query-tags <text>',
    text: 'tags for the query log of the store (header X-Query-Tags)',
    variables: ['LOGBOOM_QUERY_TAGS', 'LOKI_QUERY_TAGS'],
  },
  {
    flags: '--proxy-url <url>',
    text: 'proxy (default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY)',
    variables: ['LOGBOOM_PROXY_URL', 'LOKI_HTTP_PROXY_URL'],
  },
];

export function addStoreOptions(command: Command): Command {
  command.addOption(
    ofEnvironment(new Option('--addr <url>', 'address of the store'), ['LOGBOOM_ADDR', 'LOKI_ADDR'])
      .argParser(parseAddress)
      .default(new URL(DEFAULT_ADDRESS), DEFAULT_ADDRESS)
      .helpGroup(HEADING),
  );
  for (const { flags, text, variables } of SETTINGS) {
    command.addOption(ofEnvironment(new Option(flags, text), variables).helpGroup(HEADING));
  }
  // Commander turns on a switch for any value of its variable, even `false`, so the variable is read here.
  const isSkipped = isOn(firstSet(['LOGBOOM_TLS_SKIP_VERIFY', 'LOKI_TLS_SKIP_VERIFY']));
  command
    .addOption(
      new Option(
        '--tls-skip-verify',
        'skip TLS certificate verification, insecure (also LOGBOOM_TLS_SKIP_VERIFY=true)',
      )
        .default(isSkipped || undefined)
        .helpGroup(HEADING),
    )
    .addOption(
      new Option('--context <name>', 'context with defaults for these options (see: logboom context)')
        .env('LOGBOOM_CONTEXT')
        .helpGroup(HEADING),
    )
    .addOption(
      ofEnvironment(new Option('--retries <count>', 'times to repeat a query that fails (default: 0)'), [
        'LOGBOOM_RETRIES',
        'LOKI_CLIENT_RETRIES',
      ])
        .argParser(parseWhole)
        .helpGroup(HEADING),
    )
    .addOption(
      new Option('--min-backoff <seconds>').env('LOKI_CLIENT_MIN_BACKOFF').argParser(parseWhole).hideHelp(),
    )
    .addOption(
      new Option('--max-backoff <seconds>').env('LOKI_CLIENT_MAX_BACKOFF').argParser(parseWhole).hideHelp(),
    )
    // The variables of the proxy are used without it.
    .addOption(new Option('--envproxy').hideHelp())
    .addOption(new Option('--compress').hideHelp())
    .addOption(new Option('--nocache').hideHelp())
    .addOption(new Option('-q, --quiet', 'print only results, warnings and errors').helpGroup(HEADING))
    .addOption(new Option('--org-id <name>', "logcli's name for --tenant").hideHelp());
  command.on('option:org-id', (name: string) => command.setOptionValueWithSource('tenant', name, 'cli'));
  return command.hook('preAction', async (_, running) => {
    keepQuiet(running.opts<{ quiet?: boolean }>().quiet === true);
    try {
      applyContext(running);
      if (isOlderNode() && usesProxy(running.opts<StoreFlags>())) await needNewerNode();
    } catch (error) {
      if (error instanceof CommandError) running.error(`logboom: ${error.message}`);
      throw error;
    }
  });
}

/**
 * Sets each option that neither the command line nor the environment sets. Throws CommandError for an unknown
 * context.
 */
export function applyContext(command: Command): void {
  const values = contextValues(command.opts<{ context?: string }>().context);
  if (values === undefined) return;
  for (const option of command.options) {
    const name = option.attributeName();
    const source = command.getOptionValueSource(name);
    if (!Object.hasOwn(values, name) || source === 'cli' || source === 'env') continue;
    // Commander holds the variable of this switch as its default.
    if (name === 'tlsSkipVerify' && command.getOptionValue(name) === true) continue;
    const value = values[name];
    command.setOptionValueWithSource(name, name === 'addr' ? parseAddress(String(value)) : value, 'config');
  }
}

/** Names of the options that a context may contain. */
export const CONTEXT_OPTIONS: readonly string[] = [
  'addr',
  ...SETTINGS.map(({ flags }) => new Option(flags).attributeName()),
  'tlsSkipVerify',
];

/**
 * Binds one variable, because Commander supports one per option: the one that is set, else ours, which the
 * help then names.
 */
function ofEnvironment(option: Option, variables: readonly [string, string]): Option {
  return option.env(variables.find(isSet) ?? variables[0]);
}

function parseWhole(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('Expected a whole number from 0.');
  return Number(text);
}

function firstSet(variables: readonly string[]): string | undefined {
  const name = variables.find(isSet);
  return name === undefined ? undefined : process.env[name];
}

/** True if the variable is set and not empty. */
function isSet(name: string): boolean {
  return (process.env[name] ?? '') !== '';
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && /^(1|t|true|yes|on)$/i.test(value);
}

export function parseAddress(text: string): URL {
  const address = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new InvalidArgumentError(`An address looks like ${DEFAULT_ADDRESS}.`);
  return url;
}

/** Value of the header that identifies the caller; undefined if there is none. Throws CommandError. */
export function loginOf(store: StoreFlags): string | undefined {
  const { addr } = store;
  const token = store.bearerToken || tokenIn(store.bearerTokenFile);
  const name = store.username || decodeURIComponent(addr.username);
  if (token !== undefined) {
    if (store.username) throw new CommandError('give either an access token, or a user name and password');
    return `Bearer ${token}`;
  }
  if (name === '') return undefined;
  const password = store.password || decodeURIComponent(addr.password);
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

function tokenIn(file: string | undefined): string | undefined {
  if (file === undefined || file === '') return undefined;
  const token = readFileSync(file, 'utf8').trim();
  if (token === '') throw new CommandError(`${file} contains no token`);
  return token;
}
