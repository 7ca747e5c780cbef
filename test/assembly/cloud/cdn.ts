/**
 * The CloudFront distribution of the template: picks the behavior by path, runs its function on the request, and passes it to
 * the origin: the HTTP API, the WebSocket API, or a bucket in the emulator. Methods that a behavior does not name are refused.
 *
 * It keeps nothing: that the APIs are not cached is asserted of the template. Source: "Cache behavior settings" and "CloudFront
 * Functions event structure" of the CloudFront guide.
 */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { runInNewContext } from 'node:vm';
import type { Json, Template } from './template.ts';

export const CDN_DOMAIN = 'd111111abcdef8.cloudfront.net';

export interface CdnOrigins {
  /** `http://127.0.0.1:PORT` of the HTTP API and the WebSocket API, by the host names that the template gives them. */
  urlOf(host: string): string | undefined;
  /** An object of a bucket; undefined: it is not there. */
  objectOf(
    bucket: string,
    key: string,
  ): Promise<{ readonly body: Buffer; readonly contentType: string } | undefined>;
}

export interface Cdn {
  readonly url: string;
  close(): Promise<void>;
}

interface Value {
  readonly value: string;
  readonly multiValue?: readonly { readonly value: string }[];
}

interface EdgeRequest {
  readonly method: string;
  readonly uri: string;
  readonly querystring: Record<string, Value>;
  readonly headers: Record<string, Value>;
}

interface EdgeResponse {
  readonly statusCode: number;
  readonly headers?: Record<string, Value>;
}

export async function startCdn(template: Template, origins: CdnOrigins): Promise<Cdn | undefined> {
  const [distribution] = template.ofType('AWS::CloudFront::Distribution');
  if (distribution === undefined) return undefined;
  template.attributes.set(`${distribution.id}.DomainName`, CDN_DOMAIN);

  /** Read late: the hosts of origins are known when the APIs are. */
  function route(request: IncomingMessage): {
    behavior: Json;
    edge: EdgeRequest | EdgeResponse;
    origin: Json;
  } {
    const config = template.resolve(distribution.properties.DistributionConfig);
    const [path, query = ''] = splitOnce(String(request.url), '?');
    const behavior: Json =
      (config.CacheBehaviors ?? []).find(({ PathPattern }: Json) => isLike(path, PathPattern)) ??
      config.DefaultCacheBehavior;
    const origin = config.Origins.find(({ Id }: Json) => Id === behavior.TargetOriginId);
    let edge: EdgeRequest | EdgeResponse = {
      method: String(request.method),
      uri: path,
      querystring: valuesOf(query),
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, { value: String(value) }]),
      ),
    };
    for (const { EventType, FunctionARN } of behavior.FunctionAssociations ?? []) {
      if (EventType !== 'viewer-request') throw new Error(`the assembly test does not know ${EventType}`);
      edge = run(codeOf(template, FunctionARN), edge as EdgeRequest);
    }
    return { behavior, edge, origin };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { behavior, edge, origin } = route(request);
    const allowed: string[] = behavior.AllowedMethods ?? ['GET', 'HEAD'];
    if (!allowed.includes(String(request.method))) return void response.writeHead(403).end();
    if ('statusCode' in edge) {
      const headers = Object.entries(edge.headers ?? {}).map(([name, { value }]) => [name, value]);
      return void response.writeHead(edge.statusCode, Object.fromEntries(headers)).end();
    }
    const bucket = /^([^.]+)\.s3\./.exec(origin.DomainName)?.[1];
    if (bucket !== undefined) {
      const key = decodeURIComponent(`${origin.OriginPath ?? ''}${edge.uri}`.replace(/^\//, ''));
      const object = await origins.objectOf(bucket, key);
      // CloudFront cannot list the bucket, so a missing object is forbidden.
      if (object === undefined) return void response.writeHead(403).end();
      return void response.writeHead(200, { 'content-type': object.contentType }).end(object.body);
    }
    const { hostname, port } = new URL(reachable(origin));
    const passed = httpRequest(
      { hostname, port, method: edge.method, path: pathOf(edge), headers: passedHeaders(edge, request) },
      given => {
        response.writeHead(Number(given.statusCode), given.headers);
        given.pipe(response);
      },
    );
    passed.once('error', error => response.destroy(error));
    request.pipe(passed);
  }

  function reachable(origin: Json): string {
    const url = origins.urlOf(origin.DomainName);
    if (url === undefined) throw new Error(`CloudFront has an origin that is nobody: ${origin.DomainName}`);
    return url;
  }

  const server: Server = createServer((request, response) => {
    answer(request, response).catch(error => response.writeHead(599).end(String(error?.stack ?? error)));
  });
  server.on('upgrade', (request, raw, head) => {
    raw.on('error', () => raw.destroy());
    const { edge, origin } = route(request);
    if ('statusCode' in edge) return raw.destroy();
    const { hostname, port } = new URL(reachable(origin));
    const upstream = connect({ host: hostname, port: Number(port) }, () => {
      const lines = Object.entries(passedHeaders(edge, request)).map(([name, value]) => `${name}: ${value}`);
      upstream.write(`GET ${pathOf(edge)} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      upstream.write(head);
      upstream.pipe(raw).pipe(upstream);
    });
    upstream.on('error', () => raw.destroy());
    raw.on('close', () => upstream.destroy());
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}

function codeOf(template: Template, arn: string): string {
  const found = template
    .ofType('AWS::CloudFront::Function')
    .find(({ id }) => template.resolve({ 'Fn::GetAtt': [id, 'FunctionARN'] }) === arn);
  if (found === undefined) throw new Error(`there is no function of CloudFront ${arn}`);
  return found.properties.FunctionCode;
}

function run(code: string, request: EdgeRequest): EdgeRequest | EdgeResponse {
  const event = {
    version: '1.0',
    context: { eventType: 'viewer-request' },
    viewer: { ip: '127.0.0.1' },
    request,
  };
  // It has nothing of Node, like the runtime that it is written for; and a millisecond, of which this allows many.
  const text = `${code}\nJSON.stringify(handler(${JSON.stringify(event)}))`;
  return JSON.parse(runInNewContext(text, {}, { timeout: 1_000 }));
}

/** Formats a query for CloudFront's function: values as they were sent, repeated ones together. */
function valuesOf(query: string): Record<string, Value> {
  const values: Record<string, { value: string; multiValue?: { value: string }[] }> = {};
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name, value = ''] = splitOnce(pair, '=');
    const known = values[name];
    if (known === undefined) values[name] = { value };
    else (known.multiValue ??= [{ value: known.value }]).push({ value });
  }
  return values;
}

function pathOf({ uri, querystring }: EdgeRequest): string {
  const pairs = Object.entries(querystring).flatMap(([name, one]) =>
    (one.multiValue ?? [one]).map(({ value }) => `${name}=${value}`),
  );
  return pairs.length === 0 ? uri : `${uri}?${pairs.join('&')}`;
}

/** All viewer headers but the host, as the policy of both APIs says. */
function passedHeaders(
  { headers }: EdgeRequest,
  { headers: { host } }: IncomingMessage,
): Record<string, string> {
  const passed = Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value]));
  return { ...passed, host: String(host) };
}

function isLike(path: string, pattern: string): boolean {
  const written = pattern.startsWith('/') ? pattern : `/${pattern}`;
  const source = written
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`).test(path);
}

function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
