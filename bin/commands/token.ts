/**
 * `logboom token create|list|revoke`: manages access tokens of a store that requires them
 * (docs/dev/security-review.md).
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { parsePrometheusDuration } from '../../shared/base/model/duration.ts';
import { SCOPES } from '../../shared/base/model/scopes.ts';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { ConfigError } from '../../shared/server/admin/config.ts';
import type { ShownToken } from '../../shared/server/http/handlers/tokens.ts';
import { asAction, CommandError } from '../cli/command-error.ts';
import { addExamples } from '../cli/examples.ts';
import { endWithReader, maxCellsOfOutput, print, say, shown } from '../cli/standard-output.ts';
import { addConfigFlag, addDataDirFlag, addStorageFlags, type StorageFlags } from '../cli/storage-flags.ts';
import { addStoreOptions, parseAddress, type StoreFlags } from '../cli/store-client.ts';
import { applyContext } from '../cli/store-options.ts';
import { alignedText } from '../cli/table-text.ts';
import { type TokenBackend, tokensByHttp, tokensInStorage } from '../cli/token-backend.ts';

const OUTPUTS = ['default', 'json'] as const;

interface TokenFlags extends StorageFlags {
  readonly addr?: URL;
  readonly bearerTokenFile?: string;
  readonly output: (typeof OUTPUTS)[number];
}

interface CreateTokenFlags extends TokenFlags {
  readonly name: string;
  readonly tenant: readonly string[];
  readonly scope: readonly string[];
  readonly expires?: bigint;
}

const NOTES = `
Without --addr, the command uses the data folder, or S3 and DynamoDB, next to a running or stopped store. With --addr, it uses a
running store. It then needs a token with the scope admin for all tenants, in LOGBOOM_BEARER_TOKEN (or LOKI_BEARER_TOKEN) or in
the file of --bearer-token-file.

The token is printed once. The store keeps only its hash. A store requires tokens if its configuration sets
auth.tokens_enabled. A revoked token stops working within 30 seconds.

Examples:
  logboom token create --name agents --tenant shop --scope logs:write
  logboom token create --name grafana --tenant shop --tenant billing --scope logs:read --scope rules:read --expires 90d
  logboom token create --name operator --tenant '*' --scope admin
  logboom token list
  logboom token revoke 2kPq81aZxYw`;

export function register(program: Command): void {
  const group = program
    .command('token')
    .description('create, list, and revoke access tokens')
    .addHelpText('after', NOTES);
  addExamples(
    addBackendOptions(
      group
        .command('create')
        .description('create a token and print it once')
        .requiredOption('--name <text>', 'purpose of the token')
        .requiredOption('--tenant <name>', "tenant of the token, or '*' for all; repeatable", collect)
        .requiredOption('--scope <scope>', `scope of the token: ${SCOPES.join(', ')}; repeatable`, collect)
        .addOption(
          new Option('--expires <duration>', 'lifetime, for example 90d (default: unlimited)').argParser(
            parseExpiry,
          ),
        ),
    ),
    'logboom token create --name agents --tenant shop --scope logs:write',
    "logboom token create --name operator --tenant '*' --scope admin --expires 90d",
  ).action(asAction(create));
  addExamples(
    addBackendOptions(
      group
        .command('list')
        .description('list tokens, oldest first; includes revoked and expired ones for 30 days'),
    ),
    'logboom token list',
    'logboom token list --addr https://logs.example.com --bearer-token-file ~/.admin-token --output json',
  ).action(asAction(list));
  addExamples(
    addBackendOptions(
      group.command('revoke').description('revoke a token').argument('<id>', 'ID of the token'),
    ),
    'logboom token revoke 2kPq81aZxYw',
    'logboom token revoke 2kPq81aZxYw --data-dir /var/lib/logboom',
  ).action(asAction(revoke));
}

function addBackendOptions(command: Command): Command {
  command
    .addOption(
      new Option('--addr <url>', 'use this running store instead of the data folder').argParser(parseAddress),
    )
    .addOption(new Option('--bearer-token-file <file>', 'with --addr, file with the token for the request'))
    .addOption(new Option('-o, --output <form>', 'output format').choices(OUTPUTS).default('default'));
  return addStorageFlags(addDataDirFlag(addConfigFlag(command)));
}

async function create({ name, tenant, scope, expires, ...flags }: CreateTokenFlags): Promise<void> {
  const expiresMs =
    expires === undefined ? undefined : Math.trunc(SYSTEM_CLOCK.nowMs()) + Number(expires / NS_PER_MS);
  await withTokens(flags, { makes: true }, async tokens => {
    const made = await tokens.create({ name, scopes: scope, tenants: tenant, expiresMs });
    if (flags.output === 'json') return print(`${JSON.stringify(made)}\n`);
    await print(`${made.token}\n`);
    const until = made.expires === null ? 'until it is revoked' : `until ${made.expires}`;
    say(`token ${made.id} (${made.name}), valid ${until}; it is not shown again\n`);
    if (tokens.note !== undefined) say(`${tokens.note}\n`);
  });
}

async function list(flags: TokenFlags): Promise<void> {
  endWithReader();
  await withTokens(flags, { makes: false }, async tokens => {
    const found = await tokens.list();
    if (flags.output === 'json') return print(`${JSON.stringify(found)}\n`);
    if (found.length === 0) say('no tokens\n');
    else await print(tableOf(found));
  });
}

async function revoke(id: string, flags: TokenFlags): Promise<void> {
  await withTokens(flags, { makes: false }, async tokens => {
    const revoked = await tokens.revoke(id);
    await print(flags.output === 'json' ? `${JSON.stringify(revoked)}\n` : `${shown(revoked.id)}  revoked\n`);
  });
}

async function withTokens(
  { addr, bearerTokenFile, ...storage }: TokenFlags,
  options: { readonly makes: boolean },
  act: (tokens: TokenBackend) => Promise<void>,
): Promise<void> {
  if (addr === undefined && bearerTokenFile !== undefined) {
    throw new CommandError('--bearer-token-file needs a running store; set --addr');
  }
  const tokens =
    addr === undefined
      ? await tokensInStorage(storage, options).catch(explained)
      : tokensByHttp(storeOf(addr, bearerTokenFile));
  try {
    await act(tokens);
  } finally {
    await tokens.close();
  }
}

function explained(error: unknown): never {
  if (error instanceof ConfigError) throw new CommandError(error.message, { cause: error });
  throw error;
}

/** Connection from the environment of all commands. Their `--tenant` would have another meaning here. */
function storeOf(addr: URL, bearerTokenFile: string | undefined): StoreFlags {
  const reader = addStoreOptions(new Command());
  reader.parse([], { from: 'user' });
  applyContext(reader);
  const given = reader.opts<StoreFlags>();
  const own = bearerTokenFile === undefined ? {} : { bearerToken: '', bearerTokenFile };
  return { ...given, ...own, addr };
}

function tableOf(tokens: readonly ShownToken[]): string {
  const names = ['id', 'name', 'state', 'tenants', 'scopes', 'created', 'expires', 'last used'];
  const rows = tokens.map(token => [
    token.id,
    token.name,
    token.state,
    token.tenants.join(','),
    token.scopes.join(','),
    token.created.slice(0, 10),
    token.expires === null ? 'never' : token.expires.slice(0, 10),
    token.last_used ?? 'never',
  ]);
  return alignedText({ columns: names.map(name => ({ name })), rows }, { maxCells: maxCellsOfOutput() });
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function parseExpiry(text: string): bigint {
  let ns = 0n;
  try {
    ns = parsePrometheusDuration(text);
  } catch {
    // The error below reports it.
  }
  if (ns < NS_PER_MS) throw new InvalidArgumentError('A lifetime is written like 12h, 90d or 1y.');
  return ns;
}
