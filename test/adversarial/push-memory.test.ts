/** Memory for pushes in the assembled store: one bound for all ingest threads, which tenants share. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { ClientAnswer } from '../end-to-end/support/client.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { FAULT_HEADER, type Fault, faultText } from '../local/threads/support/faults.ts';
import { until } from '../support/until.ts';
import { LOKI } from './support/hostile/loki.ts';
import { OTLP } from './support/hostile/otlp.ts';
import { MAX_RESIDENT_BYTES, startVictim } from './support/victim.ts';

const CONFIG = 'auth_enabled: true\nserver: {log_level: error}\n';
const REPLACED = {
  roleThreads: {
    entry: new URL('../local/threads/support/faulty-role-thread.ts', import.meta.url),
    maxHeapMb: 512,
  },
};
/** Concurrent bodies of the attacker. */
const BOMBERS = 4;
/** Pushes of the other tenant in the meantime. Each is larger than a push that never waits. */
const PUSHES = 12;
const LINE = 'y'.repeat(1_000);
const LINES = 300;
/** One minute with the pause below, which suits a loaded machine. */

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-push-memory-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let store: TestStore | undefined;
afterEach(async () => {
  await store?.stop();
  store = undefined;
});

const bombs = [...LOKI, ...OTLP].flatMap(({ path, headers, bodies }) =>
  bodies
    .filter(([name]) => /short lines|numbers of|escapes|empty records|200 bytes/.test(name))
    .map(([, , bodyOf]) => ({ path, headers, body: bodyOf() })),
);

function bomb(
  number: number,
  tenant = 'attacker',
  { client }: Pick<TestStore, 'client'> = store!,
): Promise<ClientAnswer> {
  const { path, headers, body } = bombs[number % bombs.length];
  return client.send({ method: 'POST', path, headers: { 'x-scope-orgid': tenant, ...headers }, body });
}

let faults = 0;
function push(lines: number, fault?: Fault): Promise<ClientAnswer> {
  const file = join(folder, `${fault}-${faults++}`);
  const values = Array.from({ length: lines }, (_, i) => [
    `${Date.now()}${String(i).padStart(6, '0')}`,
    LINE,
  ]);
  return store!.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: {
      'x-scope-orgid': 'other',
      'content-type': 'application/json',
      ...(fault && { [FAULT_HEADER]: faultText(fault, file) }),
    },
    body: Buffer.from(JSON.stringify({ streams: [{ stream: { job: 'other' }, values }] })),
  });
}

async function heldBytes(): Promise<number> {
  const { text } = await store!.client.send({ path: '/metrics' });
  return Number(/^logboom_push_memory_bytes (\d+)$/m.exec(text)![1]);
}

test('all pushes of a tenant are stored while another one sends compressed bombs', async () => {
  store = await startStore(CONFIG, { cores: 3 });
  let isOver = false;
  const answers = new Set<number>();
  const bomber = async (first: number) => {
    for (let number = first; !isOver; number += BOMBERS) answers.add((await bomb(number)).status);
  };
  const bombers = Array.from({ length: BOMBERS }, (_, i) => bomber(i));
  const statuses: number[] = [];
  for (let i = 0; i < PUSHES; i++) statuses.push((await push(LINES)).status);
  isOver = true;
  await Promise.all(bombers);
  expect(statuses).toEqual(Array(PUSHES).fill(204));
  const expected = [400, 413, 422, 429, 503];
  expect([...answers].filter(status => !expected.includes(status))).toEqual([]);
  await until(async () => (await heldBytes()) === 0);
});

test('a lost ingest thread releases the memory of its pushes', async () => {
  store = await startStore(CONFIG, { cores: 2, replaced: REPLACED });
  let lost: ClientAnswer;
  let number = 0;
  do {
    // The push sometimes completes before the thread ends.
    let isAnswered = false;
    const bombed = bomb(number++).finally(() => {
      isAnswered = true;
    });
    await until(async () => isAnswered || (await heldBytes()) > 0);
    await push(1, 'exits');
    lost = await bombed;
  } while (lost.status !== 503);
  expect(lost.text).toContain('was restarted while it processed the request');
  await until(async () => (await heldBytes()) === 0);
  expect((await push(LINES)).status).toBe(204);
});

/** An uncompressed push of nearly 100 MB, close to the largest that is accepted. */
function largeBody(): Buffer {
  const one = `["${Date.now()}000000","${'x'.repeat(200)}"]`;
  return Buffer.from(
    `{"streams":[{"stream":{"job":"large"},"values":[${Array(410_000).fill(one).join(',')}]}]}`,
  );
}

test('the memory of the process is bounded, whatever several tenants send in parallel', async () => {
  const victim = await startVictim(CONFIG);
  try {
    const body = largeBody();
    const headers = { 'content-type': 'application/json' };
    const large = (tenant: string) =>
      victim.client.send({
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { 'x-scope-orgid': tenant, ...headers },
        body,
      });
    const tenants = ['a', 'b', 'c', 'd'];
    const bombed = tenants.flatMap(tenant => bombs.map((_, number) => bomb(number, tenant, victim)));
    await Promise.all([...bombed, ...tenants.flatMap(tenant => [large(tenant), large(tenant)])]);
    // Two of the largest in sequence: each gets all the memory it needs when it runs alone.
    for (let i = 0; i < 2; i++) expect((await large('a')).status).toBe(429);
    const memory = await victim.memory();
    if (memory !== undefined) expect(memory.peakBytes).toBeLessThan(MAX_RESIDENT_BYTES);
  } finally {
    await victim.stop();
  }
});
