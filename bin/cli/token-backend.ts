/**
 * Token storage: the stores themselves, which needs the rights to them and no token, or the API of a running
 * store, which needs a token for the whole store. Both return tokens in the form of the API.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readLocalConfigText } from '../../local/default-config.ts';
import { type OpenedStorage, openStorage, TABLE_FILE } from '../../local/storage.ts';
import { ClientError } from '../../shared/base/model/errors.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { parseConfig } from '../../shared/server/admin/config.ts';
import { TokenService, type TokenToMake } from '../../shared/server/auth/token-service.ts';
import { type ShownToken, shownToken } from '../../shared/server/http/handlers/tokens.ts';
import { Tokens } from '../../shared/storage/catalog/tokens.ts';
import { CommandError } from './command-error.ts';
import { parseAnswer, understood } from './json-client.ts';
import { type StorageFlags, storageOf } from './storage-flags.ts';
import { endpoint, refusal, type SentRequest, type StoreFlags, sendRequest } from './store-client.ts';

export interface TokenBackend {
  /** Creates a token. Like the others, rejects with CommandError. */
  create(token: TokenToMake): Promise<ShownToken & { readonly token: string }>;
  list(): Promise<readonly ShownToken[]>;
  revoke(id: string): Promise<ShownToken>;
  /** Warning about the use of tokens; undefined if there is none. */
  readonly note?: string | undefined;
  close(): Promise<void>;
}

const PATH = '/loki/api/v1/tokens';
const TIMEOUT_MS = 60_000;

export function tokensByHttp(store: StoreFlags): TokenBackend {
  return {
    create: ({ name, scopes, tenants, expiresMs }) => {
      const expires = expiresMs === undefined ? null : new Date(expiresMs).toISOString();
      return send(store, PATH, 'POST', JSON.stringify({ name, scopes, tenants, expires }));
    },
    list: () => send(store, PATH, 'GET'),
    revoke: id => send(store, `${PATH}/${encodeURIComponent(id)}`, 'DELETE'),
    close: async () => undefined,
  };
}

async function send<T>(
  store: StoreFlags,
  path: string,
  method: SentRequest['method'],
  body?: string,
): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const answer = await sendRequest(store, endpoint(store, path), {
    method,
    headers,
    body,
    timeoutMs: TIMEOUT_MS,
  });
  if (answer.status !== 200) throw new CommandError(refusal(answer));
  const parsed = parseAnswer(answer.text);
  return understood(() => {
    const { data } = parsed as { data?: T };
    if (data === undefined) throw new TypeError('no data');
    return data;
  });
}

/**
 * Opens the token storage. `makes` creates a missing store, for a first token before the first start. Rejects
 * with CommandError.
 */
export async function tokensInStorage(
  flags: StorageFlags,
  { makes }: { makes: boolean },
): Promise<TokenBackend> {
  const text = readLocalConfigText(flags.config);
  const { config } = parseConfig(text, { name: flags.config, environment: process.env });
  const options = storageOf(flags, config.logboom);
  if (options.kind === 'embedded' && !makes) {
    const file = join(options.dataDir, TABLE_FILE);
    if ((await stat(file).catch(() => undefined)) === undefined) {
      throw new CommandError(`no store in ${options.dataDir}; set --data-dir`);
    }
  }
  const storage: OpenedStorage = await openStorage(
    options.kind === 's3' && !makes ? { ...options, createMissing: false } : options,
  );
  const tokens = new Tokens({ table: storage.table });
  const service = new TokenService({ tokens, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const shown = (record: Parameters<typeof shownToken>[0]) => shownToken(record, SYSTEM_CLOCK.nowMs());
  return {
    note: config.access.tokensEnabled
      ? undefined
      : `access tokens are not required by ${flags.config}; set auth.tokens_enabled: true to require them`,
    create: async token => {
      const made = await withCommandErrors(() => service.create(token));
      return { token: made.token, ...shown(made.record) };
    },
    list: async () => (await service.list()).map(shown),
    revoke: async id => shown(await withCommandErrors(() => service.revoke(id))),
    close: () => storage.close(),
  };
}

async function withCommandErrors<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ClientError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}
