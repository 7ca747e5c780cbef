import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { assemble } from '../../functions/assemble.ts';
import { MAX_EVENT_BODY_BYTES } from '../../functions/event-adapter.ts';
import { FUNCTION_NAMES, functionOf } from '../../functions/groups.ts';
import { createHandler } from '../../functions/handler.ts';
import type { LambdaHandler } from '../../functions/lambda-event.ts';
import { withinPlatform } from '../../functions/settings.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { type GivenEvent, httpApiEvent, lambdaContext, textOf } from './events.ts';

const log = { error: () => {} };

describe('a function', () => {
  const stores = { store: memoryObjectStore(), table: memoryTable({ clock: SYSTEM_CLOCK }) };
  // Larger data is an object; the rest is stored in the table.
  const logboom = { ...DEFAULT_CONFIG.logboom, inlineMaxBytes: 300 };
  const config = withinPlatform({ ...DEFAULT_CONFIG, logboom });
  const [push, query, status] = FUNCTION_NAMES.map(name => assemble(name, { config, warnings: [] }, stores));
  const tenant = { 'x-scope-orgid': 'acme' };

  function call(handler: LambdaHandler, given: GivenEvent) {
    return handler(httpApiEvent({ timeEpoch: Date.now(), ...given }), lambdaContext());
  }

  function pushBody(lines: readonly string[]): string {
    const now = BigInt(Date.now()) * 1_000_000n;
    const values = lines.map((line, i) => [String(now - BigInt(i)), line]);
    return JSON.stringify({ streams: [{ stream: { app: 'shop' }, values }] });
  }

  test.each<[string, (zipped: Buffer) => Pick<GivenEvent, 'body' | 'isBase64Encoded'>]>([
    ['base64', zipped => ({ body: zipped.toString('base64'), isBase64Encoded: true })],
    ['text', zipped => ({ body: zipped.toString('latin1') })],
  ])('a push of gzipped JSON that the gateway passes as %s is stored', async (kind, passed) => {
    const headers = { ...tenant, 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const zipped = gzipSync(pushBody([`zipped as ${kind}`]));
    const pushed = await call(push, {
      method: 'POST',
      path: '/loki/api/v1/push',
      headers,
      ...passed(zipped),
    });
    expect(pushed).toMatchObject({ statusCode: 204, body: '' });
    const found = await call(query, {
      path: '/loki/api/v1/query_range',
      query: `query=${encodeURIComponent(`{app="shop"} |= "zipped as ${kind}"`)}`,
      headers: tenant,
    });
    expect(JSON.parse(textOf(found)).data.result).toHaveLength(1);
  });

  test('query finds pushed entries', async () => {
    const lines = Array.from({ length: 200 }, (_, i) => `line ${i} of ${'x'.repeat(i)}`);
    const headers = { ...tenant, 'content-type': 'application/json' };
    const pushed = await call(push, {
      method: 'POST',
      path: '/loki/api/v1/push',
      headers,
      body: pushBody(lines),
    });
    expect(pushed).toMatchObject({
      statusCode: 204,
      body: '',
      headers: { 'x-request-id': 'TtGzXh4cliAEPpA=' },
    });
    const found = await call(query, {
      path: '/loki/api/v1/query_range',
      query: 'query=%7Bapp%3D%22shop%22%7D%20%7C%3D%20%22line%207%20%22&limit=10',
      headers: { ...tenant, 'accept-encoding': 'gzip' },
    });
    expect(found.statusCode).toBe(200);
    const answer = JSON.parse(textOf(found));
    expect(answer.data.result).toMatchObject([
      { values: [[expect.any(String), `line 7 of ${'x'.repeat(7)}`]] },
    ]);
  });

  test('status answers without a tenant', async () => {
    expect(await call(status, { path: '/ready' })).toMatchObject({ statusCode: 200, body: 'ready\n' });
  });

  test('stores and reads nothing without a tenant', async () => {
    const refused = { statusCode: 401, body: 'no org id\n', isBase64Encoded: false };
    const body = pushBody(['x']);
    expect(await call(push, { method: 'POST', path: '/loki/api/v1/push', body })).toMatchObject(refused);
    expect(await call(query, { path: '/loki/api/v1/labels' })).toMatchObject(refused);
  });

  test('a form is equivalent to a query string', async () => {
    const form = {
      method: 'POST',
      path: '/loki/api/v1/query',
      headers: { ...tenant, 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from('query=vector(7)').toString('base64'),
      isBase64Encoded: true,
    };
    const answer = await call(query, form);
    expect(answer.statusCode).toBe(200);
    expect(JSON.parse(textOf(answer)).data.result).toMatchObject([{ value: [expect.any(Number), '7'] }]);
  });

  test('each knows its own routes alone', async () => {
    expect((await call(push, { path: '/ready' })).statusCode).toBe(404);
    expect((await call(query, { method: 'POST', path: '/loki/api/v1/push' })).statusCode).toBe(404);
    expect((await call(status, { path: '/loki/api/v1/labels' })).statusCode).toBe(404);
    expect(new Set(ROUTES.map(functionOf))).toEqual(new Set(FUNCTION_NAMES));
  });

  test('HEAD is answered without a body if agents use it', async () => {
    const asked = await call(status, { method: 'HEAD', path: '/elasticsearch' });
    expect(asked).toMatchObject({ statusCode: 200, body: '', isBase64Encoded: false });
    expect(asked.headers['x-elastic-product']).toBe('Elasticsearch');
  });

  test('HEAD is not accepted for other methods of the table', async () => {
    expect(await call(status, { method: 'HEAD' })).toMatchObject({ statusCode: 405, body: '' });
  });

  test('refuses a push over the limit of the platform', async () => {
    const answer = await call(push, {
      method: 'POST',
      path: '/loki/api/v1/push',
      headers: tenant,
      body: Buffer.alloc(MAX_EVENT_BODY_BYTES + 1).toString('base64'),
      isBase64Encoded: true,
    });
    expect(answer.statusCode).toBe(413);
    expect(answer.body).toMatch(/^request body too large: .* lower the batch size of the client/);
  });

  test('refuses input that is not an event of an HTTP API', async () => {
    const answer = await push({ Records: [] }, lambdaContext());
    expect(answer).toMatchObject({
      statusCode: 400,
      body: 'this function accepts events of an API Gateway HTTP API in payload format 2.0\n',
      headers: { 'x-request-id': lambdaContext().awsRequestId },
    });
  });
});

describe('the deadline', () => {
  const NOW_MS = 1_795_257_698_000;
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function handlerOf(
    name: 'push' | 'query',
    dispatch: (request: HttpRequest) => Promise<HttpResponse>,
  ): LambdaHandler {
    const limitsOf = () => ({ cost: name, maxBodyBytes: 1000 });
    return createHandler({ nameOf: () => name, dispatch, limitsOf, log, nowMs: () => NOW_MS });
  }

  const never = () => new Promise<HttpResponse>(() => {});
  const event = httpApiEvent({ timeEpoch: NOW_MS - 2_000 });

  test('aborts the signal when the gateway soon gives up', async () => {
    let reason: unknown;
    const handler = handlerOf(
      'query',
      ({ signal }) =>
        new Promise(resolve => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            resolve({ status: 504, headers: {}, body: 'by the handler' });
          });
        }),
    );
    const answer = handler(event, lambdaContext());
    await jest.advanceTimersByTimeAsync(25_999);
    expect(reason).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(reason).toMatchObject({ name: 'TimeoutError', message: 'over 26000 ms' });
    expect(await answer).toMatchObject({ statusCode: 504, body: 'by the handler' });
  });

  test.each<['push' | 'query', RegExp]>([
    ['query', /^request timed out, decrease the duration/],
    ['push', /^the push was not stored in time; it is safe to push it again\n$/],
  ])('a %s that ignores the signal is answered nevertheless', async (name, want) => {
    const answer = handlerOf(name, never)(event, lambdaContext());
    await jest.advanceTimersByTimeAsync(26_500);
    const { statusCode, body } = await answer;
    expect(statusCode).toBe(504);
    expect(body).toMatch(want);
  });

  test('leaves no timer behind', async () => {
    const handler = handlerOf('query', async () => ({ status: 200, headers: {}, body: '' }));
    await handler(event, lambdaContext());
    expect(jest.getTimerCount()).toBe(0);
  });

  test('a dispatcher that throws is a defect, answered without its inside', async () => {
    const handler = handlerOf('query', async () => {
      throw new Error('secret of the inside');
    });
    const answer = await handler(event, lambdaContext());
    expect(answer).toMatchObject({ statusCode: 500, body: 'internal error, request id TtGzXh4cliAEPpA=' });
  });
});
