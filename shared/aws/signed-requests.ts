/**
 * Sends signed requests to one AWS service over kept connections, without the clients of the SDK. A request
 * takes a quarter of the CPU time that it takes through them, and loading them is half of a function's start
 * (docs/dev/decisions/0011-requests-without-the-sdk.md).
 *
 * Retries are the work of caller.ts. Errors have the shape of the SDK's errors (errors.ts reads both).
 */

import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { MS_PER_MINUTE } from '../base/model/time-units.ts';
import { ServiceError } from './errors.ts';
import type { ServiceEndpoint } from './service-endpoint.ts';
import { createSigner, type Signer } from './signature.ts';

interface SignedRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Percent-encoded path below the endpoint, with a slash at its start. */
  readonly path: string;
  /** Headers with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  readonly signal: AbortSignal;
}

interface SignedRequestsOptions {
  /** Name of the service in signatures. */
  readonly service: 's3' | 'dynamodb';
  readonly find: () => Promise<ServiceEndpoint>;
  readonly maxSockets: number;
  /** Extracts code and message from a response that reports an error. */
  readonly errorOf: (answer: IncomingMessage, body: string) => ReportedError;
}

/** Error as the service reports it. */
export interface ReportedError {
  /** Default: `UnknownError`. */
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  /** Other fields of the error. */
  readonly fields?: object;
}

interface SignedRequests {
  /**
   * Resolves when the headers of a successful response are there. Read its body to the end, or destroy it.
   * Throws ServiceError if the service reports an error, or errors of the connection.
   */
  send(request: SignedRequest): Promise<IncomingMessage>;
  destroy(): void;
}

const CONNECTION_TIMEOUT_MS = 2_000;
/**
 * Timeout of a connection without traffic. It is shorter than an attempt, so the next attempt uses another
 * connection.
 */
const SOCKET_TIMEOUT_MS = 10_000;
/** Largest difference of clocks that services accept is 5 to 15 minutes. */
const MAX_CLOCK_SKEW_MS = 5 * MS_PER_MINUTE;
/** Maximum size of an error's body that is read. */
const MAX_ERROR_BYTES = 64 * 1024;
const USER_AGENT = 'logboom';

export function createSignedRequests(options: SignedRequestsOptions): SignedRequests {
  const { service, find, maxSockets, errorOf } = options;
  const agentOptions = { keepAlive: true, maxSockets };
  /** Connections to the service, which has one endpoint. */
  let agent: Agent | undefined;
  let found: Promise<ServiceEndpoint> | undefined;
  let sign: Signer | undefined;
  /** Clock of the service minus the clock of this machine. */
  let clockOffsetMs = 0;

  const findOnce = (): Promise<ServiceEndpoint> => {
    found ??= find().catch(error => {
      // The next request tries again: a metadata service may be late.
      found = undefined;
      throw error;
    });
    return found;
  };

  const correctClock = ({ headers }: IncomingMessage): boolean => {
    const serviceMs = Date.parse(headers.date ?? '');
    const isSkewed = Math.abs(serviceMs - Date.now() - clockOffsetMs) > MAX_CLOCK_SKEW_MS;
    if (isSkewed) clockOffsetMs = serviceMs - Date.now();
    return isSkewed;
  };

  return {
    async send({ method, path, headers, body, signal }) {
      const { endpoint, path: basePath, region, credentials } = await findOnce();
      sign ??= createSigner(service, region);
      const toSign = {
        method,
        path: basePath + path,
        headers: { host: endpoint.host, 'user-agent': USER_AGENT, ...headers },
        body,
      };
      // Read before the time, because they may take long.
      const keys = await credentials();
      const signed = sign({ ...toSign, nowMs: Date.now() + clockOffsetMs }, keys);
      const isTls = endpoint.protocol === 'https:';
      agent ??= isTls ? new TlsAgent(agentOptions) : new Agent(agentOptions);
      const target = {
        hostname: endpoint.hostname.replace(/^\[|\]$/g, ''),
        port: endpoint.port,
        method,
        path: toSign.path,
        headers: signed,
        agent,
      };
      signal.throwIfAborted();
      const request = isTls ? tlsRequest(target) : httpRequest(target);
      const answer = await exchange(request, { body, isTls, signal });
      const { statusCode: status = 0 } = answer;
      if (status >= 200 && status < 300) return answer;
      const text = await errorBody(answer);
      const { code = 'UnknownError', message = code, fields } = errorOf(answer, text);
      throw new ServiceError(code, message, {
        status,
        clockSkewCorrected: correctClock(answer),
        fields,
      });
    },

    destroy() {
      agent?.destroy();
    },
  };
}

interface ExchangeOptions {
  readonly body: Buffer | string | undefined;
  readonly isTls: boolean;
  /** Ends the request and its response. Node's own option for this adds listeners for all ends of a stream. */
  readonly signal: AbortSignal;
}

/** Sends a request. Resolves when the headers of the response are there. */
function exchange(
  request: ClientRequest,
  { body, isTls, signal }: ExchangeOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const abort = () => void request.destroy(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    request.once('close', () => signal.removeEventListener('abort', abort));
    const giveUp = (what: string, ms: number): void => {
      request.destroy(Object.assign(new Error(`${what} within ${ms} ms`), { name: 'TimeoutError' }));
    };
    request.once('socket', (socket: Socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => giveUp('no connection', CONNECTION_TIMEOUT_MS), CONNECTION_TIMEOUT_MS);
      const connected = (): void => clearTimeout(timer);
      socket.once(isTls ? 'secureConnect' : 'connect', connected);
      socket.once('close', connected);
    });
    request.setTimeout(SOCKET_TIMEOUT_MS, () => giveUp('no traffic', SOCKET_TIMEOUT_MS));
    request.once('response', resolve);
    // A later error also ends the response, whose reader gets it.
    request.on('error', reject);
    request.end(body);
  });
}

async function errorBody(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer) {
    parts.push(part as Buffer);
    bytes += (part as Buffer).length;
    if (bytes > MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(parts).toString();
}

/**
 * Reads a body of unknown length. Rejects with ECONNRESET if the connection ends before the body. Events take less
 * time than an iterator, and most bodies are one part.
 */
export function wholeAnswer(answer: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    answer.on('data', (part: Buffer) => void parts.push(part));
    answer.once('end', () => resolve(parts.length === 1 ? parts[0] : Buffer.concat(parts)));
    answer.once('error', reject);
  });
}
