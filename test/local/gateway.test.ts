/** The gateway through real sockets: what fetch sees, and what only raw bytes can do. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { type Gateway, type GatewayLimits, type GatewayOptions, startGateway } from '../../local/gateway.ts';
import { createLog } from '../../shared/base/runtime/log.ts';
import type { HttpRequest, HttpResponse } from '../../shared/server/http/message.ts';
import { text } from '../../shared/server/http/respond.ts';
import { until } from '../support/until.ts';

const LIMITS: GatewayLimits = {
  ofRequest: () => ({ cost: 'push', maxBodyBytes: 100_000 }),
  maxConcurrentRequests: 50,
  maxBufferedBodyBytes: 1_000_000,
  readTimeoutMs: 10_000,
  writeTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
  drainTimeoutMs: 10_000,
};

const open: Gateway[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(open.splice(0).map(gateway => gateway.stop()));
});

type Dispatch = GatewayOptions['dispatch'];

/** Takes time, like the guard of the store, which checks tokens: bytes arrive in the meantime. */
async function admit(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await immediate();
}

async function start(dispatch: Dispatch, limits: Partial<GatewayLimits> = {}): Promise<Gateway> {
  const gateway = await startGateway({
    host: '127.0.0.1',
    port: 0,
    dispatch,
    admit,
    limits: { ...LIMITS, ...limits },
    log: createLog('silent'),
  });
  open.push(gateway);
  return gateway;
}

/** Answers with what it got. */
const echo: Dispatch = async ({ method, path, rawQuery, headers, body, id }) => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'x-echo-id': id },
  body: JSON.stringify({
    method,
    path,
    rawQuery,
    type: headers['content-type'],
    body: Buffer.from(body).toString(),
  }),
});

/** A raw connection: the received bytes, and a wait for more. */
async function raw(gateway: Gateway) {
  const socket = connect(gateway.port, '127.0.0.1');
  sockets.push(socket);
  let received = '';
  let ended = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of [...waiting]) check();
  };
  socket.on('data', chunk => {
    received += chunk.toString('latin1');
    wake();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    ended = true;
    wake();
  });
  const untilReceived = (done: () => boolean) =>
    new Promise<string>(resolve => {
      const check = () => {
        if (!done()) return;
        waiting.delete(check);
        resolve(received);
      };
      waiting.add(check);
      check();
    });
  await new Promise(resolve => socket.once('connect', resolve));
  return {
    socket,
    write: (data: string | Uint8Array) => void socket.write(data),
    received: () => received,
    /** Everything, once a text has come `times` times. */
    seen: (piece: string, times = 1) => untilReceived(() => received.split(piece).length > times),
    closed: () => untilReceived(() => ended),
  };
}

