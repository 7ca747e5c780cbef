/**
 * One client uses as many connections, queries, and as much memory for bodies and responses as it can get. Another
 * tenant pushes, queries and requests `/ready` meanwhile, and is served as usual.
 */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { report, startProbe, statusesOf, UNDISTURBED } from './support/probe.ts';
import { type RawClient, type RawOptions, rawClient, statusesIn } from './support/raw-client.ts';
import { startVictim, untilFewConnections, type Victim, type VictimOptions } from './support/victim.ts';

const CONFIG = 'auth_enabled: true\nserver: {log_level: error}\n';
/** More connections than the store accepts. */
const MANY = 1_200;
/** Requests of each kind that the other tenant completes during an attack. */
const PROBES = 8;

const victims: Victim[] = [];
const clients: RawClient[] = [];
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await Promise.all(victims.splice(0).map(victim => victim.stop()));
});

async function start(yaml = CONFIG, options?: VictimOptions): Promise<Victim> {
  const victim = await startVictim(yaml, options);
  victims.push(victim);
  return victim;
}

async function open(victim: Victim, count: number, options?: RawOptions): Promise<RawClient[]> {
  const opened = await Promise.all(
    Array.from({ length: count }, () => rawClient(victim.port, { allowHalfOpen: true, ...options })),
  );
  clients.push(...opened);
  return opened;
}

/** Statuses of another tenant's responses during the attack, which ends when `attack` resolves. */
async function others(
  victim: Victim,
  attack: () => Promise<unknown>,
): Promise<ReturnType<typeof statusesOf>> {
  const probe = startProbe(victim.url);
  await probe.answered(1);
  await attack();
  await probe.answered(PROBES);
  const figures = await probe.stop();
  await report(expect.getState().currentTestName!, figures, await victim.memory());
  return statusesOf(figures);
}

