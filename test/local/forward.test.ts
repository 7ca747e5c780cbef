/** A process that forwards: what reaches the target, what returns, and what happens when either side fails. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ALL_ROUTES, createForwarding, type Forwarding } from '../../local/forward/forward.ts';
import { type Gateway, startGateway } from '../../local/gateway.ts';
import { gatewayLimits } from '../../local/gateway-limits.ts';
import { isTailUpgrade } from '../../local/websocket.ts';
import { createLog } from '../../shared/base/runtime/log.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { createRequestLimits } from '../../shared/server/http/request-limits.ts';
import { createClient, type HttpClient } from '../end-to-end/support/client.ts';
import { until } from '../support/until.ts';

const log = createLog('silent');
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

interface Target {
  readonly url: string;
  readonly server: Server;
  readonly requests: IncomingMessage[];
}

async function startTarget(handler: Handler): Promise<Target> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    request.on('error', () => {});
    handler(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, requests };
}

interface Front {
  readonly gateway: Gateway;
  readonly client: HttpClient;
  readonly forwarding: Forwarding;
}

async function startFront(
  settings: Partial<Config['logboom']>,
  { maxBodySize = 1_000_000, silentMs = 60_000, maxConcurrentRequests = 50 } = {},
): Promise<Front> {
  const config: Config = {
    ...DEFAULT_CONFIG,
    auth: { ...DEFAULT_CONFIG.auth, target: 'write' },
    frontend: { ...DEFAULT_CONFIG.frontend, maxBodySize },
    logboom: { ...DEFAULT_CONFIG.logboom, maxConcurrentRequests, ...settings },
  };
  const forwarding = createForwarding({ config, log, silentMs })!;
  const gateway = await startGateway({
    host: '127.0.0.1',
    port: 0,
    dispatch: async ({ path }) => ({ status: 200, headers: {}, body: `own ${path}` }),
    limits: { ...gatewayLimits(config, 1), ofRequest: createRequestLimits(ALL_ROUTES, config) },
    forwarding,
    isUpgrade: isTailUpgrade,
    log,
  });
  gateway.server.on('upgrade', forwarding.upgrade);
  const client = createClient(gateway.url);
  closing.push(async () => {
    client.close();
    forwarding.endTails();
    await gateway.stop();
    forwarding.close();
  });
  return { gateway, client, forwarding };
}

const QUERY = '/loki/api/v1/query_range';

describe('requests that are forwarded', () => {
  test('are all but pushes, readiness and the page', async () => {
    const target = await startTarget((_, response) => response.end('target'));
    const { client } = await startFront({ forwardTo: target.url });
    const answer = async (method: string, path: string, headers = {}) =>
      (await client.send({ method, path, headers })).text;
    for (const [method, path] of [
      ['POST', '/loki/api/v1/push'],
      ['POST', '/otlp/v1/logs'],
      ['POST', '/elasticsearch/_bulk'],
      ['POST', '/aws/firehose'],
      ['POST', '/loki/api/v1/%70ush'],
      ['GET', '/ready'],
      ['GET', '/ui/'],
      ['GET', '/ui'],
    ])
      expect([path, await answer(method, path)]).toEqual([path, `own ${path}`]);
    expect(await answer('GET', '/', { accept: 'text/html' })).toBe('own /');
    for (const [method, path] of [
      ['GET', QUERY],
      ['POST', QUERY],
      ['GET', '/loki/api/v1/labels'],
      ['POST', '/loki/api/v1/delete'],
      ['GET', '/prometheus/api/v1/rules'],
      ['GET', '/metrics'],
      ['POST', '/ingester/shutdown'],
      ['GET', '/loki/api/v1/push'],
      ['GET', '/elasticsearch/'],
      ['GET', '/'],
      ['GET', '/unknown'],
      ['GET', '/%zz'],
    ])
      expect([path, await answer(method, path)]).toEqual([path, 'target']);
  });

  test('keep method, path, query, body, tokens and tenants; the target learns the client', async () => {
    const bodies: string[] = [];
    const target = await startTarget(async (request, response) => {
      bodies.push(await text(request));
      response.end();
    });
    const { client, gateway } = await startFront({ forwardTo: target.url });
    const path = `${QUERY}?query=%7Ba%3D%22b%22%7D&x=a%2Fb`;
    await client.send({
      method: 'POST',
      path,
      headers: {
        authorization: 'Basic YWNtZTp0b2tlbg==',
        'x-scope-orgid': 'a|b',
        'x-forwarded-for': '192.0.2.7',
        'x-forwarded-proto': 'https',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'limit=5',
    });
    const [{ method, url, headers }] = target.requests;
    expect([method, url, bodies]).toEqual(['POST', path, ['limit=5']]);
    expect(headers).toMatchObject({
      authorization: 'Basic YWNtZTp0b2tlbg==',
      'x-scope-orgid': 'a|b',
      'x-forwarded-for': '192.0.2.7, 127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': new URL(gateway.url).host,
      host: new URL(target.url).host,
      'content-length': '7',
    });
  });

  test('lose the headers of their connection, and those that Connection names', async () => {
    const target = await startTarget((_, response) => {
      response.setHeader('connection', 'close, x-hop');
      response.setHeader('x-hop', '1');
      response.setHeader('proxy-authenticate', 'Basic');
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.setHeader('x-request-id', 'of-target');
      response.writeHead(418, 'Tea').end('short');
    });
    const { client } = await startFront({ forwardTo: target.url });
    const answer = await client.send({
      path: QUERY,
      headers: {
        connection: 'keep-alive, X-Mine',
        'x-mine': '1',
        te: 'trailers',
        'proxy-authorization': 'x',
      },
    });
    expect([answer.status, answer.text]).toEqual([418, 'short']);
    expect(answer.headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], 'x-request-id': 'of-target' });
    for (const name of ['x-hop', 'proxy-authenticate']) expect(answer.headers[name]).toBeUndefined();
    const [{ headers }] = target.requests;
    for (const name of ['x-mine', 'te', 'proxy-authorization', 'transfer-encoding'])
      expect([name, headers[name]]).toEqual([name, undefined]);
  });

  test('stream in both directions, without a copy of the whole in this process', async () => {
    const size = 8 * 1024 * 1024;
    const target = await startTarget(async (request, response) => {
      const { length } = await buffer(request);
      response.write(`${length} `);
      for (let i = 0; i < size; i += 65_536) {
        if (!response.write(Buffer.alloc(65_536, 'x')))
          await new Promise(resolve => response.once('drain', resolve));
      }
      response.end();
    });
    const { client } = await startFront(
      { forwardTo: target.url, maxBufferedBodyBytes: 100_000 },
      { maxBodySize: size },
    );
    const { bytes, headers } = await client.send({ method: 'POST', path: QUERY, body: Buffer.alloc(size) });
    expect(bytes.length).toBe(size + `${size} `.length);
    expect(headers['transfer-encoding']).toBe('chunked');
  });

  test('use no other host than the configured one, whatever the client names', async () => {
    const target = await startTarget((request, response) => response.end(`target ${request.url}`));
    const other = await startTarget((_, response) => response.end('other'));
    const { gateway } = await startFront({ forwardTo: target.url });
    const otherHost = new URL(other.url).host;
    const lines = [
      [`GET ${other.url}${QUERY} HTTP/1.1`, `target ${QUERY}`],
      [`GET //${otherHost}/x HTTP/1.1`, `target //${otherHost}/x`],
      [`GET /@${otherHost}/x HTTP/1.1`, `target /@${otherHost}/x`],
      ['OPTIONS * HTTP/1.1', 'the request has no path'],
    ];
    for (const [line, expected] of lines) {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.write(
        `${line}\r\nHost: ${otherHost}\r\nX-Forwarded-Host: ${otherHost}\r\nConnection: close\r\n\r\n`,
      );
      expect(await text(socket)).toContain(expected);
    }
    const tunnel = connect(gateway.port, '127.0.0.1');
    tunnel.write(`CONNECT ${otherHost} HTTP/1.1\r\nHost: ${otherHost}\r\n\r\n`);
    expect(await text(tunnel)).toBe('');
    expect(other.requests).toEqual([]);
  });
});

describe('a failure', () => {
  test('of the target is 502, and says what to do', async () => {
    const target = await startTarget(() => {});
    target.server.close();
    const { client } = await startFront({ forwardTo: target.url });
    const answer = await client.send({ path: QUERY });
    expect([answer.status, answer.text]).toEqual([
      502,
      'cannot reach the store at forward_to (ECONNREFUSED); retry later\n',
    ]);
    const posted = await client.send({ method: 'POST', path: QUERY, body: Buffer.alloc(500_000) });
    expect(posted.status).toBe(502);
    // Pushes do not depend on it.
    expect((await client.send({ method: 'POST', path: '/loki/api/v1/push', body: 'x' })).status).toBe(200);
  });

  test('is 504 if the target is silent', async () => {
    const target = await startTarget(() => {});
    const { client } = await startFront({ forwardTo: target.url }, { silentMs: 50 });
    const { status, text: said } = await client.send({ path: QUERY });
    expect([status, said]).toEqual([504, expect.stringContaining('did not respond in time')]);
  });

  test('within the response ends the connection, so that a part is not taken for the whole', async () => {
    const target = await startTarget((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('part');
      setImmediate(() => response.destroy());
    });
    const { client } = await startFront({ forwardTo: target.url });
    await expect(client.send({ path: QUERY })).rejects.toThrow();
  });

  test('of an idle connection is not seen: a request without a body is sent again', async () => {
    const seen = new Set<unknown>();
    let closed = 0;
    const target = await startTarget(({ socket }, response) => {
      // The second request of a connection finds it closed.
      if (seen.has(socket)) {
        closed++;
        socket.resetAndDestroy();
      } else response.end('ok');
      seen.add(socket);
    });
    const { client } = await startFront({ forwardTo: target.url });
    for (let i = 0; i < 3; i++) expect((await client.send({ path: QUERY })).text).toBe('ok');
    expect(closed).toBe(2);
  });

  test('of the client cancels the request at the target', async () => {
    let isGone = false;
    const target = await startTarget(request => request.socket.once('close', () => (isGone = true)));
    const { gateway } = await startFront({ forwardTo: target.url });
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(`GET ${QUERY} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until(async () => target.requests.length === 1);
    socket.destroy();
    await until(async () => isGone);
  });

  test('within a body cancels the request at the target', async () => {
    let isGone = false;
    const target = await startTarget(request => request.socket.once('close', () => (isGone = true)));
    const { gateway } = await startFront({ forwardTo: target.url });
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(`POST ${QUERY} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\npart`);
    await until(async () => target.requests.length === 1);
    socket.destroy();
    await until(async () => isGone);
  });

  test('is 508 in a circle', async () => {
    const settings: { forwardTo: string } = { forwardTo: 'http://127.0.0.1:1' };
    const last = await startFront(settings);
    const first = await startFront({ forwardTo: last.gateway.url });
    expect(await first.client.send({ path: QUERY })).toMatchObject({
      status: 508,
      text: expect.stringContaining('forward_to leads to a process that forwards'),
    });
  });

  test('does not follow from a stop: requests that are forwarded complete', async () => {
    const answers: ServerResponse[] = [];
    const target = await startTarget((_, response) => answers.push(response));
    const { client, gateway, forwarding } = await startFront({ forwardTo: target.url });
    const running = client.send({ path: QUERY });
    await until(async () => answers.length === 1);
    forwarding.endTails();
    const stopped = gateway.stop();
    answers[0].end('complete');
    expect((await running).text).toBe('complete');
    await stopped;
  });
});

describe('limits', () => {
  test('a body over the limit is 413, declared or not', async () => {
    const target = await startTarget(async (request, response) =>
      response.end(`${(await buffer(request)).length}`),
    );
    const { client, gateway } = await startFront({ forwardTo: target.url }, { maxBodySize: 1000 });
    expect((await client.send({ method: 'POST', path: QUERY, body: Buffer.alloc(1000) })).text).toBe('1000');
    expect((await client.send({ method: 'POST', path: QUERY, body: Buffer.alloc(1001) })).status).toBe(413);
    expect(target.requests).toHaveLength(1);
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      `POST ${QUERY} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    socket.write(`3e9\r\n${'x'.repeat(1001)}\r\n0\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('a chunked body arrives whole, also after Expect', async () => {
    const target = await startTarget(async (request, response) => response.end(await text(request)));
    const { gateway } = await startFront({ forwardTo: target.url });
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      `POST ${QUERY} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    await new Promise(resolve => socket.once('readable', resolve));
    socket.write('5\r\nfirst\r\n4\r\nlast\r\n0\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toContain('100 Continue');
    expect(answer).toContain('firstlast');
    expect(target.requests[0].headers.expect).toBeUndefined();
  });

  test('a response before the end of the body reaches a client that still sends', async () => {
    const target = await startTarget((_, response) => response.writeHead(401).end('no'));
    const { client } = await startFront({ forwardTo: target.url }, { maxBodySize: 10_000_000 });
    for (let i = 0; i < 3; i++) {
      const { status, text: said } = await client.send({
        method: 'POST',
        path: QUERY,
        body: Buffer.alloc(5_000_000),
      });
      expect([status, said]).toEqual([401, 'no']);
    }
  });

  test('queries do not use all slots, so pushes find free ones', async () => {
    const target = await startTarget(() => {});
    const { client, gateway } = await startFront({ forwardTo: target.url }, { maxConcurrentRequests: 4 });
    const many = createClient(gateway.url, 10);
    closing.push(() => many.close());
    const statuses: (number | undefined)[] = [];
    for (let i = 0; i < 6; i++)
      many.send({ path: QUERY }).then(
        ({ status }) => statuses.push(status),
        () => undefined,
      );
    await until(async () => target.requests.length === 2 && statuses.length === 4);
    expect(statuses).toEqual([503, 503, 503, 503]);
    expect((await client.send({ method: 'POST', path: '/loki/api/v1/push', body: 'x' })).status).toBe(200);
  });
});

describe('settings', () => {
  const forwardingOf = (logboom: Partial<Config['logboom']>, target: Config['auth']['target'] = 'write') =>
    createForwarding({
      config: {
        ...DEFAULT_CONFIG,
        auth: { ...DEFAULT_CONFIG.auth, target },
        logboom: { ...DEFAULT_CONFIG.logboom, ...logboom },
      },
      log,
    });

  test('nothing is forwarded by default', () => {
    expect(forwardingOf({})).toBeUndefined();
  });

  test.each([
    [{ forwardTo: 'logs.example.com' }, /must be an address such as/],
    [{ forwardTo: 'ftp://logs.example.com' }, /must be an address such as/],
    [{ forwardTo: 'https://a:b@logs.example.com' }, /without a login/],
    [{ forwardTo: 'https://logs.example.com/loki' }, /must have no path/],
    [{ forwardTailsTo: 'https://logs.example.com' }, /forward_tails_to needs logboom.forward_to/],
  ])('%j is refused', (settings, message) => {
    expect(() => forwardingOf(settings)).toThrow(message);
  });

  test('a process that accepts no pushes cannot forward', () => {
    expect(() => forwardingOf({ forwardTo: 'https://a.b' }, 'read')).toThrow(/not for the target read/);
  });
});
