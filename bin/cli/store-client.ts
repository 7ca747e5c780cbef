/**
 * HTTP requests to a store, with readable failures. The caller decides about retries. Uses node:http instead
 * of fetch, because it supports certificates and loads in a tenth of the time.
 */
import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { BufferPool } from '../../shared/base/model/buffer-pool.ts';
import { messageOf } from '../../shared/base/model/errors.ts';
import { freeWhole } from '../../shared/base/model/free-bytes.ts';
import { settingOfRefusal } from '../../shared/base/model/limit-settings.ts';
import { LOGBOOM_VERSION } from '../../shared/server/admin/build-info.ts';
import { CommandError, EXIT_UNREACHABLE } from './command-error.ts';
import { proxyOf } from './proxy.ts';
import { loginOf, type StoreFlags } from './store-options.ts';

export { addStoreOptions, parseAddress, type StoreFlags } from './store-options.ts';

/** Maximum length of a server message that is shown. A proxy may return a whole page. */
const MAX_MESSAGE_CHARACTERS = 4000;
/** Maximum response size. V8 limits strings to 512 MiB. */
const MAX_ANSWER_BYTES = 512 * 1024 * 1024;

const gunzipAsync = promisify(gunzip);

export interface StoreResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

/** No response: no connection, or a broken one. */
export class UnreachableError extends CommandError {
  override readonly exitCode = EXIT_UNREACHABLE;
}

/** URL of an endpoint below the store's address, which may have a path. */
export function endpoint({ addr }: StoreFlags, path: string): URL {
  const url = new URL(addr.href);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  url.search = '';
  url.hash = '';
  // Credentials go into a header.
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

/** Response of any status; redirects are not followed. Throws UnreachableError. */
export async function sendRequest(store: StoreFlags, url: URL, request: SentRequest): Promise<StoreResponse> {
  const { body, ...answer } = await fetchBytes(store, url, request);
  return { ...answer, text: Buffer.concat(body).toString('utf8') };
}

interface ByteAnswer extends Omit<StoreResponse, 'text'> {
  /** Body in buffers, as received. */
  readonly body: readonly Buffer[];
}

/**
 * The same, for a response body that is not parsed.
 * @param pool memory for the body, which the caller releases; if the server sends a length, the body is one
 * buffer
 */
export async function fetchBytes(
  store: StoreFlags,
  url: URL,
  request: SentRequest,
  pool?: BufferPool,
): Promise<ByteAnswer> {
  const signal = AbortSignal.timeout(request.timeoutMs);
  // Compression costs more than it saves on the same machine.
  const encoding = isLoopback(url) && !store.compress ? 'identity' : 'gzip';
  const headers = { 'accept-encoding': encoding, ...storeHeaders(store), ...request.headers };
  const agent = await agentOf(store);
  try {
    const incoming = await send(url, { ...request, headers, agent, signal });
    const { statusCode: status = 0, statusMessage: statusText = '' } = incoming;
    const answered = { get: (name: string) => incoming.headers[name]?.toString() ?? null };
    return { status, statusText, headers: answered, body: await bytesOf(incoming, pool) };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const reason = signal.aborted ? `no response within ${request.timeoutMs / 1000} s` : reasonOf(error);
    throw new UnreachableError(unreachable(store, reason), { cause: error });
  }
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

interface RequestToSend extends SentRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Agent | undefined;
  readonly signal: AbortSignal;
}

async function send(
  url: URL,
  { method, headers, body, agent, signal }: RequestToSend,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? (await import('node:https')).request : requestHttp;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? undefined : Buffer.byteLength(body);
    const sized = length === undefined ? headers : { ...headers, 'content-length': `${length}` };
    const outgoing = request(url, { method, headers: sized, agent, signal }, resolve);
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function bytesOf(incoming: IncomingMessage, pool: BufferPool | undefined): Promise<readonly Buffer[]> {
  const { 'content-encoding': encoding, 'content-length': length } = incoming.headers;
  if (
    pool !== undefined &&
    encoding === undefined &&
    length !== undefined &&
    Number(length) <= MAX_ANSWER_BYTES
  )
    return [await collected(incoming, pool.take(Number(length)))];
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of incoming) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new CommandError('the response is larger than 512 MiB; use a shorter range or a smaller limit');
  }
  if (incoming.headers['content-encoding'] !== 'gzip' || bytes === 0) return pieces;
  return [await gunzipAsync(Buffer.concat(pieces), { maxOutputLength: MAX_ANSWER_BYTES })];
}

/**
 * Reads by events, because an iterator takes ten times as long for each of the small parts. Frees the parts: otherwise V8 would mark the
 * whole heap for every 8 MB of them.
 */
