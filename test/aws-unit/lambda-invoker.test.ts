import type { LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, test } from '@jest/globals';
import { queryWorkerHandler } from '../../functions/query-worker-handler.ts';
import { lambdaInvoker, MAX_RAW_PAYLOAD_BYTES } from '../../shared/aws/lambda-invoker.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import type { Invoker } from '../../shared/base/ports/invoker.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { makeWorld } from '../query/tasks/world.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';

const signal = new AbortController().signal;
/** Clock whose waits end immediately. */
const clock: Clock = { ...SYSTEM_CLOCK, sleep: () => new Promise(resolve => setImmediate(resolve)) };
const refused = () => Object.assign(new Error('slow down'), { $metadata: { httpStatusCode: 429 } });
const here: Invoker = {
  slots: 1,
  invoke: async task => Uint8Array.of(99, task.length & 255),
  close: async () => undefined,
};
const json = (value: unknown) => ({ Payload: Buffer.from(JSON.stringify(value)) });

/** A client that returns the listed responses in order. */
function invokerOf(...answers: (object | Error)[]) {
  const sent: { FunctionName?: string; Payload?: Uint8Array }[] = [];
  const send = async ({ input }: { input: (typeof sent)[0] }) => {
    sent.push(input);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const client = { send } as unknown as LambdaClient;
  return { sent, invoker: lambdaInvoker({ client: () => client, functionName: 'worker', here, clock }) };
}

describe('query tasks as invocations of a function', () => {
  test('send the task and return the result as base64', async () => {
    const { sent, invoker } = invokerOf(json({ answer: Buffer.from([4, 5]).toString('base64') }));
    expect([...(await invoker.invoke(Uint8Array.of(1, 2, 3), { signal, affinity: 0 }))]).toEqual([4, 5]);
    expect(sent[0].FunctionName).toBe('worker');
    expect(JSON.parse(Buffer.from(sent[0].Payload!).toString())).toEqual({ task: 'AQID' });
  });

  test.each([
    ['an answer too large for Lambda', [json({ tooLarge: 5_000_000 })], 3, 'answerTooLarge'],
    ['an account that never has room', Array.from({ length: 10 }, refused), 3, 'throttled'],
    ['a task too large for Lambda', [json({})], MAX_RAW_PAYLOAD_BYTES + 1, 'taskTooLarge'],
  ])('run the task in this process: %s', async (_, answers, bytes, reason) => {
    const { invoker } = invokerOf(...answers);
    expect((await invoker.invoke(new Uint8Array(bytes), { signal, affinity: 0 }))[0]).toBe(99);
    expect(invoker.figures.here).toMatchObject({ [reason]: 1 });
  });

  test('repeat a call whose function ended without a response', async () => {
    const lost = { FunctionError: 'Unhandled', ...json({ errorType: 'Runtime.ExitError' }) };
    const again = invokerOf(lost, json({ answer: 'AQ==' }));
    expect([...(await again.invoker.invoke(Uint8Array.of(1), { signal, affinity: 0 }))]).toEqual([1]);
    const { invoker } = invokerOf(lost, lost, lost);
    await expect(invoker.invoke(Uint8Array.of(1), { signal, affinity: 0 })).rejects.toThrow(
      'Runtime.ExitError',
    );
  });

  test.each([
    [undefined, 2],
    [false, 1],
  ])(
    'are started again if they are slow, unless only one call may run (isHedged: %s)',
    async (isHedged, calls) => {
      const time = virtualClock();
      let ms = 10;
      let sent = 0;
      const send = async (_: unknown, { abortSignal }: { readonly abortSignal: AbortSignal }) => {
        sent++;
        await time.sleep(ms, abortSignal);
        return json({ answer: 'AQ==' });
      };
      const client = { send } as unknown as LambdaClient;
      const invoker = lambdaInvoker({
        client: () => client,
        functionName: 'worker',
        here,
        clock: time,
        isHedged,
      });
      const invoke = () => time.run(invoker.invoke(Uint8Array.of(1), { signal, affinity: 0 }));
      for (let call = 0; call < 20; call++) await invoke();
      [ms, sent] = [60_000, 0];
      await invoke();
      expect([sent, invoker.figures.hedged]).toEqual([calls, calls - 1]);
    },
  );

  test('repeat refused calls and calls that the service failed', async () => {
    const failing = Object.assign(new Error('broken'), { $metadata: { httpStatusCode: 503 } });
    const { sent, invoker } = invokerOf(refused(), failing, refused(), json({ answer: 'AQ==' }));
    expect([...(await invoker.invoke(Uint8Array.of(1), { signal, affinity: 0 }))]).toEqual([1]);
    expect(sent.length).toBe(4);
    expect(invoker.figures).toMatchObject({ refused: 2, retried: 1, here: { throttled: 0 } });
  });

  test('do not repeat a call that the service rejects', async () => {
    const denied = Object.assign(new Error('no'), {
      name: 'AccessDeniedException',
      $metadata: { httpStatusCode: 403 },
    });
    const { sent, invoker } = invokerOf(denied);
    await expect(invoker.invoke(Uint8Array.of(1), { signal, affinity: 0 })).rejects.toThrow(
      'cannot be invoked',
    );
    expect(sent.length).toBe(1);
  });

  test('reject with the reason when they are canceled', async () => {
    const cancel = new AbortController();
    cancel.abort(new Error('gone'));
    const { sent, invoker } = invokerOf();
    await expect(invoker.invoke(Uint8Array.of(1), { signal: cancel.signal, affinity: 0 })).rejects.toThrow(
      'gone',
    );
    expect(sent).toEqual([]);
  });

  test('report what is wrong with an invalid task', async () => {
    const handler = queryWorkerHandler({ store: memoryObjectStore(), clock: undefined as never });
    const context = { awsRequestId: '', getRemainingTimeInMillis: () => 10_000 };
    const result = await handler({ task: 'Bw==' }, context);
    expect(Buffer.from('answer' in result ? result.answer : '', 'base64').toString()).toContain('version 7');
  });

  test('give the same result as one scan', async () => {
    const world = makeWorld();
    for (let push = 0; push < 3; push++) {
      const entries = Array.from({ length: 20 }, (_, i) => {
        const time = (push * 10 + i) * 1_000_000_000;
        return { stream: { app: `a${i % 2}` }, day: DAY, time, line: `n=${i}`, metadata: {} };
      });
      await world.push(entries);
    }
    const handler = queryWorkerHandler({ store: world.objects, clock: world.clock });
    const send = async ({ input }: { input: { Payload: Uint8Array } }) =>
      json(
        await handler(JSON.parse(Buffer.from(input.Payload).toString()), {
          awsRequestId: '',
          getRemainingTimeInMillis: () => 10_000,
        }),
      );
    const client = { send } as unknown as LambdaClient;
    const engine = world.engine({
      invoker: lambdaInvoker({ client: () => client, functionName: 'worker', here, clock }),
    });
    for (const query of [
      '{app=~".+"} |= "1"',
      'sum by (app) (sum_over_time({app=~".+"} | logfmt | unwrap n [1m]))',
    ]) {
      const asked = rangeQuery(query, { endNs: DAY_START_NS + 120_000_000_000n });
      const { result } = await engine.range(asked, requester());
      expect(result).toEqual((await world.plainEngine().range(asked, requester())).result);
    }
  });
});
