/**
 * What API Gateway gives a function behind a WebSocket API, and the request that a `$connect` stands for. Only what we use.
 *
 * A reader would get wrong: the path of the request is the stage, whatever the client asked for. Who puts a domain in front of
 * it says in `x-logboom-path` which endpoint it was; without that it is the endpoint of today.
 */
import type { HttpRequest } from '../shared/server/http/message.ts';
import { TAIL_PATH } from '../shared/server/http/tail-request.ts';
import { identityIn } from './authorizer-context.ts';

export interface WebSocketEvent {
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  /** Decoded. */
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueQueryStringParameters?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly requestContext: {
    readonly connectionId: string;
    readonly eventType?: 'CONNECT' | 'DISCONNECT' | 'MESSAGE';
    readonly requestId?: string;
    readonly identity?: { readonly sourceIp?: string };
    /** What a Lambda authorizer has said (authorizer-context.ts). */
    readonly authorizer?: unknown;
  };
}

/** The gateway shows nothing of it to a client but the status, and takes 500 for what is no 2xx or 4xx. */
export interface WebSocketResult {
  readonly statusCode: number;
  readonly body?: string;
}

const PATH_HEADER = 'x-logboom-path';

export function isWebSocketEvent(event: unknown): event is WebSocketEvent {
  const { requestContext } = (event ?? {}) as Partial<WebSocketEvent>;
  return typeof requestContext?.connectionId === 'string';
}

export function connectRequestOf(event: WebSocketEvent, id: string): HttpRequest {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(event.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  for (const [name, values] of Object.entries(event.multiValueHeaders ?? {})) {
    if (values !== undefined && values.length > 0) headers[name.toLowerCase()] = values.join(', ');
  }
  return {
    method: 'GET',
    path: headers[PATH_HEADER] ?? TAIL_PATH,
    rawQuery: rawQueryOf(event),
    headers,
    body: new Uint8Array(0),
    signal: new AbortController().signal,
    id,
    clientAddress: event.requestContext.identity?.sourceIp,
    identity: identityIn(event.requestContext.authorizer),
  };
}

function rawQueryOf({ queryStringParameters, multiValueQueryStringParameters }: WebSocketEvent): string {
  const pairs: [string, string][] = [];
  if (multiValueQueryStringParameters) {
    for (const [name, values] of Object.entries(multiValueQueryStringParameters)) {
      for (const value of values ?? []) pairs.push([name, value]);
    }
  } else {
    for (const [name, value] of Object.entries(queryStringParameters ?? {})) {
      if (value !== undefined) pairs.push([name, value]);
    }
  }
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
}
