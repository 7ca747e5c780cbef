/**
 * The assembled store gets requests that are not HTTP, or never complete. It answers or closes each within the
 * time that a request may take to arrive, and serves other clients meanwhile.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logboom } from '../bin/run-command.ts';
import { type RawClient, rawClient, statusesIn } from './support/raw-client.ts';
import { startVictim, untilFewConnections, type Victim } from './support/victim.ts';

const READ_TIMEOUT = '2s';
const CONFIG = `
auth_enabled: true
server:
  log_level: error
  http_server_read_timeout: ${READ_TIMEOUT}
  http_server_write_timeout: 2s
  http_server_idle_timeout: 3s
`;

/** Each passes the gateway differently: a body limit, a deadline, an error format, a guard. */
const TARGETS: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/loki/api/v1/push'],
  ['POST', '/otlp/v1/logs'],
  ['POST', '/_bulk'],
  ['POST', '/loki/api/v1/query_range'],
  ['GET', '/loki/api/v1/query_range?query=%7Ba%3D%22b%22%7D'],
  ['GET', '/loki/api/v1/tail?query=%7Ba%3D%22b%22%7D'],
  ['POST', '/loki/api/v1/delete'],
  ['GET', '/ready'],
  ['GET', '/metrics'],
  ['GET', '/ui/'],
  ['POST', '/unknown'],
  ['POST', '/bro%zzken'],
];

const head = (method: string, path: string, more: string, token = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: h\r\nX-Scope-OrgID: acme\r\n${token}${more}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

/** Headers and body that make a request invalid, sent in one packet. */
const BROKEN: readonly (readonly [name: string, headers: string, body: string])[] = [
  ['a chunk size that is none', CHUNKED, 'ZZ\r\n'],
  ['a second chunk size that is none', CHUNKED, '1\r\na\r\nZZ\r\n'],
  ['a chunk longer than its size', CHUNKED, '1\r\nabcdef\r\n'],
  ['a chunk size beyond 64 bits', CHUNKED, `${'f'.repeat(17)}\r\n`],
  ['a chunk extension of 200 KB', CHUNKED, `1;${'x'.repeat(200_000)}`],
  ['chunk extensions without end', CHUNKED, `1;a=b\r\na\r\n1;${'x'.repeat(300_000)}\r\n`],
  ['a trailer of 200 KB', CHUNKED, `0\r\nX: ${'x'.repeat(200_000)}`],
  ['a trailer that is none', CHUNKED, '0\r\n\0\r\n\r\n'],
  ['a chunk size without a line end', CHUNKED, '5\n'],
];

const UNFINISHED: readonly (readonly [name: string, headers: string, body: string])[] = [
  ['no chunk', CHUNKED, ''],
  ['a chunk that does not end', CHUNKED, 'ff\r\nabc'],
  ['no last chunk', CHUNKED, '1\r\na\r\n'],
  ['no end behind the last chunk', CHUNKED, '0\r\n'],
  ['a trailer that does not end', CHUNKED, '0\r\nX: y\r\n'],
  ['a body that does not come', 'Content-Length: 10\r\n', ''],
  ['half a body', 'Content-Length: 10\r\n', 'abcde'],
  ['100-continue and no body', 'Content-Length: 10\r\nExpect: 100-continue\r\n', ''],
  ['another expectation and no body', 'Content-Length: 10\r\nExpect: something\r\n', ''],
  [
    'an upgrade to WebSocket with a body',
    'Content-Length: 10\r\nConnection: upgrade\r\nUpgrade: websocket\r\n',
    '',
  ],
  ['an upgrade to HTTP/2', 'Content-Length: 10\r\nConnection: upgrade\r\nUpgrade: h2c\r\n', ''],
];

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim(CONFIG);
});
afterAll(() => victim.stop());

/** Several times the timeouts above: a connection that is still open then stays open. */
const OPEN_MS = 12_000;

/**
 * Sends all requests at once, waits until the server has closed each connection, and resolves to the statuses of
 * the responses. The clients keep their side open, as a client does that wants to occupy the server.
 */
async function ends(
  requests: readonly string[],
  send: (client: RawClient, bytes: string) => void,
): Promise<(readonly number[] | 'still open')[]> {
  const clients = await Promise.all(requests.map(() => rawClient(victim.port, { allowHalfOpen: true })));
  try {
    const late = delay(OPEN_MS, 'still open' as const, { ref: false });
    return await Promise.all(
      clients.map(async (client, i) => {
        send(client, requests[i]);
        const answer = await Promise.race([client.closed(), late]);
        return answer === 'still open' ? answer : statusesIn(answer).filter(status => status !== 100);
      }),
    );
  } finally {
    await untilFewConnections(victim);
    for (const { socket } of clients) socket.destroy();
  }
}

const inOnePacket = (client: RawClient, bytes: string) => client.write(bytes);

