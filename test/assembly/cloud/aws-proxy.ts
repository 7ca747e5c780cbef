/**
 * Proxy that the functions use as AWS. It identifies the caller, checks whether its role allows the call,
 * records missing permissions, and forwards: S3 and DynamoDB to an emulator, Lambda and the management API to
 * their stand-ins here.
 *
 * Pitfall: a forbidden call is refused as AWS does and also recorded, because the store may tolerate a refusal.
 * S3 hides missing objects: a role that may not list a bucket gets 403, not 404.
 */
import { createServer, request as forwardedRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  type AwsRequest,
  connectionOf,
  lambdaNameOf,
  permissionsOf,
  type Service,
  serviceOf,
  signerOf,
} from './aws-calls.ts';
import type { LambdaFunction } from './lambda-function.ts';
import type { RolePolicy } from './policy.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** POST, GET or DELETE of a connection. */
export type ConnectionsApi = (method: string, connectionId: string, body: Buffer) => Promise<Answer>;

export interface AwsProxy {
  readonly url: string;
  /** `caller action resource`, once each, in order. */
  readonly missing: Set<string>;
  /** Calls that nothing here understands; each is a failure of the test. */
  readonly unexpected: string[];
  /** Number of calls by access key and action. */
  readonly counts: Map<string, number>;
  close(): Promise<void>;
}

interface AwsProxyOptions {
  /** Policies of roles by access key. */
  readonly roles: ReadonlyMap<string, RolePolicy>;
  /** Functions by name. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  /** Connections of WebSocket APIs by API ID. */
  readonly connections: ReadonlyMap<string, ConnectionsApi>;
  readonly emulator: string;
}

export async function startAwsProxy(options: AwsProxyOptions): Promise<AwsProxy> {
  const missing = new Set<string>();
  const unexpected: string[] = [];
  const counts = new Map<string, number>();

  async function answer(request: AwsRequest): Promise<Answer> {
    const service = serviceOf(request);
    const caller = signerOf(request);
    const role = options.roles.get(caller);
    if (role === undefined) throw new Error(`a call by ${caller}, who is nobody`);
    for (const permission of permissionsOf(service, request)) {
      const { action, resource } = permission;
      counts.set(`${caller} ${action}`, (counts.get(`${caller} ${action}`) ?? 0) + 1);
      if (role.allows(permission)) continue;
      missing.add(
        `${caller} ${action} ${resource} ${permission.context['dynamodb:leadingkeys'] ?? ''}`.trim(),
      );
      return denied(service);
    }
    if (service === 'lambda') return invoke(request);
    if (service === 'connections') {
      const [api, , , id] = connectionOf(request.url);
      const serve = options.connections.get(api);
      if (serve === undefined) throw new Error(`there is no WebSocket API ${api}`);
      return serve(request.method, id, request.body);
    }
    const given = await forward(request, options.emulator);
    const isHidden =
      service === 's3' &&
      given.status === 404 &&
      permissionsOf(service, request)[0].action === 's3:GetObject';
    return isHidden && !mayList(role, request) ? denied(service) : given;
  }

  async function invoke({ url, headers, body }: AwsRequest): Promise<Answer> {
    const lambda = options.functions.get(lambdaNameOf(url));
    if (lambda === undefined) return json(404, { message: `Function not found: ${lambdaNameOf(url)}` });
    const isEvent = headers['x-amz-invocation-type'] === 'Event';
    const invocation = await lambda.invoke(
      body.length === 0 ? {} : JSON.parse(body.toString()),
      isEvent ? 'Event' : 'RequestResponse',
    );
    if ('refused' in invocation)
      return invocation.refused === 'throttled'
        ? json(429, { message: 'Rate exceeded' }, { 'x-amzn-errortype': 'TooManyRequestsException' })
        : json(413, { message: 'too large' }, { 'x-amzn-errortype': 'RequestTooLargeException' });
    if (isEvent) return { status: 202, headers: {}, body: Buffer.alloc(0) };
    return 'functionError' in invocation
      ? json(200, invocation.functionError, { 'x-amz-function-error': 'Unhandled' })
      : json(200, invocation.result);
  }

  const server: Server = createServer(async (incoming, response) => {
    const request: AwsRequest = {
      method: String(incoming.method),
      url: String(incoming.url),
      headers: incoming.headers,
      body: await buffer(incoming),
    };
    try {
      const { status, headers, body } = await answer(request);
      response
        .writeHead(status, headers as Record<string, string>)
        .end(request.method === 'HEAD' ? undefined : body);
    } catch (error) {
      unexpected.push(String(error));
      response.writeHead(400).end();
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    missing,
    unexpected,
    counts,
    close: () => {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}

function mayList(role: RolePolicy, { url }: AwsRequest): boolean {
  const bucket = decodeURIComponent(new URL(url, 'http://s3').pathname.split('/')[1]);
  // A read has no prefix: a right that asks for one does not help it.
  const context = { 'aws:securetransport': ['true'] };
  return role.allows({ action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}`, context });
}

function denied(service: Service): Answer {
  if (service === 's3') {
    const body = Buffer.from('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>');
    return { status: 403, headers: { 'content-type': 'application/xml' }, body };
  }
  const type = { 'x-amzn-errortype': 'AccessDeniedException' };
  const text = { __type: 'com.amazon.coral.service#AccessDeniedException', Message: 'not authorized' };
  return json(service === 'dynamodb' ? 400 : 403, text, type);
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  const body = Buffer.from(JSON.stringify(value));
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

/**
 * Forwards a call unchanged except for the signer, because an emulator can treat an access key as a separate
 * account.
 */
function forward({ method, url, headers, body }: AwsRequest, emulator: string): Promise<Answer> {
  const { hostname, port, host } = new URL(emulator);
  const passed: IncomingHttpHeaders = {
    ...headers,
    host,
    authorization: headers.authorization?.replace(/Credential=[^/]+/, 'Credential=test'),
  };
  delete passed.connection;
  return new Promise((resolve, reject) => {
    const request = forwardedRequest({ hostname, port, method, path: url, headers: passed }, response => {
      buffer(response).then(given => {
        const { connection: _, 'transfer-encoding': __, ...others } = response.headers;
        resolve({ status: Number(response.statusCode), headers: others, body: given });
      }, reject);
    });
    request.once('error', reject);
    request.end(body);
  });
}
