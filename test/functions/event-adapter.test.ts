import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  checkBodySize,
  MAX_EVENT_BODY_BYTES,
  MAX_PAYLOAD_BYTES,
  requestOf,
  resultOf,
} from '../../functions/event-adapter.ts';
import { type HttpApiEvent, isHttpApiEvent } from '../../functions/lambda-event.ts';
import { TooLargeError } from '../../shared/base/model/errors.ts';
import { hardenedHeaders } from '../../shared/server/http/hardening.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import { parseParams } from '../../shared/server/http/params.ts';
import { createRouter } from '../../shared/server/http/routes.ts';
import { type GivenEvent, httpApiEvent } from './events.ts';

const PROTOBUF = Buffer.from([0x0a, 0xff, 0x00, 0x80, 0xfe]);

function read(given: GivenEvent): Omit<HttpRequest, 'signal'> {
  return requestOf(httpApiEvent(given), 'id-1');
}

describe('requests of recorded events', () => {
  const cases: readonly [string, GivenEvent, Partial<HttpRequest>][] = [
    [
      'GET with repeated parameters',
      {
        path: '/loki/api/v1/series',
        query: 'match[]=%7Ba%3D%22x%2Cy%22%7D&match[]=%7Bb%3D~%22.%2B%22%7D&start=1',
      },
      {
        method: 'GET',
        path: '/loki/api/v1/series',
        rawQuery: 'match[]=%7Ba%3D%22x%2Cy%22%7D&match[]=%7Bb%3D~%22.%2B%22%7D&start=1',
        body: new Uint8Array(0),
      },
    ],
    [
      'POST of a form, as base64 because a form is no text for the gateway',
      {
        method: 'POST',
        path: '/loki/api/v1/query_range',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: Buffer.from('query=%7Ba%3D%22b%22%7D&limit=5').toString('base64'),
        isBase64Encoded: true,
      },
      { method: 'POST', body: Buffer.from('query=%7Ba%3D%22b%22%7D&limit=5') },
    ],
    [
      'JSON, as text',
      {
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { 'content-type': 'application/json' },
        body: '{"streams":[{"stream":{"ä":"€"}}]}',
      },
      { body: Buffer.from('{"streams":[{"stream":{"ä":"€"}}]}') },
    ],
    [
      'protobuf, as base64',
      {
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { 'content-type': 'application/x-protobuf' },
        body: PROTOBUF.toString('base64'),
        isBase64Encoded: true,
      },
      { body: PROTOBUF },
    ],
    ['empty body', { method: 'POST', path: '/loki/api/v1/push', body: '' }, { body: new Uint8Array(0) }],
    ['HEAD', { method: 'HEAD' }, { method: 'HEAD', path: '/ready' }],
    [
      'a method in lower case',
      { method: 'post', path: '/loki/api/v1/push' },
      { method: 'POST', path: '/loki/api/v1/push' },
    ],
    ['a named stage', { path: '/v1/ready', stage: 'v1' }, { path: '/ready' }],
    ['the root of a named stage', { path: '/v1', stage: 'v1' }, { path: '/' }],
    ['a path that only begins like the stage', { path: '/v10/ready', stage: 'v1' }, { path: '/v10/ready' }],
  ];
  test.each(cases)('%s', (_, given, want) => {
    expect(read(given)).toMatchObject(want);
  });

  test('repeated parameters stay separate, with any commas', () => {
    const request = read({ query: 'match[]=a%2Cb&match[]=c' });
    const params = parseParams({ ...request, signal: new AbortController().signal });
    expect(params.get('match[]')).toEqual(['a,b', 'c']);
  });

  test.each<[string, string]>([
    // A path that needs no escape is what it was.
    ['/loki/api/v1/label/app/values', '/loki/api/v1/label/app/values'],
    ["/rules/a-b_c.d~e!$&'()*+,;=:@", "/rules/a-b_c.d~e!$&'()*+,;=:@"],
    // The gateway has decoded these.
    ['/rules/my rules', '/rules/my%20rules'],
    ['/rules/größe', '/rules/gr%C3%B6%C3%9Fe'],
    ['/rules/a?b#c', '/rules/a%3Fb%23c'],
    ['/rules/100%', '/rules/100%25'],
    ['/rules/50% off', '/rules/50%25%20off'],
    ['/rules/{x}', '/rules/%7Bx%7D'],
    ['/rules/\ud83d\ude00', '/rules/%F0%9F%98%80'],
    ['/rules/\ud83d', '/rules/%EF%BF%BD'],
    // Encoded twice by the client: the way to say a slash.
    ['/rules/a%2Fb', '/rules/a%2Fb'],
    ['', '/'],
  ])('path %j', (rawPath, want) => {
    expect(read({ path: rawPath }).path).toBe(want);
  });

  test('any parameter without a slash and an escape arrives as it was meant', () => {
    const router = createRouter([
      {
        methods: ['GET'],
        path: '/rules/{name}',
        component: 'all',
        cost: 'light',
        errors: 'push',
        access: { kind: 'open' },
        handler: async () => ({ status: 200, headers: {}, body: '' }),
      },
    ]);
    const name = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter(text => !/[/]|%[0-9A-Fa-f]{2}/.test(text) && text !== '.' && text !== '..');
    fc.assert(
      fc.property(name, wanted => {
        const { path } = read({ path: `/rules/${wanted}` });
        expect(path).toMatch(/^[!-~]+$/);
        expect(router.match('GET', path)).toMatchObject({ kind: 'route', pathParams: { name: wanted } });
      }),
    );
  });

  describe('a compressed JSON body', () => {
    const json = Buffer.from('{"streams":[{"stream":{"app":"größe"},"values":[]}]}');
    const zipped = gzipSync(json);
    const readBody = (encoding: string, body: string, isBase64Encoded = false) => {
      const headers = { 'content-type': 'application/json', 'Content-Encoding': encoding };
      return read({ method: 'POST', headers, body, isBase64Encoded });
    };

    test.each<[string, Buffer, string]>([
      ['gzip', zipped, 'gzip'],
      ['deflate', deflateSync(json), 'deflate'],
    ])(
      'a body in %s arrives as base64, as a character for each byte, and as base64 without its mark',
      (_, bytes, encoding) => {
        const base64 = bytes.toString('base64');
        for (const request of [
          readBody(encoding, base64, true),
          readBody(encoding, bytes.toString('latin1')),
          readBody(encoding, base64),
        ]) {
          expect(Buffer.from(request.body)).toEqual(bytes);
          expect(request.headers['content-encoding']).toBe(encoding);
        }
      },
    );

    test('a body that something on the way has decompressed is plain', () => {
      const { body, headers } = readBody('gzip', json.toString());
      expect(Buffer.from(body)).toEqual(json);
      expect(headers).not.toHaveProperty('content-encoding');
    });

    test('a body with replaced bytes is refused with a hint', () => {
      expect(() => readBody('gzip', zipped.toString('utf8'))).toThrow(
        /^the gateway passed a gzip body as text and its bytes are lost; send protobuf, or JSON without/,
      );
    });

    test.each(['identity', ''])('a body with the encoding %j is text as it is', encoding => {
      expect(Buffer.from(readBody(encoding, json.toString()).body)).toEqual(json);
    });
  });

  test('names of headers are in lower case, cookies are one header', () => {
    const { headers } = read({
      headers: { 'X-Scope-OrgID': 'a', 'x-scope-orgid': 'b', 'X-Name': 'größe' },
      cookies: ['a=1', 'b=2'],
    });
    expect(headers['x-scope-orgid']).toBe('a, b');
    expect(headers.cookie).toBe('a=1; b=2');
    // One character for each byte, as node:http gives them.
    expect(Buffer.from(headers['x-name'], 'latin1').toString('utf8')).toBe('größe');
  });

  test('only the required fields must exist', () => {
    const least = { version: '2.0', rawPath: '/ready', requestContext: { http: { method: 'GET' } } };
    expect(isHttpApiEvent(least)).toBe(true);
    expect(requestOf(least as HttpApiEvent, 'id-1')).toEqual({
      method: 'GET',
      path: '/ready',
      rawQuery: '',
      headers: {},
      body: new Uint8Array(0),
      id: 'id-1',
    });
  });

  test.each<[unknown]>([
    [undefined],
    [null],
    ['text'],
    [{}],
    [{ version: '2.0' }],
    [{ version: '2.0', rawPath: '/ready' }],
    [{ version: '2.0', rawPath: '/ready', requestContext: {} }],
    // Payload format 1.0, and an event of the scheduler.
    [{ version: '1.0', path: '/ready', httpMethod: 'GET', requestContext: { httpMethod: 'GET' } }],
    [{ source: 'aws.scheduler', detail: {} }],
  ])('%j is not an event of an HTTP API', event => {
    expect(isHttpApiEvent(event)).toBe(false);
  });
});

