/**
 * Requests of a probe (probe.ts), in a separate thread: work of the test itself must not count as a stall of
 * the store.
 */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { ProbeName, ProbeOptions } from './probe.ts';

export interface ProbeThreadData {
  readonly url: string;
  readonly options: ProbeOptions;
}

export type FromProbe =
  | { readonly kind: 'answered'; readonly name: ProbeName; readonly answer: string; readonly ms: number }
  | { readonly kind: 'over' };

/** A slower request counts as `late`. This bounds the test, and is not a goal. */
const LATE_MS = 60_000;

if (parentPort === null) throw new Error('probe-thread.ts is run as a worker thread');
const port = parentPort;
const { url, options } = workerData as ProbeThreadData;
const { tenant = 'probe', pauseMs = 25, localAddress } = options;
const headers = { 'x-scope-orgid': tenant, connection: 'close', ...options.headers };
let isStopped = false;
port.once('message', () => {
  isStopped = true;
});

const steps: Readonly<Record<ProbeName, () => Promise<string>>> = {
  ready: () => ask('GET', '/ready'),
  push: () => {
    const entry = [`${Date.now()}000000`, 'a line of the probe'];
    const body = JSON.stringify({ streams: [{ stream: { job: 'probe' }, values: [entry] }] });
    return ask('POST', '/loki/api/v1/push', body);
  },
  query: () =>
    ask('GET', `/loki/api/v1/query_range?query=${encodeURIComponent('{job="probe"}')}&limit=1&since=1m`),
};
await Promise.all((Object.keys(steps) as ProbeName[]).map(loop));
send({ kind: 'over' });

async function loop(name: ProbeName): Promise<void> {
  while (!isStopped) {
    const startedMs = performance.now();
    const answer = await steps[name]();
    send({ kind: 'answered', name, answer, ms: performance.now() - startedMs });
    await delay(pauseMs);
  }
}

/** Resolves to the status, or to the code of the error. */
function ask(method: string, path: string, body?: string): Promise<string> {
  return new Promise(resolve => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const outgoing = request(`${url}${path}`, {
      method,
      headers: { ...headers, ...type },
      agent: false,
      localAddress,
      timeout: LATE_MS,
    });
    const failed = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    outgoing.on('timeout', () => outgoing.destroy(Object.assign(new Error('late'), { code: 'late' })));
    outgoing.on('error', failed);
    outgoing.on('response', incoming => {
      incoming.on('error', failed);
      incoming.on('end', () => resolve(String(incoming.statusCode)));
      incoming.resume();
    });
    outgoing.end(body);
  });
}

function send(message: FromProbe): void {
  port.postMessage(message);
}
