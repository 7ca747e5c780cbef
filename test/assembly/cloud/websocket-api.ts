/**
 * The WebSocket API of the template: its stage as a place to connect to, the events of its three routes, and the management
 * API by which functions post to connections. Limits: messages of 128 KB either way, frames of 32 KB from clients, and no
 * post before `$connect` has answered.
 *
 * Sources: "Working with WebSocket APIs", "@connections commands" and the quotas of the API Gateway guide.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Callers, RouteAuthorizers } from './authorizer.ts';
import type { Answer, ConnectionsApi } from './aws-proxy.ts';
import type { Invocation, LambdaFunction } from './lambda-function.ts';
import { mayCall } from './permission.ts';
import { ACCOUNT, type Json, REGION } from './template.ts';

const MAX_MESSAGE_BYTES = 128 * 1024;
/**
 * Maximum size of a frame from a client. `ws` reports whole messages, so the limit applies to these, which is
 * stricter than the gateway.
 */
const MAX_FRAME_BYTES = 32 * 1024;

export interface WebSocketApi {
  readonly id: string;
  readonly stage: string;
  /** `ws://127.0.0.1:PORT`; the path is the stage. */
  readonly url: string;
  readonly connections: ConnectionsApi;
  /** Bytes of the largest message that a function posted. */
  readonly largestPost: () => number;
  close(): Promise<void>;
}

interface Connection {
  /** Undefined until `$connect` has answered. */
  socket: WebSocket | undefined;
  readonly connectedMs: number;
}

