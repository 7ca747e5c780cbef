/**
 * Counting proxy between a store and an AWS emulator. Counts every attempt, hedge and response page, from any
 * process or thread of the store. The store is the normal program and does not know about it.
 */
import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestCounts } from './counts.ts';
import { RequestCounter } from './request-counter.ts';

export interface CountingProxy {
  readonly url: string;
  /** Counts once nothing is in flight and no request arrived for a moment. */
  settledCounts(): Promise<RequestCounts>;
  close(): Promise<void>;
}

/** Long enough for the next step of a process that just received a response. */
const QUIET_MS = 100;
const POLL_MS = 20;
/** A store that never becomes idle (a request loop) is a defect. */
const MAX_SETTLE_MS = 120_000;
const BAD_GATEWAY = 502;

/** @param target URL of the emulator, for example `http://127.0.0.1:4566` */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const counter = new RequestCounter();
  let running = 0;
  let lastMs = performance.now();
  let defect: unknown;

  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers, rawHeaders } = incoming;
    const requestBody = await bodyOf(incoming);
    const outgoing = sendRequest({ hostname, port, agent, method, path: url, headers: rawHeaders });
    outgoing.end(requestBody);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const answerBody = await bodyOf(answer);
    const status = answer.statusCode ?? BAD_GATEWAY;
    const operation = headers['x-amz-target'];
    const amzTarget = Array.isArray(operation) ? operation[0] : operation;
    try {
      counter.add({ method, url, target: amzTarget, requestBody, status, answerBody });
    } catch (error) {
      defect ??= error;
    }
    response.writeHead(status, answer.statusMessage, withoutFraming(answer.rawHeaders));
    response.end(method === 'HEAD' ? undefined : answerBody);
  };

  const server = createServer((incoming, response) => {
    running++;
    pass(incoming, response)
      // The requester may be gone: a losing hedged read, or an ended process.
      .catch(() => response.destroy())
      .finally(() => {
        running--;
        lastMs = performance.now();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,

    async settledCounts() {
      const latestMs = performance.now() + MAX_SETTLE_MS;
      while (running > 0 || performance.now() - lastMs < QUIET_MS) {
        if (performance.now() > latestMs) throw new Error('the store does not stop sending requests');
        await new Promise(resolve => setTimeout(resolve, POLL_MS));
      }
      if (defect !== undefined) throw defect;
      return counter.counts;
    },

    async close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Removes headers of the connection to this process; the body is forwarded as a whole with its length. */
function withoutFraming(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!/^(connection|keep-alive|transfer-encoding)$/i.test(rawHeaders[i]))
      kept.push(rawHeaders[i], rawHeaders[i + 1]);
  }
  return kept;
}
