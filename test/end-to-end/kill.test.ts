/**
 * Kills the store repeatedly (SIGKILL) while clients push, as an agent would: they repeat a body whose connection
 * was cut. At the end every acknowledged entry is there exactly once, and nothing that was never sent.
 *
 * When it is killed is counted in acknowledged pushes, from a seed, so that nothing here depends on a clock. With SEED in
 * the environment another course is taken.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { bySuite } from '../support/suite.ts';
import { findEntries, getJson } from './support/ask.ts';
import { createClient, type HttpClient } from './support/client.ts';
import { JSON_TYPE, jsonPush, PROTOBUF_TYPE, type PushedStream, snappyPush } from './support/push.ts';
import { type ServerProcess, startProcess } from './support/server-process.ts';

const ROUNDS = bySuite({ fast: 2, full: 5 });
const CLIENTS = 6;
const STREAMS_PER_CLIENT = 3;
const MIN_PUSHES_PER_ROUND = 10;
const MORE_PUSHES_PER_ROUND = 60;
const SEED = Number(process.env.SEED ?? 20_261_121);
/** Five minutes before midnight: pushes go to two days. */
const T0 = 1_704_067_200n * NS_PER_SECOND - 300n * NS_PER_SECOND;
const TENANT = 'killed';
const CONFIG = `
auth_enabled: true
server: { http_listen_address: 127.0.0.1, log_level: error }
limits_config: { reject_old_samples: false, max_entries_limit_per_query: 1000000 }
`;

/** Numbers from 0 to below `n`, the same ones for a seed. */
function createRandom(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return n => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

interface Body {
  readonly bytes: string | Uint8Array;
  readonly type: string;
  /** Keys of its entries: stream, time and line. */
  readonly keys: readonly string[];
}

const keyOf = (stream: string, ns: bigint, line: string): string => `${stream} ${ns} ${line}`;

/** The next push of a client: small or large, JSON or protobuf, sometimes with entries of the one before. */
function createBodies(client: number, random: (n: number) => number): () => Body {
  let count = 0;
  let previous: PushedStream[] = [];
  return () => {
    const filler = 'x'.repeat(random(4) === 0 ? 2000 : 20);
    const streams = Array.from({ length: 1 + random(STREAMS_PER_CLIENT) }, (_, stream) => ({
      labels: { client: `${client}`, stream: `${stream}` },
      entries: Array.from({ length: 1 + random(30) }, () => {
        const n = count++;
        return { ns: T0 + BigInt(random(600)) * NS_PER_SECOND + BigInt(random(3)), line: `n=${n} ${filler}` };
      }),
    }));
    const sent = random(5) === 0 ? [...streams, ...previous] : streams;
    previous = streams;
    const keys = sent.flatMap(({ labels, entries }) =>
      entries.map(({ ns, line }) => keyOf(`${labels.client}/${labels.stream}`, ns, line)),
    );
    const json = random(2) === 0;
    return { bytes: json ? jsonPush(sent) : snappyPush(sent), type: json ? JSON_TYPE : PROTOBUF_TYPE, keys };
  };
}

let folder: string;
let server: ServerProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-kill-'));
  await writeFile(join(folder, 'config.yaml'), CONFIG);
});
afterAll(async () => {
  await server?.end('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

test('a killed store keeps every acknowledged entry once', async () => {
  const random = createRandom(SEED);
  const sent = new Set<string>();
  const acknowledged = new Set<string>();
  const cut = { total: 0, givenUp: 0 };
  let pushes = 0;
  let stopAfter = Infinity;
  let afterPush = () => {};
  let done = false;
  let running: Promise<HttpClient>;

  const start = async (): Promise<HttpClient> => {
    server = await startProcess(join(folder, 'config.yaml'), join(folder, 'data'));
    return createClient(server.url);
  };

  async function send(client: HttpClient, { bytes, type }: Body): Promise<void> {
    const answer = await client.send({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers: { 'content-type': type, 'x-scope-orgid': TENANT },
      body: bytes,
    });
    if (answer.status !== 204) throw new TypeError(`a push was answered ${answer.status}: ${answer.text}`);
  }

  async function pushOn(id: number): Promise<void> {
    const chances = createRandom(SEED + id);
    const nextBody = createBodies(id, chances);
    while (!done) {
      const body = nextBody();
      for (const key of body.keys) sent.add(key);
      for (;;) {
        const client = await running;
        try {
          await send(client, body);
        } catch (error) {
          if (error instanceof TypeError) throw error;
          cut.total++;
          // Some never come back: their entries may be there or not.
          if (chances(4) === 0) {
            cut.givenUp++;
            break;
          }
          continue;
        }
        for (const key of body.keys) acknowledged.add(key);
        if (++pushes === stopAfter) afterPush();
        break;
      }
    }
  }

  running = start();
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, id) => pushOn(id)));
  for (let round = 0; round < ROUNDS; round++) {
    const client = await running;
    const enough = new Promise<void>(resolve => {
      afterPush = resolve;
    });
    stopAfter = pushes + MIN_PUSHES_PER_ROUND + random(MORE_PUSHES_PER_ROUND);
    await Promise.race([enough, clients]);
    const restarted = Promise.withResolvers<HttpClient>();
    running = restarted.promise;
    await server!.end('SIGKILL');
    client.close();
    restarted.resolve(await start());
  }
  done = true;
  await clients;

  const client = await running;
  const range = { start: `${T0}`, end: `${T0 + 700n * NS_PER_SECOND}` };
  const query = { query: '{client=~".+"}', limit: '1000000', ...range };
  const found = await findEntries(client, query, { tenant: TENANT });
  const keys = found.map(({ labels, ns, line }) => keyOf(`${labels.client}/${labels.stream}`, ns, line));
  const stored = new Set(keys);
  const summary = {
    lost: [...acknowledged].filter(key => !stored.has(key)),
    twice: keys.length - stored.size,
    neverSent: keys.filter(key => !sent.has(key)),
  };
  expect({ seed: SEED, ...summary }).toEqual({ seed: SEED, lost: [], twice: 0, neverSent: [] });
  const time = `${T0 + 700n * NS_PER_SECOND}`;
  const count = { query: 'sum(count_over_time({client=~".+"}[15m]))', time };
  const answer = await getJson(client, '/api/v1/query', count, { tenant: TENANT });
  expect(answer).toMatchObject({ data: { result: [{ value: [expect.anything(), String(stored.size)] }] } });
  // It did what it is for: connections were cut in the middle of pushes.
  expect(cut.total).toBeGreaterThanOrEqual(ROUNDS);
  expect(acknowledged.size).toBeGreaterThan(ROUNDS * MIN_PUSHES_PER_ROUND);
  client.close();
  await server!.end('SIGTERM');
  server = undefined;
});
