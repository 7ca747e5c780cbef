/**
 * Bodies that are small when they are sent and large, or laborious, when they are unpacked: for each inlet, one by one and many at once.
 * Each is answered with an error that says why, the memory of the process stays bounded, and another tenant notices nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DOCUMENTS } from './support/hostile/documents.ts';
import { LOKI } from './support/hostile/loki.ts';
import { OTLP } from './support/hostile/otlp.ts';
import type { HostileInlet } from './support/hostile/pieces.ts';
import { report, startProbe, statusesOf, UNDISTURBED } from './support/probe.ts';
import { startVictim, type Victim } from './support/victim.ts';

/** Of the process, whatever is sent. */
const MAX_RESIDENT_BYTES = 700_000_000;
/** Requests of each kind that the other tenant has answered beside each attack. */
const PROBES = 3;
const INLETS = [...LOKI, ...OTLP, ...DOCUMENTS];
const ROWS = INLETS.flatMap(inlet =>
  inlet.bodies.map(([name, status, body]) => [`${inlet.inlet}: ${name}`, status, body, inlet] as const),
);

let victim: Victim;
beforeAll(async () => {
  victim = await startVictim('auth_enabled: true\nserver: {log_level: error}\n');
});
afterAll(() => victim.stop());

async function push({ path, headers }: HostileInlet, body: Buffer, tenant = 'attacker'): Promise<number> {
  const answer = await victim.client.send({
    method: 'POST',
    path,
    headers: { 'x-scope-orgid': tenant, ...headers },
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

describe('one push', () => {
  test.each(ROWS)('%s: %i', async (_, status, bodyOf, inlet) => {
    const body = bodyOf();
    expect(await undisturbed(() => push(inlet, body))).toBe(status);
  });
});

describe('all bodies of an inlet at once, each from two tenants', () => {
  test.each(INLETS.map(inlet => [inlet.inlet, inlet] as const))('%s', async (_, inlet) => {
    const bodies = inlet.bodies.map(([, status, bodyOf]) => ({ status, body: bodyOf() }));
    const answers = await undisturbed(() =>
      Promise.all(
        bodies.flatMap(({ status, body }, i) =>
          ['a', 'b'].map(async name => ({ status, answer: await push(inlet, body, `${name}${i}`) })),
        ),
      ),
    );
    // 503: the others leave too little memory, and the client is to come again.
    for (const { status, answer } of answers) expect([status, 503]).toContain(answer);
  });
});
