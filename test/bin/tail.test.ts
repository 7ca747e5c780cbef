/**
 * `logboom tail` against a store: its output, how it continues after a disconnect, and its messages about
 * refusals.
 */
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { CACHE, PROGRAM } from '../support/program.ts';
import { refusedBy } from './refused-by.ts';
import { logboom } from './run-command.ts';

const T = BigInt(Date.now() - 60_000) * 1_000_000n;

let store: TestStore;
beforeAll(async () => {
  store = await startStore('compactor: {compaction_interval: 1h}\nlogboom: {index_sync_interval: 1h}');
});
afterAll(() => store.stop());

async function push(...values: readonly (readonly [string, string])[]): Promise<void> {
  const body = JSON.stringify({ streams: [{ stream: { app: 'a', service_name: 'a' }, values }] });
  const headers = { 'content-type': 'application/json', 'x-scope-orgid': 'acme' };
  const { status } = await store.client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
  expect(status).toBe(204);
}

interface Running {
  /** Resolves when standard output holds as many lines. */
  lines(count: number): Promise<string[]>;
  readonly stderr: () => string;
  /** Stops it as Ctrl-C does. */
  stop(): Promise<number | null>;
}

function run(url: string, ...args: readonly string[]): Running {
  const command = ['--disable-warning=ExperimentalWarning', PROGRAM, 'tail', '{app="a"}', ...args];
  const child = spawn(process.execPath, command, {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: CACHE, LOGBOOM_ADDR: url, LOGBOOM_TENANT: 'acme' },
  });
  let out = '';
  let err = '';
  let wake = () => {};
  child.stdout.on('data', (piece: Buffer) => {
    out += piece.toString();
    wake();
  });
  child.stderr.on('data', (piece: Buffer) => (err += piece.toString()));
  const exited = new Promise<number | null>(resolve => child.once('close', resolve));
  exited.then(() => wake());
  return {
    stderr: () => err,
    async lines(count) {
      const split = () => out.split('\n').slice(0, -1);
      while (split().length < count) {
        if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${err}`);
        await new Promise<void>(resolve => (wake = resolve));
      }
      return split();
    },
    stop: () => {
      child.kill('SIGINT');
      return exited;
    },
  };
}

test('prints earlier and new entries in the format of --output until it is stopped', async () => {
  await push([`${T}`, 'old'], [`${T + 1n}`, 'older than the limit allows? no']);
  const running = run(store.url, '--limit', '1', '--output', 'jsonl');
  await running.lines(1);
  await push([`${T + 2n}`, 'new']);
  const [first, second] = (await running.lines(2)).map(line => JSON.parse(line));
  expect(first.line).toBe('older than the limit allows? no');
  expect(second).toEqual({
    timestamp: `${new Date(Number(T / 1_000_000n)).toISOString().slice(0, -1)}000002Z`,
    labels: { app: 'a', detected_level: 'unknown', service_name: 'a' },
    line: 'new',
  });
  expect(await running.stop()).toBe(0);
});

test('continues where the connection broke, without repeated entries', async () => {
  const asked: URLSearchParams[] = [];
  const frame = (...lines: readonly (readonly [bigint, string])[]) =>
    JSON.stringify({
      streams: lines.map(([ns, line]) => ({ stream: { app: 'a' }, values: [[`${ns}`, line]] })),
      ...(asked.length === 2 ? { dropped_entries: [{ timestamp: '1', labels: {} }] } : {}),
    });
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket, incoming) => {
    asked.push(new URL(incoming.url!, 'http://x').searchParams);
    if (asked.length === 1) {
      socket.send(frame([T, 'one'], [T + 5n, 'two']));
      socket.close(1011, 'reached tail max duration limit');
    } else if (asked.length === 2) {
      socket.send(frame([T, 'one'], [T + 5n, 'two'], [T + 5n, 'three']));
      socket.terminate();
    } else socket.send(frame([T + 5n, 'three'], [T + 6n, 'four']));
  });
  await new Promise(resolve => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const running = run(`http://127.0.0.1:${port}`, '--output', 'raw', '--delay-for', '2');
  try {
    expect(await running.lines(4)).toEqual(['one', 'two', 'three', 'four']);
    expect(running.stderr()).toContain('dropped 1 entry because');
    expect(running.stderr()).toContain('retrying in 0.5 s');
    expect(asked.map(params => params.get('delay_for'))).toEqual(['2', '2', '2']);
    expect(asked.slice(1).map(params => params.get('start'))).toEqual(
      Array(2).fill(`${T + 5n - 30_000_000_000n}`),
    );
  } finally {
    await running.stop();
    for (const client of server.clients) client.terminate();
    server.close();
  }
});

test('ends with a message if the store refuses or cannot be reached', async () => {
  const env = { LOGBOOM_ADDR: store.url, LOGBOOM_TENANT: 'acme' };
  const rows: readonly [readonly string[], Record<string, string>, string, number][] = [
    [['tail', '{app='], env, 'the store refused the tail: 400 Bad Request: parse error at line 1, col 6', 1],
    [['tail', 'rate({app="a"}[1m])'], env, 'refused by the store: only log selector is supported', 1],
    [
      ['tail', '{app="a"}'],
      { LOGBOOM_ADDR: 'http://127.0.0.1:1' },
      'cannot reach the store at http://127.0.0.1:1',
      3,
    ],
  ];
  const outcomes = await Promise.all(rows.map(([args, environment]) => logboom(args, { env: environment })));
  for (const [i, { code, stdout, stderr }] of outcomes.entries()) {
    expect([code, stdout]).toEqual([rows[i][3], '']);
    expect(stderr).toContain(rows[i][2]);
  }
});

test('refuses a delay that is too long', async () => {
  expect(await refusedBy(['tail', '{app="a"}', '--delay-for', '6'])).toContain('from 0 to 5');
});
