/**
 * Each receiver gets bodies that are small when they are sent, and large or expensive when they are decompressed.
 * It answers each with an error that says why, the memory of the process stays bounded, and another tenant is
 * served as usual.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampleOf } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { DOCUMENTS } from './support/hostile/documents.ts';
import { LOKI } from './support/hostile/loki.ts';
import { OTLP } from './support/hostile/otlp.ts';
import type { HostileReceiver } from './support/hostile/pieces.ts';
import { report, startProbe, statusesOf, UNDISTURBED } from './support/probe.ts';
import { MAX_RESIDENT_BYTES, startVictim, type Victim } from './support/victim.ts';

/** Additional memory after the burst, once the store is idle. */
const MAX_KEPT_BYTES = 150_000_000;
/** Requests of each kind that the other tenant completes during each attack. */
const PROBES = 3;
const NAMED_RECEIVERS = [...LOKI, ...OTLP, ...DOCUMENTS];
const ROWS = NAMED_RECEIVERS.flatMap(receiver =>
  receiver.bodies.map(
    ([name, status, body]) => [`${receiver.receiver}: ${name}`, status, body, receiver] as const,
  ),
);

let victim: Victim;
/** Resident memory of the idle store after all threads have started. */
let residentBefore = Number.NaN;
beforeAll(async () => {
  victim = await startVictim('auth_enabled: true\nserver: {log_level: error}\n');
  const probe = startProbe(victim.url);
  await probe.answered(PROBES);
  await probe.stop();
  residentBefore = (await victim.memory())?.residentBytes ?? Number.NaN;
});
afterAll(() => victim.stop());

async function push({ path, headers }: HostileReceiver, body: Buffer): Promise<number> {
  const answer = await victim.client.send({
    method: 'POST',
    path,
    headers: { 'x-scope-orgid': 'attacker', ...headers },
    body,
  });
  return answer.status;
}

/** Resolves to the result of `attack`, if another tenant was served normally meanwhile. */
async function undisturbed<T>(attack: () => Promise<T>): Promise<T> {
  await victim.resetPeak();
  const probe = startProbe(victim.url);
  await probe.answered(1);
  const attacked = attack();
  const [result] = await Promise.all([attacked, probe.answered(PROBES)]);
  const figures = await probe.stop();
  const memory = await victim.memory();
  await report(expect.getState().currentTestName!, figures, memory);
  expect(statusesOf(figures)).toEqual(UNDISTURBED);
  if (memory !== undefined) expect(memory.peakBytes).toBeLessThan(MAX_RESIDENT_BYTES);
  return result;
}

describe('one push', () => {
  test.each(sampleOf(ROWS, 16))('%s: %i', async (_, status, bodyOf, receiver) => {
    const body = bodyOf();
    const answer = await undisturbed(() => push(receiver, body));
    expect(answer).toBe(status);
  });
});

test('the memory of the pushes is released', async () => {
  if (Number.isNaN(residentBefore)) return;
  await until(async () => (await victim.memory())!.residentBytes - residentBefore <= MAX_KEPT_BYTES);
});
