/**
 * Client disconnect while a worker runs its query: from the socket through the gateway and the engine to the
 * task.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { type Gateway, startGateway } from '../../../local/gateway.ts';
import type { Invoker } from '../../../shared/base/ports/invoker.ts';
import { createLog } from '../../../shared/base/runtime/log.ts';
import { jsonText } from '../../../shared/server/http/respond.ts';
import { DAY, rangeQuery, requester } from '../../support/engine.ts';
import { makeWorld } from './world.ts';

let gateway: Gateway | undefined;
afterEach(() => gateway?.stop());

test.each([
  ['metric', 'count_over_time({app="a"} |= "n" [1m])'],
  ['log', '{app="a"} |= "n"'],
])('a client disconnect aborts the tasks of its %s query', async (_, text) => {
  const world = makeWorld();
  await world.push([{ stream: { app: 'a' }, day: DAY, time: 5, line: 'n=1', metadata: {} }]);
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  // Runs its task until it is aborted, like a thread with a long scan.
  const invoker: Invoker = {
    slots: 1,
    invoke: (_task, { signal }) => {
      started.resolve();
      return new Promise((_answer, reject) => {
        signal.addEventListener('abort', () => {
          aborted.resolve(signal.reason);
          reject(signal.reason);
        });
      });
    },
    close: async () => undefined,
  };
  const engine = world.engine({ invoker });
  const ended = Promise.withResolvers<unknown>();
  gateway = await serve(signal => {
    const answer = engine.range(rangeQuery(text), requester({ signal }));
    answer.then(ended.reject, ended.resolve);
    return answer;
  });
  await askAndLeave(gateway.url, started.promise);
  expect(await aborted.promise).toBeDefined();
  expect(await ended.promise).toMatchObject({ message: 'the client disconnected' });
});

/** Client that disconnects once `started` shows that its query is running. */
async function askAndLeave(url: string, started: Promise<void>): Promise<void> {
  const client = request(url);
  client.end();
  await started;
  client.destroy();
  await once(client, 'error');
}

/** Gateway that answers all requests with `ask`. */
function serve(ask: (signal: AbortSignal) => Promise<unknown>): Promise<Gateway> {
  return startGateway({
    host: '127.0.0.1',
    port: 0,
    dispatch: async ({ signal }) => {
      await ask(signal);
      return jsonText('{}');
    },
    limits: {
      ofRequest: () => ({ cost: 'light', maxBodyBytes: 1000, deadlineMs: 0 }),
      maxConcurrentRequests: 5,
      maxBufferedBodyBytes: 1000,
      readTimeoutMs: 10_000,
      writeTimeoutMs: 10_000,
      idleTimeoutMs: 10_000,
      drainTimeoutMs: 10_000,
    },
    log: createLog('silent'),
  });
}