/** A dispatch that the test lets go. */
function held(answer: HttpResponse = text('done')) {
  const requests: HttpRequest[] = [];
  const releases: (() => void)[] = [];
  let arrived = () => {};
  const dispatch: Dispatch = request => {
    requests.push(request);
    arrived();
    return new Promise(resolve => releases.push(() => resolve(answer)));
  };
  const come = async (count: number) => {
    while (requests.length < count) await new Promise<void>(resolve => (arrived = resolve));
  };
  const releaseAll = () => {
    for (const release of releases.splice(0)) release();
  };
  return { dispatch, requests, come, releaseAll };
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: h\r\n${more}\r\n`;
const post = (path: string, length: number, more = '') =>
  `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: ${length}\r\n${more}\r\n`;

describe('requests and answers', () => {
  test('a request becomes a plain value, the answer is sent with its length and the id', async () => {
    const { url } = await start(echo);
    const response = await fetch(`${url}/a%2Fb/c?x=1&x=%20`, {
      method: 'POST',
      body: 'hällo',
      headers: { 'content-type': 'text/x', 'x-request-id': 'mine' },
    });
    expect(await response.json()).toEqual({
      method: 'POST',
      path: '/a%2Fb/c',
      rawQuery: 'x=1&x=%20',
      type: 'text/x',
      body: 'hällo',
    });
    const id = response.headers.get('x-request-id');
    expect(id).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/);
    expect(response.headers.get('x-echo-id')).toBe(id);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(0);
  });

  test.each([
    ['/x', '/x', ''],
    ['/x?', '/x', ''],
    ['/x?a=b?c', '/x', 'a=b?c'],
    ['http://other:1/x?a', '/x', 'a'],
    ['http://other', '/', ''],
    ['http://other?a', '/', 'a'],
    ['//x//y', '//x//y', ''],
  ])('target %s', async (target, path, rawQuery) => {
    const client = await raw(await start(echo));
    client.write(Buffer.from(get(target, 'Connection: close\r\n'), 'latin1'));
    const answer = await client.closed();
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ path, rawQuery });
  });

  test.each<[string, Partial<HttpResponse>, string]>([
    ['text in UTF-8', { body: 'é' }, 'é'],
    ['bytes', { body: Buffer.from('abc') }, 'abc'],
    ['nothing', { status: 204, body: '' }, ''],
    ['a status without a name', { status: 260, body: 'blocked\n' }, 'blocked\n'],
  ])('%s', async (_, answer, want) => {
    const { url } = await start(async () => ({
      status: 200,
      headers: { 'x-own': '1' },
      body: '',
      ...answer,
    }));
    const response = await fetch(url);
    expect(response.status).toBe(answer.status ?? 200);
    expect(response.headers.get('x-own')).toBe('1');
    expect(await response.text()).toBe(want);
  });

  test('HEAD gets the head alone', async () => {
    const client = await raw(await start(async () => text('body')));
    client.write(`HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    const answer = await client.closed();
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*content-length: 4\r\n[\s\S]*\r\n\r\n$/);
  });

  test('a dispatch that throws is a 500 without internals', async () => {
    const { url } = await start(async () => {
      throw new Error('secret');
    });
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe(
      `internal error, request id ${response.headers.get('x-request-id')}\n`,
    );
  });

  test('a connection serves many requests', async () => {
    const gateway = await start(echo);
    let connections = 0;
    gateway.server.on('connection', () => connections++);
    const client = await raw(gateway);
    for (let i = 1; i <= 5; i++) {
      client.write(post('/', 3) + 'abc');
      await client.seen('HTTP/1.1 200', i);
    }
    expect(connections).toBe(1);
  });

  test('pipelined requests are answered in their order', async () => {
    const order: string[] = [];
    const client = await raw(
      await start(async ({ path }) => {
        await delay(path === '/1' ? 50 : 1);
        order.push(path);
        return text(`answer ${path}`);
      }),
    );
    client.write(get('/1') + post('/2', 2) + 'ab' + get('/3', 'Connection: close\r\n'));
    const answers = await client.closed();
    expect(answers.match(/answer \/\d/g)).toEqual(['answer /1', 'answer /2', 'answer /3']);
    expect(order[2]).toBe('/1');
  });

  test('answers many concurrent requests', async () => {
    const { url } = await start(echo);
    const bodies = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const response = await fetch(url, { method: 'POST', body: `body ${i}` });
        return ((await response.json()) as { body: string }).body;
      }),
    );
    expect(bodies).toEqual(Array.from({ length: 40 }, (_, i) => `body ${i}`));
  });
});

