/**
 * Event of a WebSocket API of API Gateway, and the HTTP request that `$connect` stands for. Contains only the
 * used fields.
 *
 * Pitfall: the path of the event is the stage, whatever path the client requested. A proxy that maps a domain
 * to the stage names the endpoint in `x-logboom-path`. Without this header, the current tail endpoint is
 * assumed.
 */
import type { HttpRequest } from '../shared/server/http/message.ts';
import { TAIL_PATH } from '../shared/server/http/tail-request.ts';
import { identityIn } from './authorizer-context.ts';

export interface WebSocketEvent {
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  /** Percent-decoded. */
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueQueryStringParameters?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly requestContext: {
    readonly connectionId: string;
    readonly eventType?: 'CONNECT' | 'DISCONNECT' | 'MESSAGE';
    readonly requestId?: string;
    readonly identity?: { readonly sourceIp?: string };
    /** Context that a Lambda authorizer returned (authorizer-context.ts). */
    readonly authorizer?: unknown;
  };
}

/** The gateway shows only the status to the client, and turns a status other than 2xx or 4xx into 500. */
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
