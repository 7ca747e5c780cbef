/**
 * Kills the store (SIGKILL) at random moments while clients push and while it compacts, syncs indexes and collects
 * garbage all the time; starts it again; twenty times (three in the fast suite), or ROUNDS. After every round all that was acknowledged is there exactly once,
 * and counted once. At the end no record names an object that is missing, and no stored byte is damaged.
 *
 * kill.test.ts has larger and stranger pushes; here there are more deaths, and maintenance in every one of them. The moment
 * of a death is a time, so no two courses are the same: SEED gives the pushes and the times, not what they meet.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openStorage } from '../../local/storage.ts';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { checkStore } from '../../shared/upkeep/integrity/check-store.ts';
import type { Problem } from '../../shared/upkeep/integrity/problem.ts';
import { bySuite } from '../support/suite.ts';
import { findEntries, getJson } from './support/ask.ts';
import { createClient, type HttpClient } from './support/client.ts';
import { JSON_TYPE, jsonPush } from './support/push.ts';
import { type ServerProcess, startProcess, warmStarts } from './support/server-process.ts';

/** Each costs up to two seconds of a core, most of it the start. */
const ROUNDS = Number(process.env.ROUNDS ?? bySuite({ fast: 3, full: 20 }));
const CLIENTS = 3;
/** Minimum duration of a round: some pushes, and one or two runs of every job. */
const LEAST_LIFE_MS = 60;
const MORE_LIFE_MS = 350;
const POLL_MS = 5;
/** Minimum of acknowledged entries in every other life. */
const ENTRIES_OF_LIFE = 4;
const SEED = Number(process.env.SEED ?? 20_261_122);
/** A minute before midnight: pushes go to two days, and both are so old that their windows are closed. */
const T0 = 1_704_067_200n * NS_PER_SECOND - 60n * NS_PER_SECOND;
const RANGE = { start: `${T0}`, end: `${T0 + 200n * NS_PER_SECOND}` };
const TENANT = 'crashed';
/** Graces end within the test, and queries are far shorter. Every chunk is an object: those can go missing. */
const CONFIG = `
auth_enabled: true
server: { http_listen_address: 127.0.0.1, log_level: error }
limits_config: { reject_old_samples: false, max_entries_limit_per_query: 1000000 }
compactor: { compaction_interval: 200ms }
logboom:
  inline_max_bytes: 200
  collection_interval: 200ms
  index_sync_interval: 300ms
  object_grace_period: 3s
`;