async function isServed(): Promise<void> {
  const [ready, push] = await Promise.all([
    victim.client.send({ path: '/ready' }),
    victim.client.send({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers: { 'x-scope-orgid': 'other', 'content-type': 'application/json' },
      body: JSON.stringify({ streams: [{ stream: { a: 'b' }, values: [[`${Date.now()}000000`, 'x']] }] }),
    }),
  ]);
  expect([ready.status, push.status]).toEqual([200, 204]);
}

describe('a request that breaks inside its body', () => {
  test.each(BROKEN)(
    'gets one response of every endpoint, and its connection is closed: %s',
    async (_, headers, body) => {
      const requests = TARGETS.map(([method, path]) => head(method, path, headers) + body);
      const answers = await ends(requests, inOnePacket);
      expect(answers).toEqual(TARGETS.map(() => [expect.any(Number)]));
      await isServed();
    },
  );
});

/** Requests of all kinds to all endpoints. */
const unfinished = (token?: string) =>
  UNFINISHED.flatMap(([, headers, body]) =>
    TARGETS.map(([method, path]) => head(method, path, headers, token) + body),
  );

describe('a request that never completes', () => {
  test('gets one response of every endpoint, and its connection is closed', async () => {
    const requests = unfinished();
    const answers = await ends(requests, inOnePacket);
    for (const [i, answer] of answers.entries())
      expect([requests[i], answer]).toEqual([requests[i], [expect.any(Number)]]);
    await isServed();
  });

  const STARTS: readonly (readonly [name: string, bytes: string])[] = [
    ['nothing', ''],
    ['one byte', 'G'],
    ['half a head', 'GET /ready HTTP/1.1\r\nHost: h\r\nX'],
    ['a whole request and half of another', `${head('GET', '/ready', '')}POST /loki`],
    ['a preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nHost: h\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00'],
  ];
  test('has its connection closed, whatever its start was', async () => {
    // At the same time, because each is closed only after a timeout.
    const answers = await ends(
      STARTS.map(([, bytes]) => bytes),
      inOnePacket,
    );
    expect(STARTS.filter((_, i) => answers[i] === 'still open').map(([name]) => name)).toEqual([]);
    await isServed();
  });

  test('a request whose bytes arrive one by one is closed in the same time', async () => {
    const requests = [
      head('POST', '/loki/api/v1/push', 'Content-Length: 100000\r\n'),
      head('POST', '/loki/api/v1/push', CHUNKED) + '1\r\na\r\n'.repeat(10_000),
      `GET /ready HTTP/1.1\r\nHost: h\r\n${'X: y\r\n'.repeat(10_000)}`,
      head('POST', '/loki/api/v1/push', 'Content-Length: 100000\r\n') + 'x'.repeat(100_000),
    ];
    const trickle = (client: RawClient, bytes: string) => {
      let sent = Math.min(60, bytes.length - 1);
      client.write(bytes.slice(0, sent));
      const timer = setInterval(() => {
        if (client.socket.writable) client.write(bytes.slice(sent, ++sent));
        if (sent >= bytes.length) clearInterval(timer);
      }, 20);
      client.socket.once('close', () => clearInterval(timer));
      client.socket.once('end', () => clearInterval(timer));
    };
    const answers = await ends(requests, trickle);
    expect(answers).toEqual(requests.map(() => [408]));
    await isServed();
  });
});

test('a connection with such a request is closed if the client has closed its side', async () => {
  const broken = BROKEN.flatMap(([, headers, body]) =>
    TARGETS.map(([method, path]) => head(method, path, headers) + body),
  );
  const requests = [...broken, ...unfinished()];
  const answers = await ends(
    requests,
    (client, bytes) => void client.socket.end(Buffer.from(bytes, 'latin1')),
  );
  expect(answers).not.toContain('still open');
  await isServed();
});

test('a client without a token, or with a wrong or a read-only one, holds no connection', async () => {
  const anonymous = victim;
  let token = '';
  victim = await startVictim(
    CONFIG.replace(
      'auth_enabled: true',
      'auth_enabled: true\nauth: {tokens_enabled: true, metrics_public: true}',
    ),
    {
      async prepare(config, dataDir) {
        const place = ['--config', config, '--data-dir', dataDir];
        const args = ['--name', 'reader', '--tenant', 'acme', '--scope', 'logs:read', '--expires', '1d'];
        const made = await logboom(['token', 'create', ...args, ...place]);
        token = made.stdout.trim();
      },
    },
  );
  try {
    const requests = [`Authorization: Bearer ${token}\r\n`, '', 'Authorization: Bearer nonsense\r\n'].flatMap(
      header => [
        ...BROKEN.flatMap(([, headers, body]) =>
          TARGETS.map(([method, path]) => head(method, path, headers, header) + body),
        ),
        ...unfinished(header),
      ],
    );
    const answers = await ends(requests, inOnePacket);
    for (const [i, answer] of answers.entries())
      expect([requests[i], answer]).toEqual([requests[i], [expect.any(Number)]]);
    expect((await victim.client.send({ path: '/ready' })).status).toBe(200);
  } finally {
    await victim.stop();
    victim = anonymous;
  }
});
