import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { BadRequestError, ClientError, TooLargeError } from '../../shared/base/model/errors.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { OPEN } from '../../shared/server/http/access.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import { errorResponse, responseOfError } from '../../shared/server/http/errors.ts';
import type { Guard } from '../../shared/server/http/guard.ts';
import type { HttpResponse } from '../../shared/server/http/message.ts';
import { createRequestLimits } from '../../shared/server/http/request-limits.ts';
import { acceptsGzip, compressResponse, json, noContent, text } from '../../shared/server/http/respond.ts';
import {
  cleanPath,
  createRouter,
  defineRoutes,
  type Handler,
  pathsOf,
  type Route,
} from '../../shared/server/http/routes.ts';
import { request } from './request.ts';

interface Context {
  readonly name: string;
}

const echo: Handler<Context> = async (context, { path, pathParams }) =>
  json({ name: context.name, path, pathParams });
const fail =
  (error: unknown): Handler<Context> =>
  async () => {
    throw error;
  };

function route(given: Partial<Route<Context>> & { path: string }): Route<Context> {
  return {
    methods: ['GET'],
    component: 'all',
    cost: 'light',
    errors: 'query',
    access: OPEN,
    handler: echo,
    ...given,
  };
}

const routes = defineRoutes<Context>([
  route({ path: '/svc/api/v1/query_range', methods: ['GET', 'POST'], cost: 'query' }),
  route({
    path: '/svc/api/v1/labels',
    methods: ['GET', 'POST'],
    aliases: ['/svc/api/v1/label', '/api/compat/label'],
  }),
  route({ path: '/svc/api/v1/label/{name}/values', methods: ['GET', 'POST'] }),
  route({ path: '/svc/api/v1/push', methods: ['POST'], cost: 'push', errors: 'push' }),
  route({ path: '/svc/api/v1/rules/{namespace}' }),
  route({ path: '/svc/api/v1/rules/{namespace}', methods: ['POST'] }),
  route({ path: '/svc/api/v1/rules/{namespace}/{groupName}', methods: ['GET', 'DELETE'] }),
  route({ path: '/compat/api/v1/rules' }),
  route({ path: '/ready' }),
  route({ path: '/bad', handler: fail(new BadRequestError('no good')) }),
  route({ path: '/bad-push', errors: 'push', handler: fail(new BadRequestError('no good')) }),
  route({ path: '/nobody', handler: fail(new ClientError(401, 'no org id')) }),
  route({ path: '/broken', handler: fail(new Error('secret of the inside')) }),
  route({ path: '/long', handler: async () => text('x'.repeat(5000)) }),
]);
const router = createRouter(routes);

const NO_GUARD: Guard = { admit: async (_, request) => request };
const logged: object[] = [];
const log = { error: (fields: object) => void logged.push(fields) };
const dispatch = createDispatcher({ router, guard: NO_GUARD, context: { name: 'me' }, log, compress: true });
const get = (path: string, given: object = {}) => dispatch(request({ path, ...given }));

