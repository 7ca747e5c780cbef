/** Events in the shape in which an HTTP API sends them (payload format 2.0); what a test does not give is plain. */
import { gunzipSync } from 'node:zlib';
import type { HttpApiEvent, HttpApiResult, LambdaContext } from '../../functions/lambda-event.ts';

export interface GivenEvent {
  readonly method?: string;
  /** Decoded path, as in the event. */
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly cookies?: readonly string[];
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly stage?: string;
  readonly timeEpoch?: number;
}

const API = 'a1b2c3d4e5';
const DOMAIN = `${API}.execute-api.eu-central-1.amazonaws.com`;

export function httpApiEvent(given: GivenEvent = {}): HttpApiEvent {
  const { method = 'GET', path = '/ready', query = '', headers = {}, stage = '$default' } = given;
  const event = {
    version: '2.0',
    routeKey: `${method} ${path}`,
    rawPath: path,
    rawQueryString: query,
    ...(given.cookies === undefined ? {} : { cookies: given.cookies }),
    headers: {
      accept: '*/*',
      'content-length': String(given.body?.length ?? 0),
      host: DOMAIN,
      'user-agent': 'curl/8.14.1',
      'x-amzn-trace-id': 'Root=1-6910a8b2-0f1e2d3c4b5a69788796a5b4',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      ...headers,
    },
    // The gateway joins what repeats: nothing may read this.
    ...(query === '' ? {} : { queryStringParameters: joined(query) }),
    requestContext: {
      accountId: '123456789012',
      apiId: API,
      domainName: DOMAIN,
      domainPrefix: API,
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'curl/8.14.1' },
      requestId: 'TtGzXh4cliAEPpA=',
      routeKey: `${method} ${path}`,
      stage,
      time: '21/Nov/2026:10:41:38 +0000',
      timeEpoch: given.timeEpoch ?? 1_795_257_698_000,
    },
    ...(given.body === undefined ? {} : { body: given.body }),
    isBase64Encoded: given.isBase64Encoded ?? false,
  } as const;
  return event;
}

function joined(query: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(query))
    out[name] = out[name] === undefined ? value : `${out[name]},${value}`;
  return out;
}

export function lambdaContext(remainingMs = 29_000): LambdaContext {
  return {
    awsRequestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
    getRemainingTimeInMillis: () => remainingMs,
  };
}

/** The body as the client reads it. */
export function textOf({ body, headers, isBase64Encoded }: HttpApiResult): string {
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
}
