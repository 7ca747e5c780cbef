/** Rate limits of ingest threads: which messages to the front thread a push needs, and that the results are the same. */
import { expect, test } from '@jest/globals';
import { type RateDecisions, rateDecisions } from '../../../local/rate-decision.ts';
import type { AskFront, RoleAsk } from '../../../local/threads/role-messages.ts';
import { ownRates, ratesOfFront } from '../../../local/threads/thread-rates.ts';
import { ClientError } from '../../../shared/base/model/errors.ts';
import type { RateLimits } from '../../../shared/server/http/assemble-parts.ts';
import { processes, pushOfBytes, SMALL_LIMITS } from '../../ingest/rates/processes.ts';

const LIMITS = {
  ...SMALL_LIMITS,
  maxGlobalStreamsPerUser: 2,
  perStreamRateLimit: 100,
  perStreamRateLimitBurst: 2_000,
};

/** The front thread, and the two kinds of limits of a thread next to it. */
function makeThreads() {
  const { clock, running } = processes(2);
  const front = { isShutDown: false, message: undefined as string | undefined, isBehind: false };
  const asked: RoleAsk['kind'][] = [];
  const decisions: RateDecisions = rateDecisions({
    context: {
      shutdown: {
        refusePushes: () => {
          if (front.isShutDown) throw new ClientError(503, 'shutting down');
        },
      } as never,
    },
    rates: running[0],
    limitsOf: () => LIMITS,
    disk: front as never,
    backlog: () => ({ refuses: () => front.isBehind }),
  });
  const ask: AskFront = async question => {
    asked.push(question.kind);
    if (question.kind === 'rates') return decisions.decide(question.tenant, question.asked);
    if (question.kind === 'refusal') return decisions.refusal(question.tenant);
    throw new Error(`unexpected request ${question.kind}`);
  };
  const mayBeRefused = () => front.message !== undefined || front.isBehind;
  return {
    clock,
    front,
    asked,
    ofFront: ratesOfFront(ask),
    own: ownRates({ rates: running[1], ask, mayBeRefused }),
  };
}

/** Message of the refusal of a push, with the number of entries that may be stored. */
async function admitted(limits: RateLimits, bytes: Readonly<Record<string, number>>) {
  const { entries, error, discards } = await limits.admit('t', LIMITS, pushOfBytes(bytes));
  return { entries: [...entries], status: error?.status, message: error?.message, discards };
}

test('the only ingest thread takes the same decisions as the front thread, without a message', async () => {
  const { clock, own, ofFront, asked } = makeThreads();
  const pushes: Record<string, number>[] = [
    { a: 100 },
    { a: 1_500, b: 10 },
    // Above the rate of a stream, above the number of streams, above the rate of the tenant.
    { a: 700, b: 10 },
    { c: 10, b: 10 },
    { b: 1_200 },
    { b: 300 },
  ];
  const found: (string | undefined)[] = [];
  for (const push of pushes) {
    const here = await admitted(own, push);
    expect(asked).toEqual([]);
    expect(await admitted(ofFront, push)).toEqual(here);
    expect(asked.splice(0)).toEqual(['rates']);
    found.push(here.message);
    clock.advance(100);
  }
  expect(found).toEqual([
    undefined,
    undefined,
    expect.stringContaining('Per stream rate limit'),
    expect.stringContaining('maximum active stream'),
    expect.stringContaining('ingestion rate limit'),
    undefined,
  ]);
  expect([...own.activeStreams!()]).toEqual([['t', 2]]);
  expect([...own.createdStreams!()]).toEqual([['t', 2]]);
});

test('it asks the front thread while the disk is full or merging is behind, and uses no rate for what is refused', async () => {
  const { own, front, asked } = makeThreads();
  const push = { a: 1_900 };
  front.isBehind = true;
  for (let i = 0; i < 3; i++) {
    expect(await admitted(own, push)).toMatchObject({ entries: [], status: 429 });
  }
  front.isBehind = false;
  front.message = 'the disk is full';
  await expect(own.admit('t', LIMITS, pushOfBytes(push))).rejects.toThrow('the disk is full');
  expect(asked.splice(0)).toEqual(['refusal', 'refusal', 'refusal', 'refusal']);
  front.message = undefined;
  expect((await admitted(own, push)).entries).toHaveLength(1);
  expect(asked).toEqual([]);
});

test('while merging is behind, tenants that are not refused have their usual limits', async () => {
  const { clock, running } = processes(1);
  const own = ownRates({ rates: running[0], ask: async () => undefined, mayBeRefused: () => true });
  expect((await admitted(own, { a: 1_900 })).entries).toHaveLength(1);
  expect(await admitted(own, { b: 1_900 })).toMatchObject({ entries: [], status: 429 });
  clock.advance(1_000);
  expect((await admitted(own, { b: 1_900 })).entries).toHaveLength(1);
});