export async function startWebSocketApi(callers: Callers): Promise<WebSocketApi> {
  const { template, byArn } = callers;
  const [api, ...more] = template
    .ofType('AWS::ApiGatewayV2::Api')
    .filter(({ properties }) => properties.ProtocolType === 'WEBSOCKET');
  if (api === undefined || more.length > 0) throw new Error('the template must have one WebSocket API');
  const apiId: string = template.resolve({ Ref: api.id });
  const belongs = ({ properties }: { properties: Json }) => template.resolve(properties.ApiId) === apiId;
  const [stageResource] = template.ofType('AWS::ApiGatewayV2::Stage').filter(belongs);
  const stage: string = stageResource.properties.StageName;
  const routes = new Map<string, Json>(
    template
      .ofType('AWS::ApiGatewayV2::Route')
      .filter(belongs)
      .map(({ properties }) => [properties.RouteKey, properties]),
  );
  const authorizers = new RouteAuthorizers(callers);
  const connections = new Map<string, Connection>();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES });
  let largest = 0;

  function functionBehind(key: string): LambdaFunction {
    const target = JSON.stringify(routes.get(key)?.Target);
    const { IntegrationUri } = template.resource(String(/"Ref":"([^"]+)"/.exec(target)?.[1])).properties;
    const uri: string = template.resolve(IntegrationUri);
    const arn = String(/functions\/(arn:[^/]+)\/invocations/.exec(uri)?.[1]);
    const lambda = byArn.get(arn);
    if (lambda === undefined) throw new Error(`the route ${key} has no function of this template behind it`);
    if (!mayCall(template, arn, 'apigateway.amazonaws.com', arnOf(key))) {
      throw new Error(`the function of ${key} does not let the API call it`);
    }
    return lambda;
  }

  const arnOf = (key: string) => `arn:aws:execute-api:${REGION}:${ACCOUNT}:${apiId}/${stage}/${key}`;

  function contextOf(key: string, connectionId: string, eventType: string): Json {
    return {
      routeKey: key,
      eventType,
      connectionId,
      connectedAt: connections.get(connectionId)?.connectedMs,
      requestId: randomUUID(),
      requestTimeEpoch: Date.now(),
      stage,
      apiId,
      domainName: `${apiId}.execute-api.${REGION}.amazonaws.com`,
    };
  }

  async function connect(request: IncomingMessage, raw: Duplex, head: Buffer): Promise<void> {
    const { pathname, searchParams } = new URL(String(request.url), 'http://tail');
    if (pathname !== `/${stage}`) return refuse(raw, 403);
    const connectionId = randomBytes(9).toString('base64url');
    const headers: Record<string, string> = {};
    const multiValueHeaders: Record<string, string[]> = {};
    // Header names as the client wrote them. Only HTTP APIs convert them to lower case.
    for (let i = 0; i < request.rawHeaders.length; i += 2) {
      headers[request.rawHeaders[i]] = request.rawHeaders[i + 1];
      (multiValueHeaders[request.rawHeaders[i]] ??= []).push(request.rawHeaders[i + 1]);
    }
    const queryStringParameters: Record<string, string> = {};
    const multiValueQueryStringParameters: Record<string, string[]> = {};
    for (const [name, value] of searchParams) {
      queryStringParameters[name] = value;
      (multiValueQueryStringParameters[name] ??= []).push(value);
    }
    connections.set(connectionId, { socket: undefined, connectedMs: Date.now() });
    const event = {
      headers,
      multiValueHeaders,
      ...(searchParams.size > 0 ? { queryStringParameters, multiValueQueryStringParameters } : {}),
      requestContext: contextOf('$connect', connectionId, 'CONNECT'),
      isBase64Encoded: false,
    };
    const lower = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const asked = { headers: lower, query: searchParams, event, arn: arnOf('$connect') };
    const decision = await authorizers.decide(routes.get('$connect'), asked);
    if (!decision.allowed) return forget(connectionId, raw, decision.status);
    const requestContext = {
      ...event.requestContext,
      ...(decision.authorizer === undefined ? {} : { authorizer: decision.authorizer }),
    };
    const invocation = await functionBehind('$connect').invoke({ ...event, requestContext });
    const status = statusOf(invocation);
    if (status < 200 || status > 299) return forget(connectionId, raw, status);
    sockets.handleUpgrade(request, raw, head, socket => {
      const connection = connections.get(connectionId);
      if (connection === undefined) return socket.close();
      connection.socket = socket;
      socket.on('message', data => {
        const body = data.toString();
        const context = contextOf('$default', connectionId, 'MESSAGE');
        functionBehind('$default').invoke({ requestContext: context, body, isBase64Encoded: false });
      });
      socket.once('close', () => {
        const context = contextOf('$disconnect', connectionId, 'DISCONNECT');
        connections.delete(connectionId);
        functionBehind('$disconnect').invoke({ requestContext: context, isBase64Encoded: false });
      });
    });
  }

  function forget(connectionId: string, raw: Duplex, status: number): void {
    connections.delete(connectionId);
    refuse(raw, status >= 400 && status < 500 ? status : 500);
  }

  const manage: ConnectionsApi = async (method, connectionId, body) => {
    const connection = connections.get(connectionId);
    if (connection?.socket === undefined) return plain(410);
    if (method === 'GET') {
      const connectedAt = new Date(connection.connectedMs).toISOString();
      return plain(200, JSON.stringify({ connectedAt, lastActiveAt: connectedAt }));
    }
    if (method === 'DELETE') {
      connection.socket.close();
      return plain(204);
    }
    largest = Math.max(largest, body.length);
    if (body.length > MAX_MESSAGE_BYTES) return plain(413);
    connection.socket.send(body.toString());
    return plain(200);
  };

  const server: Server = createServer((_, response) => response.writeHead(426).end());
  server.on('upgrade', (request, raw, head) => {
    raw.on('error', () => raw.destroy());
    connect(request, raw, head).catch(error => {
      process.stderr.write(`the WebSocket API of the assembly test: ${error?.stack}\n`);
      refuse(raw, 599);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    id: apiId,
    stage,
    url: `ws://127.0.0.1:${port}`,
    connections: manage,
    largestPost: () => largest,
    close: () => {
      for (const { socket } of connections.values()) socket?.terminate();
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}

function statusOf(invocation: Invocation): number {
  if (!('result' in invocation)) return 500;
  return Number(invocation.result?.statusCode ?? 500);
}

function refuse(raw: Duplex, status: number): void {
  raw.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

function plain(status: number, text = ''): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(text) };
}