async function collected(incoming: IncomingMessage, body: Buffer): Promise<Buffer> {
  let at = 0;
  const freeReads = freeEarlier();
  const freeParts = freeEarlier();
  const { socket } = incoming;
  // What arrives, which the parser of the response copies.
  socket.on('data', freeReads);
  try {
    incoming.on('data', (piece: Buffer) => {
      at += piece.copy(body, at);
      freeParts(piece);
    });
    await finished(incoming);
  } finally {
    socket.off('data', freeReads);
  }
  return body.subarray(0, at);
}

/** Frees each buffer when there is a later one: then nothing uses it. */
function freeEarlier(): (bytes: Buffer) => void {
  let last: Buffer | undefined;
  return bytes => {
    if (last !== undefined && last.buffer !== bytes.buffer) freeOwn(last);
    last = bytes;
  };
}

/** Frees a buffer that is not cut from a slab of Node.js, which has other contents, too. */
function freeOwn(bytes: Buffer): void {
  if (bytes.length > Buffer.poolSize >>> 1) freeWhole(bytes);
}

let kept: { readonly key: string; readonly agent: Agent } | undefined;

/**
 * HTTP agent; undefined if the default agent suffices: no certificates and no proxy. It is cached, because it
 * keeps the connections.
 */
export async function agentOf(store: StoreFlags): Promise<Agent | undefined> {
  const { caCert, cert, key, tlsSkipVerify = false, addr } = store;
  const isTls = addr.protocol === 'https:';
  const proxyEnv = proxyOf(store);
  if (proxyEnv === undefined && !(isTls && (caCert || cert || key || tlsSkipVerify))) return undefined;
  const name = JSON.stringify([isTls, caCert, cert, key, tlsSkipVerify, proxyEnv]);
  if (kept?.key !== name) {
    const pem = (file: string | undefined) => (file ? readFileSync(file) : undefined);
    const options = { keepAlive: true, ...(proxyEnv === undefined ? {} : { proxyEnv }) };
    const agent = isTls
      ? new (await import('node:https')).Agent({
          ...options,
          ca: pem(caCert),
          cert: pem(cert),
          key: pem(key),
          rejectUnauthorized: !tlsSkipVerify,
        })
      : new Agent(options);
    kept = { key: name, agent };
  }
  return kept.agent;
}

/** Headers that identify the caller. Throws CommandError if the options give the identity twice. */
export function storeHeaders(store: StoreFlags): Record<string, string> {
  const { tenant, queryTags, authHeader, nocache } = store;
  const headers: Record<string, string> = { 'user-agent': `logboom/${LOGBOOM_VERSION}` };
  if (tenant !== undefined && tenant !== '') headers['x-scope-orgid'] = tenant;
  if (queryTags) headers['x-query-tags'] = queryTags;
  if (nocache) headers['cache-control'] = 'no-cache';
  const login = loginOf(store);
  if (login !== undefined) headers[(authHeader || 'authorization').toLowerCase()] = login;
  return headers;
}

export function unreachable({ addr }: StoreFlags, reason: string): string {
  return (
    `cannot reach the store at ${addr.origin} (${reason}); start it with "npm start" or "logboom start", ` +
    'or set --addr or LOGBOOM_ADDR'
  );
}

function reasonOf(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  // Codes of OpenSSL and of the HTTP parser, whose messages are about their own code.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'no TLS at this address; is it http?';
  if (code.startsWith('HPE_')) return 'no HTTP at this address; is it https?';
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'unknown host';
    case 'CERT_HAS_EXPIRED':
      return 'the certificate has expired';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'the certificate is of another host';
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'no connection to this host';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return 'connection closed';
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'unknown certificate authority; set --ca-cert';
    default:
      // If several addresses of a host refuse, only their errors have messages.
      return error instanceof AggregateError && error.errors.length > 0
        ? messageOf(error.errors[0])
        : messageOf(error);
  }
}

/** Servers written in Go include the function that parsed a number. */
const GO_NUMBER = /strconv\.\w+: parsing ("(?:[^"\\]|\\.)*"): (invalid syntax|value out of range)/g;

function plainNumbers(message: string): string {
  return message.replaceAll(GO_NUMBER, (_, value: string, problem: string) =>
    problem === 'invalid syntax' ? `${value} is not a number` : `${value} is out of range`,
  );
}

/** Message of a refused request, or its status if the response is empty. */
export function refusal({ status, statusText, text }: StoreResponse): string {
  const message = plainNumbers(text.trim());
  const shown =
    message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}…` : message;
  const name = statusText === '' ? `${status}` : `${status} ${statusText}`;
  const setting = settingOfRefusal(message);
  const advice = setting === undefined ? '' : ` (to raise this limit, set ${setting})`;
  return shown === '' ? name : `${name}: ${shown}${advice}`;
}
