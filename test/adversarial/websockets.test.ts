/** Handshakes and frames of clients that make a tail's connection cost more than it should. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { report, startProbe, statusesOf, UNDISTURBED } from './support/probe.ts';
import { type RawClient, rawClient, statusesIn } from './support/raw-client.ts';
import { MAX_OWN_CONNECTIONS, startVictim, untilFewConnections, type Victim } from './support/victim.ts';

const CONFIG = `
auth_enabled: true
server: {log_level: error, http_server_read_timeout: 2s, http_server_write_timeout: 2s, http_server_idle_timeout: 3s}
`;
const TAIL = '/loki/api/v1/tail?query=%7Ba%3D%22b%22%7D';
/** Concurrent connections of the probe. */
const PROBES = 3;

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim(CONFIG);
});
afterAll(() => victim.stop());

const KEY = randomBytes(16).toString('base64');

function upgrade(path: string, more = '', key = `Sec-WebSocket-Key: ${KEY}\r\n`): string {
  const head = 'Host: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
  return `GET ${path} HTTP/1.1\r\n${head}${key}${more}\r\n`;
}

/** A client frame with a mask of zeros. */
function frame(opcode: number, payload: Uint8Array, isLast = true, declared = payload.length): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(declared));
  const head = [(isLast ? 0x80 : 0) | opcode, declared < 126 ? 0x80 | declared : 0xff];
  return Buffer.concat([
    Buffer.from(head),
    declared < 126 ? Buffer.alloc(0) : length,
    Buffer.alloc(4),
    payload,
  ]);
}

async function tails(tenant: string, count: number): Promise<RawClient[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const client = await rawClient(victim.port, { allowHalfOpen: true });
      client.write(upgrade(TAIL, `X-Scope-OrgID: ${tenant}\r\n`));
      await client.seen('\r\n\r\n');
      expect(statusesIn(client.received())).toEqual([101]);
      return client;
    }),
  );
}

const accepted = createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

test('the handshake of a tail succeeds', async () => {
  const [client] = await tails('hand', 1);
  expect(client.received()).toContain(accepted);
  client.socket.destroy();
});

const TENANT = 'X-Scope-OrgID: acme\r\n';
const HANDSHAKES: readonly (readonly [name: string, bytes: string])[] = [
  ['without a tenant', upgrade(TAIL)],
  ['of a broken query', upgrade('/loki/api/v1/tail?query=%7B', TENANT)],
  ['without a key', upgrade(TAIL, TENANT, '')],
  ['with a broken key', upgrade(TAIL, TENANT, 'Sec-WebSocket-Key: x\r\n')],
  ['with a body that does not come', upgrade(TAIL, `${TENANT}Content-Length: 10\r\n`)],
  ['with a chunked body', `${upgrade(TAIL, `${TENANT}Transfer-Encoding: chunked\r\n`)}ZZ\r\n`],
  ['elsewhere', upgrade('/loki/api/v1/labels', TENANT).replace('13\r\n', '13\r\nContent-Length: 3\r\n')],
  ['of another protocol', upgrade(TAIL, TENANT).replace('Upgrade: websocket', 'Upgrade: h2c')],
];
test.each(HANDSHAKES)(
  'a handshake %s gets one response and is closed, although the client keeps its side open',
  async (_, bytes) => {
    const clients = await Promise.all(
      Array.from({ length: 12 }, () => rawClient(victim.port, { allowHalfOpen: true })),
    );
    for (const client of clients) client.write(bytes);
    for (const client of clients) expect(statusesIn(await client.closed())).toHaveLength(1);
    await untilFewConnections(victim);
    for (const { socket } of clients) socket.destroy();
  },
);

const PING = 0x9;
const TEXT = 0x1;
const CONTINUATION = 0x0;
const FRAMES: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['pings', Buffer.concat(Array.from({ length: 5_000 }, () => frame(PING, Buffer.alloc(100))))],
  ['small messages', Buffer.concat(Array.from({ length: 5_000 }, () => frame(TEXT, Buffer.alloc(10))))],
  ['a message of 100 MB', frame(TEXT, Buffer.alloc(1_000), true, 100_000_000)],
  [
    'fragments of a message without end',
    Buffer.concat([
      frame(TEXT, Buffer.alloc(1_000), false),
      ...Array.from({ length: 100 }, () => frame(CONTINUATION, Buffer.alloc(1_000), false)),
    ]),
  ],
  ['a frame that is none', Buffer.from([0xff, 0xff, 0xff, 0xff])],
  ['a frame without a mask', Buffer.from([0x81, 0x01, 0x61])],
];
test.each(FRAMES)(
  'a tail ends if its client sends %s and reads nothing, and other tails continue',
  async (name, bytes) => {
    const probe = startProbe(victim.url);
    // A tenant may have ten tails.
    const tenants = Array.from({ length: 5 }, (_, i) => `${name.replaceAll(' ', '-')}-${i}`);
    const clients = (await Promise.all(tenants.map(tenant => tails(tenant, 10)))).flat();
    for (const client of clients) {
      client.socket.pause();
      client.write(bytes);
    }
    await untilFewConnections(victim, MAX_OWN_CONNECTIONS + PROBES);
    await probe.answered(2);
    const figures = await probe.stop();
    await report(`50 tails: ${name}`, figures, await victim.memory());
    expect(statusesOf(figures)).toEqual(UNDISTURBED);
    for (const { socket } of clients) socket.destroy();
  },
);
