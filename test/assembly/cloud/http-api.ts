/**
 * The HTTP API of the template: finds the route, asks its authorizer, looks whether the function lets the API call it, and
 * gives it the event of payload format 2.0. Limits of the platform: 10 MB of request, 30 s for an answer.
 *
 * Sources: "Create AWS Lambda proxy integrations for HTTP APIs", "Routes for HTTP APIs" and the quotas of the API Gateway guide.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Asked, type Callers, RouteAuthorizers } from './authorizer.ts';
import { mayCall } from './permission.ts';
import { ACCOUNT, type Json, REGION } from './template.ts';

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 30_000;
/** Content types that the gateway passes on as text. Everything else is base64. */
const TEXT = /^(text\/|application\/(json|javascript|xml)\b)/i;

interface Route {
  readonly id: string;
  readonly key: string;
  readonly method: string;
  readonly segments: readonly string[];
  readonly properties: Json;
}

export interface HttpApi {
  readonly id: string;
  readonly url: string;
  close(): Promise<void>;
}

export async function startHttpApi(callers: Callers): Promise<HttpApi> {
  const { template, byArn } = callers;
  const [api, ...more] = template
    .ofType('AWS::ApiGatewayV2::Api')
    .filter(({ properties }) => properties.ProtocolType === 'HTTP');
  if (api === undefined || more.length > 0) throw new Error('the template must have one HTTP API');
  const apiId = template.resolve({ Ref: api.id });
  const routes = template
    .ofType('AWS::ApiGatewayV2::Route')
    .filter(({ properties }) => template.resolve(properties.ApiId) === apiId)
    .map(({ id, properties }) => routeOf(id, properties));
  const authorizers = new RouteAuthorizers(callers);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    if (body.length > MAX_BODY_BYTES) return refuse(response, 413, 'Request Entity Too Large');
    const [rawPath, rawQueryString = ''] = splitQuery(String(request.url));
    const method = String(request.method);
    const found = matching(routes, method, rawPath);
    if (found === undefined) return refuse(response, 404, 'Not Found');
    const { headers, cookies } = headersOf(request);
    const path = safelyDecoded(rawPath);
    const event = {
      version: '2.0',
      routeKey: found.key,
      rawPath: path,
      rawQueryString,
      headers,
      ...(cookies.length > 0 ? { cookies } : {}),
      requestContext: {
        accountId: ACCOUNT,
        apiId,
        domainName: `${apiId}.execute-api.${REGION}.amazonaws.com`,
        http: {
          method,
          path,
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: headers['user-agent'] ?? '',
        },
        requestId: randomUUID(),
        routeKey: found.key,
        stage: '$default',
        timeEpoch: Date.now(),
      },
    };
    const asked: Asked = {
      headers,
      query: new URLSearchParams(rawQueryString),
      event,
      arn: `arn:aws:execute-api:${REGION}:${ACCOUNT}:${apiId}/$default/${method}${path}`,
    };
    const decision = await authorizers.decide(found.properties, asked);
    if (!decision.allowed) return refuse(response, decision.status, REFUSALS[decision.status]);
    const integration = template.resource(
      String(/"Ref":"([^"]+)"/.exec(JSON.stringify(found.properties.Target))?.[1]),
    ).properties;
    const arn = template.resolve(integration.IntegrationUri);
    const lambda = byArn.get(arn);
    if (lambda === undefined || integration.PayloadFormatVersion !== '2.0') {
      throw new Error(`the route ${found.key} has no function of this template behind it`);
    }
    if (!mayCall(template, arn, 'apigateway.amazonaws.com', asked.arn)) {
      throw new Error(`the function of ${found.key} does not let the API call it`);
    }
    const isText = TEXT.test(headers['content-type'] ?? '');
    const timeoutMs = integration.TimeoutInMillis ?? DEFAULT_TIMEOUT_MS;
    const late = new Promise<'late'>(resolve => {
      setTimeout(() => resolve('late'), timeoutMs).unref();
    });
    const invocation = await Promise.race([
      lambda.invoke({
        ...event,
        requestContext: { ...event.requestContext, ...authorizerOf(decision.authorizer) },
        ...(body.length > 0 ? { body: body.toString(isText ? 'utf8' : 'base64') } : {}),
        isBase64Encoded: body.length > 0 && !isText,
      }),
      late,
    ]);
    if (invocation === 'late') return refuse(response, 503, 'Service Unavailable');
    if ('refused' in invocation)
      return invocation.refused === 'throttled'
        ? refuse(response, 503, 'Service Unavailable')
        : refuse(response, 413, 'Request Too Long');
    if ('functionError' in invocation) return refuse(response, 500, 'Internal Server Error');
    const { statusCode, headers: given = {}, body: text = '', isBase64Encoded = false } = invocation.result;
    response.writeHead(statusCode, { ...given, 'apigw-requestid': event.requestContext.requestId });
    response.end(Buffer.from(text, isBase64Encoded ? 'base64' : 'utf8'));
  }

  const server: Server = createServer((request, response) => {
    answer(request, response).catch(error => {
      // A fault of the stack, or of this gateway: it must be seen in the answer.
      response.writeHead(599).end(String(error?.stack ?? error));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    id: apiId,
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}

const REFUSALS = { 401: 'Unauthorized', 403: 'Forbidden', 500: 'Internal Server Error' } as const;

function authorizerOf(authorizer: Json): { readonly authorizer?: Json } {
  return authorizer === undefined ? {} : { authorizer };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }));
}

function routeOf(id: string, properties: Json): Route {
  const key: string = properties.RouteKey;
  const [method, path = ''] = key.split(' ');
  return { id, key, method, segments: path.split('/').slice(1), properties };
}

/** The most specific route: literals before parameters, these before `{name+}`, then a named method before ANY, last $default. */
function matching(routes: readonly Route[], method: string, path: string): Route | undefined {
  const asked = path.split('/').slice(1);
  const fitting = routes.filter(
    route =>
      route.key !== '$default' &&
      (route.method === method || route.method === 'ANY') &&
      fits(route.segments, asked),
  );
  const rank = ({ segments, method: named }: Route): string =>
    segments.map(one => (one.endsWith('+}') ? 'c' : one.startsWith('{') ? 'b' : 'a')).join('') +
    (named === 'ANY' ? 'z' : 'y');
  fitting.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  return fitting[0] ?? routes.find(({ key }) => key === '$default');
}

function fits(segments: readonly string[], asked: readonly string[]): boolean {
  for (const [i, segment] of segments.entries()) {
    if (segment.endsWith('+}')) return asked.length > i && asked[i] !== '';
    if (i >= asked.length) return false;
    if (
      segment.startsWith('{') ? asked[i] === '' || /%2f/i.test(asked[i]) : segment !== safelyDecoded(asked[i])
    )
      return false;
  }
  return segments.length === asked.length;
}

/** Lower-case names, repeated ones joined by commas, cookies apart. */
function headersOf({ rawHeaders }: IncomingMessage): { headers: Record<string, string>; cookies: string[] } {
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i].toLowerCase();
    if (name === 'cookie') cookies.push(...rawHeaders[i + 1].split('; '));
    else
      headers[name] =
        headers[name] === undefined ? rawHeaders[i + 1] : `${headers[name]},${rawHeaders[i + 1]}`;
  }
  return { headers, cookies };
}

function splitQuery(url: string): [string, string?] {
  const at = url.indexOf('?');
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