describe('paths', () => {
  test.each<[string, Record<string, string>]>([
    ['/svc/api/v1/query_range', {}],
    ['/loki/api/v1/query_range', {}],
    ['/loki/api/v1/label', {}],
    ['/api/prom/label', {}],
    ['/api/compat/label', {}],
    ['/prometheus/api/v1/rules', {}],
    ['/ready', {}],
    ['/loki/api/v1/l%61bels', {}],
    ['/loki/api/v1/label/app/values', { name: 'app' }],
    ['/svc/api/v1/label/a%20b/values', { name: 'a b' }],
    ['/svc/api/v1/label/%C3%A9+/values', { name: 'é+' }],
    ['/svc/api/v1/label/{name}/values', { name: '{name}' }],
    ['/loki/api/v1/rules/a%2Fb', { namespace: 'a/b' }],
    ['/loki/api/v1/rules/a%2Fb/c%2f..', { namespace: 'a/b', groupName: 'c/..' }],
    ['/loki/api/v1/rules/%2e%2e', { namespace: '..' }],
  ])('%s', async (path, pathParams) => {
    const { status, body } = await get(path);
    expect(status).toBe(200);
    expect(JSON.parse(String(body))).toEqual({ name: 'me', path, pathParams });
  });

  test.each([
    ...[
      '/',
      '/loki',
      '/loki/api/v2/query',
      '/loki/api/v1/nosuch',
      '/loki/api/v1/label/app/values/',
      '/ready/',
    ],
    ...[
      '/loki/api/v1/detected_field/values',
      '/loki/api/v1/label/values',
      '/svc/api/v1/rules',
      '/readyx',
      '/READY',
    ],
    ...['/loki/api/v1/labels%2F', '/compat/api/v10/rules', '*'],
  ])('%s is not found', async path => {
    expect(await get(path)).toMatchObject({
      status: 404,
      body: '404 page not found\n',
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    });
  });

  test.each([
    ['DELETE', '/loki/api/v1/query_range', 'GET, POST'],
    ['HEAD', '/loki/api/v1/query_range', 'GET, POST'],
    ['OPTIONS', '/loki/api/v1/labels', 'GET, POST'],
    ['GET', '/loki/api/v1/push', 'POST'],
    ['PUT', '/loki/api/v1/rules/a', 'GET, POST'],
    ['POST', '/loki/api/v1/rules/a/b', 'GET, DELETE'],
  ])('%s %s is the wrong method', async (method, path, allow) => {
    expect(await get(path, { method })).toEqual({ status: 405, headers: { allow }, body: '' });
  });

  test.each([
    ['/loki/api/v1/label//values', '', '/loki/api/v1/label/values'],
    ['/loki/api/v1//labels', 'a=1&b', '/loki/api/v1/labels?a=1&b'],
    ['//evil.example/x', '', '/evil.example/x'],
    ['/a/../ready', '', '/ready'],
    ['/nosuch//', '', '/nosuch/'],
  ])('%s redirects to its clean form', async (path, rawQuery, location) => {
    expect(await get(path, { rawQuery })).toEqual({ status: 301, headers: { location }, body: '' });
  });

  test.each([
    ['/', '/'],
    ['/a/b/', '/a/b/'],
    ['/a/./b', '/a/b'],
    ['/a/..', '/'],
    ['/../..', '/'],
    ['//', '/'],
    ['/a/..b/.c', '/a/..b/.c'],
    ['/a//', '/a/'],
  ])('the clean form of %s', (path, want) => {
    expect(cleanPath(path)).toBe(want);
  });

  test('an invalid escape is refused', async () => {
    expect(await get('/loki/api/v1/label/%zz/values')).toMatchObject({
      status: 400,
      body: 'invalid URL escape "%zz"\n',
    });
  });

  test('an endpoint is found by all its names', () => {
    expect(pathsOf(routes[1])).toEqual([
      ...['/svc/api/v1/labels', '/loki/api/v1/labels', '/svc/api/v1/label', '/loki/api/v1/label'],
      ...['/api/compat/label', '/api/prom/label'],
    ]);
  });

  test('two routes for one method and path are a defect', () => {
    expect(() => createRouter([route({ path: '/ready' }), route({ path: '/ready' })])).toThrow(
      'one route for GET /ready',
    );
  });
});

describe('errors', () => {
  test.each([
    ['/bad', 400, 'no good'],
    ['/bad-push', 400, 'no good\n'],
    ['/nobody', 401, 'no org id\n'],
    ['/broken', 500, 'internal error, request id test-1'],
  ])('%s', async (path, status, body) => {
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
    expect(await get(path)).toMatchObject({ status, body, headers });
  });

  test('errors of the store are logged with the request ID', async () => {
    logged.length = 0;
    await get('/bad');
    expect(logged).toEqual([]);
    await get('/broken');
    expect(logged).toEqual([{ requestId: 'test-1', err: new Error('secret of the inside') }]);
  });

  const abort = new DOMException('gone', 'AbortError');
  const timeout = new DOMException('late', 'TimeoutError');
  test.each<[string, unknown, 'push' | 'query', number, RegExp]>([
    ['too large', new TooLargeError('big'), 'push', 413, /^big\n$/],
    ['client gone', abort, 'query', 499, /^the request was cancelled by the client$/],
    ['deadline', timeout, 'query', 504, /^request timed out, decrease the duration .* data processed$/],
    [
      'throttled push',
      new ThrottledError('x'),
      'push',
      503,
      /^The server cannot accept more requests at this time\.\n$/,
    ],
    ['throttled query', new ThrottledError('x'), 'query', 429, /^too many outstanding requests$/],
    ['several, one canceled', new AggregateError([timeout, abort]), 'query', 499, /cancelled/],
    ['several, all late', new AggregateError([timeout, timeout]), 'query', 504, /timed out/],
    ['several, one a mistake', new AggregateError([timeout, new BadRequestError('b')]), 'query', 400, /^b$/],
    ['several, one a defect', new AggregateError([timeout, new Error('b')]), 'query', 500, /^internal error/],
    ['several, none', new AggregateError([]), 'query', 500, /^internal error/],
    ['no Error at all', 'text', 'query', 500, /^internal error, request id r$/],
    ['undefined', undefined, 'push', 500, /^internal error, request id r\n$/],
  ])('%s', (_, error, style, status, body) => {
    const response = responseOfError(error, { style, requestId: 'r', log });
    expect(response.status).toBe(status);
    expect(response.body).toMatch(body);
  });

  test('a missing tenant ends with a newline in both styles', () => {
    expect(errorResponse(401, 'no org id', 'query').body).toBe('no org id\n');
  });
});