const head = (more: string, path = '/loki/api/v1/push', method = 'POST') =>
  `${method} ${path} HTTP/1.1\r\nHost: h\r\nX-Scope-OrgID: attacker\r\n${more}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

const IDLE_REQUESTS: readonly [string, string][] = [
  ['a chunk size that is none', `${head(CHUNKED)}ZZ\r\n`],
  ['a chunk extension of 200 KB', `${head(CHUNKED)}1;${'x'.repeat(200_000)}`],
  ['no body', head('Content-Length: 1000\r\n')],
  ['half a body', `${head('Content-Length: 1000\r\n')}${'x'.repeat(500)}`],
  ['a body of 100 MB that does not come', head('Content-Length: 100000000\r\n')],
  ['100-continue', head('Content-Length: 1000\r\nExpect: 100-continue\r\n')],
  ['half a head', 'GET /ready HTTP/1.1\r\nHost: h\r\nX'],
  ['nothing', ''],
  ['a query with half a body', `${head('Content-Length: 1000\r\n', '/loki/api/v1/query_range')}query=`],
];

describe(`${MANY} connections that wait`, () => {
  let victim: Victim;
  beforeAll(async () => {
    victim = await startVictim(CONFIG);
  });
  afterAll(() => victim.stop());

  test.each(IDLE_REQUESTS)('do not block others with %s', async (_, bytes) => {
    await untilFewConnections(victim);
    const answers = await others(victim, async () => {
      for (const client of await open(victim, MANY)) client.write(bytes);
    });
    expect(answers).toEqual(UNDISTURBED);
  });
});

test('more connections than open files, from several addresses, do not stop the store', async () => {
  const victim = await start(CONFIG, { openFiles: 400 });
  const answers = await others(victim, async () => {
    for (const host of [2, 3, 4, 5]) {
      const parts = ['', 'GET / HT', head('Content-Length: 10\r\n')];
      const opened = await open(victim, 150, { localAddress: `127.0.0.${host}` });
      for (const [i, client] of opened.entries()) client.write(parts[i % parts.length]);
    }
  });
  expect(answers).toEqual(UNDISTURBED);
});

test('stalled bodies from many addresses do not block the memory for bodies', async () => {
  const victim = await start(`${CONFIG}logboom: {max_buffered_body_bytes: 8MB}\n`);
  // Sizes decrease until no memory is left for the smallest push.
  const sizes = [...Array(130).fill(65_537), ...Array(70).fill(1_000), ...Array(70).fill(10)] as number[];
  const answers = await others(victim, async () => {
    for (const [i, size] of sizes.entries()) {
      const [client] = await open(victim, 1, { localAddress: `127.0.0.${2 + (i % 16)}` });
      client.write(head(`Content-Length: ${size}\r\n`) + 'x'.repeat(size - 1));
    }
    await delay(1_500);
  });
  expect(answers).toEqual(UNDISTURBED);
});

test('half heads of 100 KB on a thousand connections do not block others', async () => {
  const victim = await start();
  const answers = await others(victim, async () => {
    for (const client of await open(victim, 1_000)) {
      client.write(`GET /ready HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(100_000)}`);
    }
  });
  expect(answers).toEqual(UNDISTURBED);
});

test('requests in chunks of one byte do not block others', async () => {
  const victim = await start();
  const opened: RawClient[] = [];
  const answers = await others(victim, async () => {
    opened.push(...(await open(victim, 20)));
    for (const client of opened) client.write(head(CHUNKED) + '1\r\nx\r\n'.repeat(200_000));
  });
  expect(answers).toEqual(UNDISTURBED);
  for (const client of opened) expect(statusesIn(await client.closed())).toEqual([400]);
});

test('thousands of unread requests on one connection do not block others', async () => {
  const victim = await start();
  const answers = await others(victim, async () => {
    for (const client of await open(victim, 4, { paused: true })) {
      client.write(head('', '/metrics', 'GET').repeat(5_000));
    }
  });
  expect(answers).toEqual(UNDISTURBED);
  await untilFewConnections(victim);
});

const QUERY = (line: string) =>
  `/loki/api/v1/query_range?query=${encodeURIComponent(`{job="big"} |= "${line}"`)}&limit=5000`;

async function pushLines(victim: Victim, count: number, bytes: number): Promise<void> {
  const values = Array.from({ length: count }, (_, i) => [
    `${Date.now() - i}000000`,
    `${i} `.padEnd(bytes, 'y'),
  ]);
  const answer = await victim.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'x-scope-orgid': 'attacker', 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { job: 'big' }, values }] }),
  });
  expect(answer.status).toBe(204);
}

test('large responses that the client does not read are cut off', async () => {
  const victim = await start(
    'auth_enabled: true\nserver: {log_level: error, http_server_write_timeout: 2s}\n',
  );
  await pushLines(victim, 5_000, 1_000);
  const answers = await others(victim, async () => {
    const opened = await open(victim, 60, { paused: true });
    for (const client of opened) client.write(head('', QUERY('y'), 'GET').repeat(2));
  });
  expect(answers).toEqual(UNDISTURBED);
  await untilFewConnections(victim);
});

test('one tenant with far more queries than run at once does not block others', async () => {
  const victim = await start();
  await pushLines(victim, 5_000, 300);
  let isOver = false;
  const statuses = new Set<number>();
  const ask = async (i: number) => {
    for (let round = 0; !isOver; round++) {
      const status = await new Promise<number>(resolve => {
        const outgoing = request(`${victim.url}${QUERY(`${i}-${round}`)}`, {
          headers: { 'x-scope-orgid': 'attacker' },
          agent: false,
        });
        outgoing.on('error', () => resolve(0));
        outgoing.on('response', incoming => {
          incoming.on('error', () => resolve(0)).on('end', () => resolve(incoming.statusCode!));
          incoming.resume();
        });
        outgoing.end();
      });
      statuses.add(status);
      if (status !== 200) await delay(200);
    }
  };
  let asked: Promise<unknown> | undefined;
  const answers = await others(victim, async () => {
    asked = Promise.all(Array.from({ length: MANY }, (_, i) => ask(i)));
  });
  isOver = true;
  await asked;
  expect(answers).toEqual(UNDISTURBED);
  for (const status of statuses) expect([200, 429, 503]).toContain(status);
});

test('queries that are canceled while they wait leave nothing behind', async () => {
  const victim = await start();
  await pushLines(victim, 5_000, 300);
  const answers = await others(victim, async () => {
    for (let round = 0; round < 3; round++) {
      const opened = await open(victim, 300);
      for (const [i, client] of opened.entries()) client.write(head('', QUERY(`${round}-${i}`), 'GET'));
      await delay(50);
      for (const { socket } of opened) socket.resetAndDestroy();
    }
  });
  expect(answers).toEqual(UNDISTURBED);
  const left = async () => {
    const { text } = await victim.client.send({ path: '/metrics' });
    return Array.from(text.matchAll(/^logboom_query_requests\{[^}]*\} (\d+)/gm), ([, count]) =>
      Number(count),
    );
  };
  await until(async () => (await left()).every(count => count === 0));
  expect(await left()).toEqual([0, 0]);
});
