/**
 * A plain HTTP client for tests. Unlike `fetch` it sends what it is given: any path, any method, header values as bytes,
 * and it follows no redirect.
 */
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** A parameter with several values is repeated. */
export type QueryParams = Readonly<Record<string, string | readonly string[]>>;

export interface ClientRequest {
  readonly method?: string;
  /** Sent as it is, without the query. */
  readonly path: string;
  readonly query?: QueryParams | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface ClientAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** Parses the body as JSON; throws if it is not JSON. */
  json(): unknown;
}

export interface HttpClient {
  send(request: ClientRequest): Promise<ClientAnswer>;
  close(): void;
}

export const FORM_TYPE = 'application/x-www-form-urlencoded';
const MAX_CONNECTIONS = 8;

/** A client of one server; it keeps its connections until it is closed. */
export function createClient(baseUrl: string, maxSockets = MAX_CONNECTIONS): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets });
  const { hostname, port } = new URL(baseUrl);
  return {
    send: ({ method = 'GET', path, query, headers = {}, body }) =>
      new Promise((resolve, reject) => {
        const search = encodeParams(query ?? {});
        const bytes = body === undefined ? undefined : Buffer.from(body as Uint8Array);
        const length = bytes === undefined ? {} : { 'content-length': String(bytes.length) };
        const outgoing = httpRequest({
          hostname,
          port,
          agent,
          method,
          path: search === '' ? path : `${path}?${search}`,
          headers: { ...length, ...asBytes(headers) },
        });
        outgoing.on('error', reject);
        outgoing.on('response', incoming => {
          const chunks: Buffer[] = [];
          incoming.on('error', reject);
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('end', () => resolve(answerOf(incoming.statusCode!, incoming.headers, chunks)));
        });
        outgoing.end(bytes);
      }),
    close: () => agent.destroy(),
  };
}

export function encodeParams(params: QueryParams): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
  );
  return new URLSearchParams(pairs).toString();
}

function answerOf(status: number, headers: IncomingHttpHeaders, chunks: Buffer[]): ClientAnswer {
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString();
  return { status, headers, bytes, text, json: () => JSON.parse(text) };
}

/** Node sends one byte per character. */
function asBytes(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('latin1')]),
  );
}