let folder: string;
let server: ServerProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-crash-'));
  await writeFile(join(folder, 'config.yaml'), CONFIG);
  await warmStarts(join(folder, 'config.yaml'), join(folder, 'warm'));
});
afterAll(async () => {
  await server?.end('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Pushes of the clients, and which of them were acknowledged. */
class Pushes {
  readonly sent = new Set<string>();
  readonly acknowledged = new Set<string>();
  cut = 0;
  #count = 0;
  #repeated: readonly { readonly ns: bigint; readonly line: string }[] = [];
  readonly #random = seededRandom(SEED);

  /** Pushes until the connection is cut. */
  async pushOn(client: HttpClient, id: number): Promise<void> {
    for (;;) {
      const entries = Array.from({ length: 1 + this.below(8) }, () => ({
        ns: T0 + BigInt(this.below(120)) * NS_PER_SECOND + BigInt(this.below(2)),
        line: `n=${this.#count++}`,
      }));
      // Entries of an earlier push are sent again, whatever its result was.
      const all = this.below(4) === 0 ? [...entries, ...this.#repeated] : entries;
      this.#repeated = entries;
      const stream = `${id % 2}`;
      const keys = all.map(({ ns, line }) => `${stream} ${ns} ${line}`);
      for (const key of keys) this.sent.add(key);
      try {
        const { status, text } = await client.send({
          method: 'POST',
          path: '/loki/api/v1/push',
          headers: { 'content-type': JSON_TYPE, 'x-scope-orgid': TENANT },
          body: jsonPush([{ labels: { stream }, entries: all }]),
        });
        if (status !== 204) throw new TypeError(`a push was answered ${status}: ${text}`);
      } catch (error) {
        if (error instanceof TypeError) throw error;
        this.cut++;
        return;
      }
      for (const key of keys) this.acknowledged.add(key);
    }
  }

  below(n: number): number {
    return Math.floor(this.#random() * n);
  }
}

/** Everything acknowledged is found once, nothing that was never sent, and as much is counted. */
async function check(client: HttpClient, { sent, acknowledged }: Pushes, round: number): Promise<void> {
  const query = { query: '{stream=~".+"}', limit: '1000000', ...RANGE };
  const found = await findEntries(client, query, { tenant: TENANT });
  const keys = found.map(({ labels, ns, line }) => `${labels.stream} ${ns} ${line}`);
  const stored = new Set(keys);
  const wrong = {
    lost: [...acknowledged].filter(key => !stored.has(key)),
    twice: keys.length - stored.size,
    neverSent: keys.filter(key => !sent.has(key)),
  };
  expect({ round, seed: SEED, ...wrong }).toEqual({ round, seed: SEED, lost: [], twice: 0, neverSent: [] });
  const count = { query: 'sum(count_over_time({stream=~".+"}[10m]))', time: RANGE.end };
  const answer = await getJson(client, '/api/v1/query', count, { tenant: TENANT });
  // A first life may be too short for any push.
  const result = stored.size === 0 ? [] : [{ value: [expect.anything(), String(stored.size)] }];
  expect(answer).toMatchObject({ data: { result } });
}

test(`${ROUNDS} deaths lose nothing that was acknowledged, and make nothing twice`, async () => {
  const pushes = new Pushes();
  const start = async (): Promise<HttpClient> => {
    server = await startProcess(join(folder, 'config.yaml'), join(folder, 'data'));
    const client = createClient(server.url);
    // The thread that takes pushes starts with the first one: so long a life would see no answer.
    const answer = await client.send({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers: { 'content-type': JSON_TYPE, 'x-scope-orgid': 'other' },
      body: jsonPush([{ labels: { stream: '0' }, entries: [{ ns: T0, line: 'first' }] }]),
    });
    expect(answer.status).toBe(204);
    return client;
  };
  for (let round = 0; round < ROUNDS; round++) {
    const client = await start();
    if (round > 0) await check(client, pushes, round);
    const enough = pushes.acknowledged.size + ENTRIES_OF_LIFE;
    let isOver = false;
    const clients = Promise.all(Array.from({ length: CLIENTS }, (_, id) => pushes.pushOn(client, id)));
    const life = async () => {
      // On a busy machine, some lives would be too short for any response.
      while (round % 2 === 0 && pushes.acknowledged.size < enough && !isOver) await sleep(POLL_MS);
      await sleep(LEAST_LIFE_MS + pushes.below(MORE_LIFE_MS));
    };
    await Promise.race([life(), clients]).finally(() => {
      isOver = true;
    });
    await server!.end('SIGKILL');
    await clients;
    client.close();
  }
  const client = await start();
  await check(client, pushes, ROUNDS);
  client.close();
  await server!.end('SIGTERM');
  server = undefined;

  const { store, table, close } = await openStorage({ kind: 'embedded', dataDir: join(folder, 'data') });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const problems: Problem[] = [];
  const parts = { catalog, store, clock: SYSTEM_CLOCK };
  const totals = await checkStore(parts, { full: true, report: problem => problems.push(problem) });
  const days = await catalog.allDays(TENANT);
  await close();
  expect(problems).toEqual([]);
  expect(totals.rows).toBeGreaterThanOrEqual(pushes.acknowledged.size);
  // Proof that the test covered its cases: connections were cut, chunks were merged, days were indexed.
  expect(pushes.cut).toBeGreaterThan(ROUNDS);
  expect(pushes.acknowledged.size).toBeGreaterThan(ROUNDS);
  expect(days.map(({ version }) => version > 0)).toEqual([true, true]);
});