describe('results of answers', () => {
  const OF = { method: 'GET', id: 'id-1' };
  const headers = { 'content-type': 'text/plain' };

  test('a short text stays one, bytes are base64', () => {
    expect(resultOf({ status: 200, headers, body: 'ready\n' }, OF)).toEqual({
      statusCode: 200,
      headers: { ...hardenedHeaders(headers, { tlsOnly: true }), 'x-request-id': 'id-1' },
      body: 'ready\n',
      isBase64Encoded: false,
    });
    const zipped = gzipSync('x'.repeat(2000));
    const result = resultOf({ status: 200, headers: { 'content-encoding': 'gzip' }, body: zipped }, OF);
    expect(result.headers['content-encoding']).toBe('gzip');
    expect(result.isBase64Encoded).toBe(true);
    expect(Buffer.from(result.body, 'base64').equals(zipped)).toBe(true);
  });

  test('a part of a larger buffer is that part', () => {
    const body = Buffer.from('--part--').subarray(2, 6);
    expect(Buffer.from(resultOf({ status: 200, headers, body }, OF).body, 'base64').toString()).toBe('part');
  });

  test.each([
    [204, 'GET'],
    [304, 'GET'],
    [200, 'HEAD'],
  ])('%d to %s has no body', (status, method) => {
    const result = resultOf({ status, headers, body: 'text' }, { method, id: 'id-1' });
    expect(result).toMatchObject({ statusCode: status, body: '', isBase64Encoded: false });
  });

  // As base64, the largest body that fits, and one byte more.
  const headBytes = JSON.stringify({
    statusCode: 200,
    headers: { ...hardenedHeaders(headers, { tlsOnly: true }), 'x-request-id': 'id-1' },
    body: '',
    isBase64Encoded: true,
  }).length;
  const mostBytes = Math.floor((MAX_PAYLOAD_BYTES - headBytes) / 4) * 3;
  test.each<[string, HttpResponse['body'], number]>([
    ['the largest bytes that fit', Buffer.alloc(mostBytes), 200],
    ['a byte more', Buffer.alloc(mostBytes + 1), 400],
    ['the largest text that fits', 'x'.repeat(mostBytes), 200],
    ['a character more', 'x'.repeat(mostBytes + 1), 400],
    ['quotes, which JSON would double', '"'.repeat(4_000_000), 200],
  ])('%s', (_, body, want) => {
    const result = resultOf({ status: 200, headers, body }, OF);
    expect(result.statusCode).toBe(want);
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
  });

  test('a response that is too large names the alternative', () => {
    const plain = resultOf({ status: 200, headers, body: 'x'.repeat(6_000_000) }, OF);
    expect(plain).toMatchObject({ statusCode: 400, isBase64Encoded: false });
    expect(plain.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(plain.body).toBe(
      'the response is too large for this deployment (7.6MB as sent, limit: 6MB); lower limit, raise step, ' +
        'shorten the time range or select fewer streams, or accept gzip',
    );
    const zipped = { ...headers, 'content-encoding': 'gzip' };
    expect(resultOf({ status: 200, headers: zipped, body: Buffer.alloc(6_000_000) }, OF).body).not.toMatch(
      /gzip/,
    );
  });
});

test('a body over the limit is refused with the name of the setting', () => {
  checkBodySize(MAX_EVENT_BODY_BYTES, MAX_EVENT_BODY_BYTES);
  expect(() => checkBodySize(MAX_EVENT_BODY_BYTES + 1, MAX_EVENT_BODY_BYTES)).toThrow(TooLargeError);
  expect(() => checkBodySize(11, 10)).toThrow(/too large than max \(11 vs 10\); lower the batch size/);
});

test('the largest body fits an event as base64, together with its headers', () => {
  const headerBytes = 3 * 10_240;
  expect(Math.ceil(MAX_EVENT_BODY_BYTES / 3) * 4 + headerBytes).toBeLessThan(MAX_PAYLOAD_BYTES);
});
