/** Real chunks, real workers and a Lambda that refuses, loses and slows down calls: answers are those of one plain scan. */
import { expect, test } from '@jest/globals';
import { queryWorkerHandler } from '../../../functions/query-worker-handler.ts';
import { lambdaInvoker } from '../../../shared/aws/lambda-invoker.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import { makeWorld, TINY_TASKS } from '../../query/tasks/world.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../../support/engine.ts';
import { Dice } from '../dice.ts';
import { testSeeds } from '../seeds.ts';
import { VirtualTime } from '../virtual-time.ts';
import { modeledLambda } from './modeled-lambda.ts';

const QUERIES = [
  '{app=~".+"} |= "1"',
  'sum by (app) (count_over_time({app=~".+"} | logfmt | n > 3 [1m]))',
  'stddev_over_time({app=~".+"} | logfmt | unwrap n [2m]) by (app)',
  'first_over_time({app=~".+"} | logfmt | unwrap n [2m]) by (app)',
];

test('faults of workers change no answer', async () => {
  const [seed] = testSeeds(1);
  const dice = new Dice(seed);
  const world = makeWorld();
  for (let push = 0; push < 12; push++) {
    const entries = Array.from({ length: 20 }, (_, i) => {
      const time = (push * 5 + i) * 1_000_000_000;
      return { stream: { app: `a${i % 3}` }, day: DAY, time, line: `n=${i}`, metadata: {} };
    });
    await world.push(entries);
  }
  const handler = queryWorkerHandler({ store: world.objects, clock: world.clock });
  const clock = new VirtualTime((DAY + 2) * 86_400_000, dice.fork());
  const lambda = modeledLambda({
    clock,
    dice: dice.fork(),
    concurrency: 6,
    faults: { lostShare: 0.05, slowShare: 0.1, throttledShare: 0.1 },
    async work(event) {
      const context = { awsRequestId: '', getRemainingTimeInMillis: () => 60_000 };
      return { result: await handler(event, context), ms: dice.between(100, 900), reads: 1 };
    },
  });
  const invoker = lambdaInvoker({
    client: () => lambda.client,
    functionName: 'worker',
    here: inlineInvoker({ store: world.objects, clock: world.clock }),
    clock,
    slots: 20,
  });
  const engine = world.engine({ invoker, sizes: TINY_TASKS });
  const calm = world.engine({
    invoker: inlineInvoker({ store: world.objects, clock: world.clock }),
    sizes: TINY_TASKS,
  });
  for (const query of QUERIES) {
    const asked = rangeQuery(query, { endNs: DAY_START_NS + 120_000_000_000n });
    const { result } = await clock.run(engine.range(asked, requester()));
    // The last digits of fractional sums depend on how a query is cut, never on which worker was first.
    expect(result).toEqual((await calm.range(asked, requester())).result);
    if (query.startsWith('stddev')) continue;
    expect(result).toEqual((await world.plainEngine().range(asked, requester())).result);
  }
  expect(lambda.counts.refused + lambda.counts.lost).toBeGreaterThan(0);
  await clock.drain();
});