describe('compression', () => {
  test('applies to long responses for clients that accept it', async () => {
    const response = await get('/long', { headers: { 'accept-encoding': 'br, gzip' } });
    expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(response.body).toString()).toBe('x'.repeat(5000));
  });

  test('is skipped for other clients, with Vary set', async () => {
    const response = await get('/long');
    expect(response.headers).toEqual({
      'content-type': 'text/plain; charset=utf-8',
      vary: 'Accept-Encoding',
    });
    expect(String(response.body)).toBe('x'.repeat(5000));
  });

  test('is skipped if disabled', async () => {
    const plain = createDispatcher({ router, guard: NO_GUARD, context: { name: '' }, log, compress: false });
    const response = await plain(request({ path: '/long', headers: { 'accept-encoding': 'gzip' } }));
    expect(response.headers['content-encoding']).toBeUndefined();
  });

  test('is skipped for short, empty, already encoded or binary responses', async () => {
    const long = Buffer.alloc(5000);
    const responses: HttpResponse[] = [
      text('short'),
      noContent(),
      { status: 200, headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, body: long },
      { status: 200, headers: { 'content-type': 'application/vnd.apache.parquet' }, body: long },
    ];
    for (const response of responses) {
      const answer = await compressResponse(response, 'gzip');
      expect(answer.status).toBe(response.status);
      expect(Buffer.from(answer.body).equals(Buffer.from(response.body))).toBe(true);
    }
  });

  test.each<[string | undefined, boolean]>([
    [undefined, false],
    ['', false],
    ['gzip', true],
    ['GZip;q=0.5', true],
    ['gzip;q=0', false],
    ['gzip; q=0.00', false],
    ['deflate, gzip;q=1.0, *;q=0.5', true],
    ['*', true],
    ['*;q=0', false],
    ['gzip;q=0, *', false],
    ['identity', false],
    ['notgzip', false],
  ])('%s', (header, want) => {
    expect(acceptsGzip(header)).toBe(want);
  });
});

test('the limits of a request follow from its route', () => {
  const limits = createRequestLimits(router, DEFAULT_CONFIG);
  expect(limits('POST', '/loki/api/v1/push')).toEqual({ cost: 'push', maxBodyBytes: 104_857_600 });
  expect(limits('POST', '/svc/api/v1/query_range')).toEqual({ cost: 'query', maxBodyBytes: 10_485_760 });
  for (const path of ['/ready', '/nosuch', '/loki/api/v1/label/%zz/values']) {
    expect(limits('GET', path)).toEqual({ cost: 'light', maxBodyBytes: 10_485_760 });
  }
});

describe('admission', () => {
  const turns: string[] = [];
  const waiting: (() => void)[] = [];
  const admit = async <T>(cost: string, task: () => Promise<T>): Promise<T> => {
    turns.push(cost);
    await new Promise<void>(resolve => waiting.push(resolve));
    return task();
  };
  const later = createDispatcher({
    router,
    guard: NO_GUARD,
    context: { name: 'me' },
    log,
    compress: false,
    admit,
  });

  test('runs a handler when the adapter admits it, with its cost reported', async () => {
    let status: number | undefined;
    const answer = later(request({ path: '/svc/api/v1/query_range' })).then(response => {
      status = response.status;
    });
    await new Promise(resolve => setImmediate(resolve));
    expect([turns, status]).toEqual([['query'], undefined]);
    waiting.shift()!();
    await answer;
    expect(status).toBe(200);
  });

  test('does not run the handler of a client that disconnected meanwhile', async () => {
    const controller = new AbortController();
    const answer = later(request({ path: '/svc/api/v1/query_range', signal: controller.signal }));
    await new Promise(resolve => setImmediate(resolve));
    controller.abort();
    waiting.shift()!();
    expect((await answer).status).toBe(499);
  });
});