describe('bodies', () => {
  test('frees the received chunks of a large body at once', async () => {
    const sizes: number[] = [];
    const transfer = ArrayBuffer.prototype.transfer;
    const freed = jest.spyOn(ArrayBuffer.prototype, 'transfer').mockImplementation(function (
      this: ArrayBuffer,
      length,
    ) {
      sizes.push(this.byteLength);
      return transfer.call(this, length);
    });
    try {
      const received: number[] = [];
      const dispatch: Dispatch = async ({ body }) => {
        received.push(body.length, ...body.subarray(0, 3), body[body.length - 1]);
        return text('');
      };
      const gateway = await start(dispatch, {
        ofRequest: () => ({ cost: 'push', maxBodyBytes: 1_000_000 }),
      });
      const body = Buffer.alloc(500_000, 'abc');
      expect((await fetch(gateway.url, { method: 'POST', body })).status).toBe(200);
      expect(received).toEqual([500_000, 97, 98, 99, 98]);
      // A chunk at the start or the end of the body may be small.
      const total = sizes.reduce((sum, size) => sum + size, 0);
      expect(total).toBeGreaterThan(500_000 - 64 * 1024);
      expect(total).toBeLessThanOrEqual(500_000);
    } finally {
      freed.mockRestore();
    }
  });

  const whole = Buffer.alloc(100_000, 'abcdefg');
  const digest: Dispatch = async ({ body }) => text(String(Buffer.compare(Buffer.from(body), whole)));

  test('accepts a body of maximum size, in parts', async () => {
    const client = await raw(await start(digest));
    client.write(post('/', whole.length, 'Connection: close\r\n'));
    for (let at = 0; at < whole.length; at += 33_333) {
      client.write(whole.subarray(at, at + 33_333));
      await delay(1);
    }
    expect(await client.closed()).toMatch(/\r\n\r\n0$/);
  });

  test('accepts chunked bodies of the largest size, and empty ones', async () => {
    const client = await raw(await start(digest));
    const head = 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n';
    client.write(head);
    for (let at = 0; at < whole.length; at += 9999) {
      const piece = whole.subarray(at, at + 9999);
      client.write(
        Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
      );
    }
    client.write('0\r\n\r\n');
    expect(await client.seen('200 OK')).toMatch(/\r\n\r\n0$/);
    client.write(`${head}0\r\n\r\n`);
    expect(await client.seen('200 OK', 2)).toMatch(/\r\n\r\n-1$/);
  });

  test('refuses a body over the limit by its declared length, before any of it is read', async () => {
    let dispatched = 0;
    const gateway = await start(async () => {
      dispatched++;
      return text('');
    });
    const client = await raw(gateway);
    client.write(post('/', 100_001));
    const answer = await client.seen('100000)\n');
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    expect(answer).toMatch(/\r\nx-request-id: /);
    expect(answer).toMatch(
      /\r\n\r\nrequest body too large: message size too large than max \(100001 vs 100000\)\n$/,
    );
    client.write(Buffer.alloc(100_001));
    await client.closed();
    expect(dispatched).toBe(0);
  });

  test('a client that sends all of a body over the limit gets the answer and no reset', async () => {
    const { url } = await start(echo);
    const response = await fetch(url, { method: 'POST', body: Buffer.alloc(20_000_000) });
    expect(response.status).toBe(413);
    expect(await response.text()).toMatch(/^request body too large: .*\(20000000 vs 100000\)\n$/);
  });

  test('refuses a chunked body over the limit while it is read', async () => {
    const client = await raw(await start(echo));
    client.write('POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n');
    const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    for (let i = 0; i < 50; i++) client.write(piece);
    expect(await client.seen(')\n')).toMatch(/^HTTP\/1\.1 413 [\s\S]*\(100001 vs 100000\)\n$/);
    client.write('0\r\n\r\n');
    await client.closed();
  });

  test('100-continue: sent if the body is welcome', async () => {
    const client = await raw(await start(echo));
    client.write(post('/', 3, 'Expect: 100-continue\r\nConnection: close\r\n'));
    expect(await client.seen('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.write('abc');
    expect(await client.closed()).toMatch(/HTTP\/1\.1 200 OK[\s\S]*"body":"abc"/);
  });

  test('100-continue: refused if it is too large', async () => {
    const client = await raw(await start(echo));
    client.write(post('/', 100_001, 'Expect: 100-continue\r\n'));
    expect(await client.seen(')\n')).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('a body beyond the bytes that all requests may hold gets 503, and is accepted again later', async () => {
    const waiting = held();
    const gateway = await start(waiting.dispatch, { maxBufferedBodyBytes: 150_000 });
    const first = fetch(gateway.url, { method: 'POST', body: Buffer.alloc(100_000) });
    await waiting.come(1);
    const second = await fetch(gateway.url, { method: 'POST', body: Buffer.alloc(100_000) });
    expect(second.status).toBe(503);
    expect(await second.text()).toBe('The server cannot accept more requests at this time.\n');
    const chunked = await raw(gateway);
    chunked.write('POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n');
    chunked.write(`ea60\r\n${'x'.repeat(60_000)}\r\n`);
    expect(await chunked.seen('at this time.\n')).toMatch(/^HTTP\/1\.1 503 /);
    waiting.releaseAll();
    expect((await first).status).toBe(200);
    const third = fetch(gateway.url, { method: 'POST', body: Buffer.alloc(100_000) });
    await waiting.come(2);
    waiting.releaseAll();
    expect((await third).status).toBe(200);
  });

  test('large ones are not reused before their response, and never after an error', async () => {
    const held: Uint8Array[] = [];
    let release = () => {};
    const released = new Promise<void>(resolve => {
      release = resolve;
    });
    const gateway = await start(async request => {
      const isFirst = request.path === '/held';
      if (isFirst || request.path === '/refused') held.push(request.body);
      if (isFirst) await released;
      return request.path === '/refused' ? { status: 400, headers: {}, body: '' } : echo(request);
    });
    const post = async (path: string, letter: string): Promise<string> => {
      const body = letter.repeat(80_000);
      const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', body });
      const said = await answer.text();
      return answer.status === 200 ? (JSON.parse(said) as { body: string }).body : said;
    };
    await post('/', 'a');
    const first = post('/held', 'b');
    await post('/refused', 'c');
    for (const letter of ['d', 'e', 'f']) expect(await post('/', letter)).toBe(letter.repeat(80_000));
    release();
    expect(await first).toBe('b'.repeat(80_000));
    expect(held.map(body => Buffer.from(body).toString())).toContain('c'.repeat(80_000));
  });

  test('a client that disconnects inside its body releases its bytes', async () => {
    const waiting = held();
    const gateway = await start(waiting.dispatch, { maxBufferedBodyBytes: 100_000 });
    for (let i = 0; i < 3; i++) {
      const client = await raw(gateway);
      client.write(post('/', 100_000) + 'some');
      await delay(20);
      client.socket.destroy();
      await delay(20);
    }
    const whole = fetch(gateway.url, { method: 'POST', body: Buffer.alloc(100_000) });
    await waiting.come(1);
    waiting.releaseAll();
    expect((await whole).status).toBe(200);
    expect(waiting.requests).toHaveLength(1);
  });
});

describe('the number of requests', () => {
  test('requests beyond the limit get 503 immediately, and are accepted again later', async () => {
    const waiting = held();
    const { url } = await start(waiting.dispatch, { maxConcurrentRequests: 2 });
    const first = [fetch(url), fetch(url)];
    await waiting.come(2);
    const third = await fetch(url);
    expect([third.status, await third.text()]).toEqual([
      503,
      'The server cannot accept more requests at this time.\n',
    ]);
    waiting.releaseAll();
    for (const response of await Promise.all(first)) expect(response.status).toBe(200);
    const fourth = fetch(url);
    await waiting.come(3);
    waiting.releaseAll();
    expect((await fourth).status).toBe(200);
  });

  test('pipelined requests of a client that went away count no longer', async () => {
    const waiting = held();
    const gateway = await start(waiting.dispatch, { maxConcurrentRequests: 3 });
    const client = await raw(gateway);
    client.write(get('/') + get('/') + get('/'));
    await waiting.come(3);
    client.socket.destroy();
    await until(() => waiting.requests.every(request => request.signal.aborted));
    waiting.releaseAll();
    await delay(5);
    const next = fetch(gateway.url);
    await waiting.come(4);
    waiting.releaseAll();
    expect((await next).status).toBe(200);
  });
});

describe('slots and memory that requests take from each other', () => {
  const head = (length: number) => post('/', length);

  test('a request that does not send its body yields its slot to one that does', async () => {
    const gateway = await start(echo, { maxConcurrentRequests: 2 });
    const stalled = [await raw(gateway), await raw(gateway)];
    for (const client of stalled) {
      client.write(`${head(10)}abc`);
      await delay(20);
    }
    const answer = await fetch(gateway.url, { method: 'POST', body: 'abc' });
    expect(answer.status).toBe(200);
    expect(await stalled[0].closed()).toMatch(/^HTTP\/1\.1 503 /);
    stalled[1].write('defghij');
    expect(await stalled[1].seen('abcdefghij')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a request that is being answered keeps its slot', async () => {
    const waiting = held();
    const gateway = await start(waiting.dispatch, { maxConcurrentRequests: 1 });
    const first = fetch(gateway.url, { method: 'POST', body: 'abc' });
    await waiting.come(1);
    expect((await fetch(gateway.url, { method: 'POST', body: 'abc' })).status).toBe(503);
    waiting.releaseAll();
    expect((await first).status).toBe(200);
  });

  test('requests of a kind leave slots to others, and light ones have their own', async () => {
    const waiting = held();
    const costs = {
      '/push': 'push',
      '/query': 'query',
      '/light': 'light',
      '/upkeep': 'maintenance',
    } as const;
    const gateway = await start(waiting.dispatch, {
      maxConcurrentRequests: 8,
      ofRequest: (_, path) => ({ cost: costs[path as '/push'], maxBodyBytes: 10 }),
    });
    const asked: Promise<globalThis.Response>[] = [];
    const ask = async (path: string, count: number) => {
      const come = waiting.requests.length + count;
      for (let i = 0; i < count; i++) asked.push(fetch(`${gateway.url}${path}`, { method: 'POST' }));
      await waiting.come(come);
    };
    const isRefused = async (path: string) =>
      (await fetch(`${gateway.url}${path}`, { method: 'POST' })).status === 503;
    await ask('/query', 4);
    expect(await isRefused('/query')).toBe(true);
    await ask('/upkeep', 1);
    expect(await isRefused('/upkeep')).toBe(true);
    await ask('/push', 3);
    expect(await isRefused('/push')).toBe(true);
    await ask('/light', 20);
    waiting.releaseAll();
    for (const one of asked) expect((await one).status).toBe(200);
  });

  test('a declared length takes no memory from others before its bytes are there', async () => {
    const gateway = await start(echo, { maxBufferedBodyBytes: 800_000 });
    const stalled = await Promise.all(Array.from({ length: 10 }, () => raw(gateway)));
    for (const client of stalled) client.write(head(100_000));
    await delay(30);
    const answer = await fetch(gateway.url, { method: 'POST', body: 'x'.repeat(90_000) });
    expect(answer.status).toBe(200);
  });

  test('a body that comes slowly gives its memory to others', async () => {
    const gateway = await start(echo, { maxBufferedBodyBytes: 150_000 });
    const stalled = await raw(gateway);
    stalled.write(`${head(100_000)}${'x'.repeat(99_000)}`);
    // Longer than a body is left alone however slow it is, and so long that it counts as slow.
    await delay(2_000);
    const answer = await fetch(gateway.url, { method: 'POST', body: 'x'.repeat(90_000) });
    expect(answer.status).toBe(200);
    expect(await stalled.closed()).toMatch(/^HTTP\/1\.1 503 /);
  });

  test('refuses an unknown expectation', async () => {
    const client = await raw(await start(echo));
    client.write(post('/', 3, 'Expect: a miracle\r\n'));
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 417 /);
  });
});

describe('time', () => {
  test('the signal aborts when the client disconnects', async () => {
    const waiting = held();
    const gateway = await start(waiting.dispatch);
    const client = await raw(gateway);
    client.write(get('/'));
    await waiting.come(1);
    const { signal } = waiting.requests[0];
    expect(signal.aborted).toBe(false);
    client.socket.destroy();
    await new Promise(resolve => signal.addEventListener('abort', resolve));
    expect((signal.reason as Error).name).toBe('AbortError');
    waiting.releaseAll();
  });

  test('the signal of an answered request stays quiet', async () => {
    const waiting = held();
    const gateway = await start(waiting.dispatch);
    const client = await raw(gateway);
    client.write(get('/'));
    await waiting.come(1);
    waiting.releaseAll();
    await client.seen('done');
    client.socket.destroy();
    await delay(30);
    expect(waiting.requests[0].signal.aborted).toBe(false);
  });

  test('a client that has only ended its side gets its answer', async () => {
    const client = await raw(await start(echo));
    client.socket.end(get('/'));
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test.each([
    ['head', 'GET / HTTP/1.1\r\nHos'],
    ['body', `${post('/', 10)}abc`],
    ['chunked body', 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['last line of a chunked body', 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n'],
  ])('a %s that does not arrive in time: 408', async (_, part) => {
    const client = await raw(await start(echo, { readTimeoutMs: 100 }));
    client.write(part);
    expect(await client.closed()).toMatch(
      /^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*\r\n\r\n(?:408 )?Request Timeout\n?$/,
    );
  });

  test('an idle connection is closed', async () => {
    const client = await raw(await start(echo, { idleTimeoutMs: 50 }));
    client.write(get('/'));
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('a client that does not take its answer is cut off', async () => {
    const huge = Buffer.alloc(64 * 1024 * 1024);
    const gateway = await start(async () => ({ status: 200, headers: {}, body: huge }), {
      writeTimeoutMs: 100,
    });
    const client = await raw(gateway);
    client.socket.pause();
    client.write(get('/'));
    const connections = () =>
      new Promise<number>(resolve => gateway.server.getConnections((_, count) => resolve(count)));
    await until(async () => (await connections()) === 0);
    expect(client.socket.bytesRead).toBeLessThan(huge.length);
  });
});

describe('refuses input that is not HTTP', () => {
  test.each([
    ['nonsense', 'hello there\r\n\r\n', 400],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: h\r\nbroken\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['a space before the colon', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 1\r\n\r\na', 400],
    [
      'chunks that are not last',
      'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a line end within a header', 'GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n', 400],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n', 400],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n', 400],
    ['a broken chunk', 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
    [
      'a broken second chunk',
      'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n',
      400,
    ],
    ['a head without end', `GET / HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(200_000)}`, 431],
    ['bytes in the target', 'GET /\u00c3\u00a9 HTTP/1.1\r\nHost: h\r\n\r\n', 400],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00', 400],
  ])('%s', async (_, bytes, status) => {
    const gateway = await start(echo);
    const client = await raw(gateway);
    client.write(Buffer.from(bytes, 'latin1'));
    const answer = await client.closed();
    expect(answer.match(/HTTP\/1\.1 (\d+)/g)).toEqual([`HTTP/1.1 ${status}`]);
    expect((await fetch(gateway.url)).status).toBe(200);
  });

  test('follows the responses to earlier requests', async () => {
    const client = await raw(
      await start(async () => {
        await delay(30);
        return text('good');
      }),
    );
    client.write(`${get('/')}nonsense\r\n\r\n`);
    const answer = await client.closed();
    expect(answer.match(/HTTP\/1\.1 (\d+)/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(answer).toMatch(/good/);
  });

  test('a reset is nothing to speak of', async () => {
    const gateway = await start(echo);
    for (const part of ['', 'GET /', get('/'), `${post('/', 10)}a`]) {
      const client = await raw(gateway);
      client.write(part);
      client.socket.resetAndDestroy();
    }
    await delay(20);
    expect((await fetch(gateway.url)).status).toBe(200);
  });
});

describe('stopping', () => {
  test('running requests end, new connections are refused, the connection closes after its response', async () => {
    const waiting = held();
    const gateway = await start(waiting.dispatch);
    const idle = await raw(gateway);
    const client = await raw(gateway);
    client.write(get('/'));
    await waiting.come(1);
    const stopped = gateway.stop();
    await idle.closed();
    await expect(fetch(gateway.url)).rejects.toThrow();
    waiting.releaseAll();
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*Connection: close\r\n[\s\S]*done$/i);
    await stopped;
    expect(gateway.stop()).toBe(stopped);
  });

  test('a body that is on its way may still arrive', async () => {
    const gateway = await start(echo);
    const client = await raw(gateway);
    client.write(`${post('/', 6)}abc`);
    await delay(30);
    const stopped = gateway.stop();
    client.write('def');
    expect(await client.closed()).toMatch(/"body":"abcdef"/);
    await stopped;
  });

  test('reports and cuts off requests that do not end in time', async () => {
    const waiting = held();
    const gateway = await start(waiting.dispatch, { drainTimeoutMs: 50 });
    const client = await raw(gateway);
    client.write(get('/'));
    await waiting.come(1);
    await gateway.stop();
    expect(await client.closed()).toBe('');
    expect(waiting.requests[0].signal.aborted).toBe(true);
    waiting.releaseAll();
  });

  test('a taken port is an error with its code', async () => {
    const gateway = await start(echo);
    const { port } = gateway;
    const second = startGateway({
      host: '127.0.0.1',
      port,
      dispatch: echo,
      limits: LIMITS,
      log: createLog('silent'),
    });
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
