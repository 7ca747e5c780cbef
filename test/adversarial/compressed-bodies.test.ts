/**
 * Bodies that are small when they are sent and large, or laborious, when they are unpacked: for each inlet.
 * Each is answered with an error that says why, the memory of the process stays bounded, and another tenant notices nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampleOf } from '../support/suite.ts';
import { DOCUMENTS } from './support/hostile/documents.ts';
import { LOKI } from './support/hostile/loki.ts';
import { OTLP } from './support/hostile/otlp.ts';
import type { HostileInlet } from './support/hostile/pieces.ts';
import { report, startProbe, statusesOf, UNDISTURBED } from './support/probe.ts';
import { startVictim, type Victim } from './support/victim.ts';

/**
 * Of the process, all pushes one after the other: a third over the highest that was seen, because a loaded machine collects garbage
 * later. Without bounds on what is unpacked it was 3.7 GB. The goal is 700 MB (docs/gaps.md).
 */
const MAX_RESIDENT_BYTES = 1_250_000_000;
/** Requests of each kind that the other tenant has answered beside each attack. */
const PROBES = 3;
const INLETS = [...LOKI, ...OTLP, ...DOCUMENTS];
/** The other inlets may refuse a body for one reason or another. */
const EXACT = [...LOKI, OTLP[0]];
const ROWS = INLETS.flatMap(inlet =>
  inlet.bodies.map(([name, status, body]) => [`${inlet.inlet}: ${name}`, status, body, inlet] as const),
);

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim('auth_enabled: true\nserver: {log_level: error}\n');
});
afterAll(() => victim.stop());

async function push({ path, headers }: HostileInlet, body: Buffer): Promise<number> {
  const answer = await victim.client.send({
    method: 'POST',
    path,
    headers: { 'x-scope-orgid': 'attacker', ...headers },
    body,
  });
  return answer.status;
}

/** Resolves with what `attack` does, when another tenant was answered as ever beside it. */
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

/** Statuses of a push that is refused for what it holds; bulk and Firehose answer 200 and refuse items. */
const REFUSED = [200, 400, 413, 422, 429];

describe('one push', () => {
  test.each(sampleOf(ROWS, 16))('%s: %i', async (_, status, bodyOf, inlet) => {
    const body = bodyOf();
    const answer = await undisturbed(() => push(inlet, body));
    if (EXACT.includes(inlet)) expect(answer).toBe(status);
    else expect([status, ...REFUSED]).toContain(answer);
  });
});
