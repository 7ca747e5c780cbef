/**
 * Requests to a store by HTTP: its address and tenant as options of a command, and one request with its failures made
 * readable. Whether a failure is worth another try is the caller's to say.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LOGBOOM_VERSION } from '../../shared/admin/build-info.ts';
import { messageOf } from '../../shared/model/errors.ts';
import { CommandError } from './command-error.ts';

const DEFAULT_ADDRESS = 'http://localhost:3100';
/** Of a server's message this much is shown; a proxy may answer with a whole page. */
const MAX_MESSAGE_CHARACTERS = 4000;

export interface StoreFlags {
  readonly addr: URL;
  readonly tenant?: string;
}

export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly text: string;
}

/** Nobody answered: no connection, or one that broke. */
export class UnreachableError extends CommandError {}

export function addStoreOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--addr <url>', 'address of the store')
        .env('LOGBOOM_ADDR')
        .argParser(parseAddress)
        .default(new URL(DEFAULT_ADDRESS), DEFAULT_ADDRESS),
    )
    .addOption(
      new Option('--tenant <name>', 'tenant, where the store has several (header X-Scope-OrgID)').env(
        'LOGBOOM_TENANT',
      ),
    );
}

export function parseAddress(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new InvalidArgumentError(`An address looks like ${DEFAULT_ADDRESS}.`);
  return url;
}

/** An endpoint below the store's address, which may have a path of its own. */
export function endpoint({ addr }: StoreFlags, path: string): URL {
  const url = new URL(addr.href);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  url.search = '';
  url.hash = '';
  // fetch refuses an address with a name and a password in it; they go into a header.
  url.username = '';
  url.password = '';
  return url;
}

export interface SentRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly timeoutMs: number;
}

/** The answer, whatever its status. Throws UnreachableError. */
export async function ask(store: StoreFlags, url: URL, request: SentRequest): Promise<Answer> {
  const { method, headers, body, timeoutMs } = request;
  try {
    const response = await fetch(url, {
      method,
      headers: { ...storeHeaders(store), ...headers },
      body,
      // A moved POST would come back as a GET: better to show that the address is not the store's.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { status, statusText, headers: answered } = response;
    return { status, statusText, headers: answered, text: await response.text() };
  } catch (error) {
    throw new UnreachableError(
      `cannot reach the store at ${store.addr.origin} (${reasonOf(error, timeoutMs)}). Start it with ` +
        '"npm start" or "logboom start", or name another with --addr or LOGBOOM_ADDR',
      { cause: error },
    );
  }
}

/** Who asks, as headers. */
export function storeHeaders({ addr, tenant }: StoreFlags): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': `logboom/${LOGBOOM_VERSION}` };
  if (tenant !== undefined && tenant !== '') headers['x-scope-orgid'] = tenant;
  if (addr.username !== '') {
    const login = `${decodeURIComponent(addr.username)}:${decodeURIComponent(addr.password)}`;
    headers.authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  }
  return headers;
}

/** Why fetch failed: it hides the reason in `cause`. */
function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, cause = error } = error as { name?: string; cause?: unknown };
  if (name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`;
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'there is no such host';
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return 'the connection broke';
    default:
      return messageOf(cause);
  }
}

/** What the server said of a refusal, or its status where it said nothing. */
export function refusal({ status, statusText, text }: Answer): string {
  const message = text.trim();
  const shown =
    message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}…` : message;
  const name = statusText === '' ? `${status}` : `${status} ${statusText}`;
  return shown === '' ? name : `${name}: ${shown}`;
}
