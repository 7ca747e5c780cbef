/**
 * Forwards one request: streams the body to the target and the response back, so that memory does not depend on their
 * sizes.
 *
 * Pitfall: the target may close an idle connection while a request is sent on it. A request without a body is then sent
 * again on another connection.
 */
import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream';
import { ClientError, messageOf } from '../../shared/base/model/errors.ts';
import type { ServerLog } from '../../shared/base/runtime/log.ts';
import { BodyInterruptedError, bodyTooLarge, declaredLength } from '../gateway-body.ts';
import type { Exchange } from '../gateway-exchange.ts';
import { endToEndHeaders, forwardedHeaders } from './headers.ts';

interface Sender {
  /**
   * Resolves when the response was passed on. Rejects before anything of it was sent, with ClientError (413 for a body
   * over the limit of the exchange, 502 and 504 if the target does not respond, 508 for a request that was forwarded
   * before), BodyInterruptedError, or the cause of an interruption of the exchange.
   */
  send(exchange: Exchange, path: string): Promise<void>;
  /** Closes all connections. */
  close(): void;
}

interface SenderOptions {
  readonly origin: URL;
  /** Time without a byte from the target after which a request fails. */
  readonly silentMs: number;
  readonly log: ServerLog;
}

/** Time to connect. Within a data center it takes milliseconds. */
const CONNECT_MS = 10_000;
/** Idle connections are closed after this time. Servers keep them longer: Node.js for 5 s, others for a minute. */
const IDLE_MS = 4_000;

export function createSender({ origin, silentMs, log }: SenderOptions): Sender {
  const isTls = origin.protocol === 'https:';
  const agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true, timeout: IDLE_MS });
  const request = isTls ? requestHttps : requestHttp;

  function connect(exchange: Exchange, path: string, signal: AbortSignal): ClientRequest {
    const { incoming } = exchange;
    const length = declaredLength(incoming);
    const headers = forwardedHeaders(incoming, origin);
    if (length === undefined) headers['transfer-encoding'] = 'chunked';
    else if (length > 0) headers['content-length'] = length;
    const { method } = incoming;
    try {
      return request(origin, { method, path, headers, agent, signal, timeout: silentMs });
    } catch (error) {
      throw new ClientError(400, 'the path or a header has characters that cannot be forwarded', {
        cause: error,
      });
    }
  }

  /** Head of the response, after the whole body was read. */
  async function ask(exchange: Exchange, path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const outward = connect(exchange, path, signal);
    const hasBody = declaredLength(exchange.incoming) !== 0;
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      outward.once('response', resolve);
      outward.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = outward.reusedSocket && !hasBody && error.code === 'ECONNRESET';
        if (signal.aborted) reject(new BodyInterruptedError());
        else if (error instanceof ClientError) reject(error);
        else if (isStale) resolve(ask(exchange, path, signal));
        else reject(new ClientError(502, unreachable(error), { cause: error }));
      });
    });
    outward.on('timeout', () => outward.destroy(new ClientError(504, SILENT)));
    boundConnecting(outward, isTls ? 'secureConnect' : 'connect');
    if (!hasBody) {
      outward.end();
      return answered;
    }
    const body = sendBody(exchange, outward);
    try {
      const [response] = await Promise.all([answered, body.done]);
      return response;
    } catch (error) {
      body.stop();
      throw error;
    }
  }

  return {
    async send(exchange, path) {
      const { outgoing, controller } = exchange;
      const canceled = new AbortController();
      const signal = AbortSignal.any([controller.signal, canceled.signal]);
      let response: IncomingMessage;
      try {
        response = await exchange.unlessInterrupted(ask(exchange, path, signal));
      } catch (error) {
        canceled.abort();
        if (error instanceof ClientError && (error.status === 502 || error.status === 504))
          log.warn({ err: error.cause ?? error, forwardTo: origin.origin }, 'forwarding a request failed');
        throw error;
      }
      for (const [name, values] of Object.entries(endToEndHeaders(response)))
        outgoing.setHeader(name, values.length === 1 ? values[0] : values);
      outgoing.writeHead(response.statusCode!, response.statusMessage);
      exchange.leaves(0);
      // A failure of either side closes both: the client must not take a part for the whole.
      await new Promise<void>(resolve => pipeline(response, outgoing, () => resolve()));
      // The target did not take the whole body, so the connection cannot have another request.
      if (!outwardOf(response).writableEnded) outwardOf(response).destroy();
    },
    close: () => agent.destroy(),
  };
}

/** The types of Node.js lack it. */
const outwardOf = (response: IncomingMessage) => (response as IncomingMessage & { req: ClientRequest }).req;

const SILENT =
  'the store at forward_to did not respond in time; retry later, or shorten the range of the query';

export function unreachable(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return `cannot reach the store at forward_to (${code ?? messageOf(error)}); retry later`;
}

function boundConnecting(outward: ClientRequest, connected: 'connect' | 'secureConnect'): void {
  outward.on('socket', socket => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => outward.destroy(new ClientError(504, SILENT)), CONNECT_MS);
    const clear = () => clearTimeout(timer);
    socket.once(connected, clear);
    outward.once('close', clear);
  });
}

interface SentBody {
  /** Resolves at the end of the body, also if the target has responded before. Rejects with TooLargeError. */
  readonly done: Promise<void>;
  /** Leaves the rest of the body unread. */
  stop(): void;
}

/** Streams the body, as fast as the target reads it. */
function sendBody(exchange: Exchange, outward: ClientRequest): SentBody {
  const { incoming, limits } = exchange;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The target needs no more of the body after its response.
  let isAnswered = false;
  const resume = () => incoming.resume();
  const onResponse = () => {
    isAnswered = true;
    resume();
  };
  const onData = (chunk: Buffer) => {
    exchange.receivedBytes += chunk.length;
    if (exchange.receivedBytes > limits.maxBodyBytes) {
      const error = bodyTooLarge(exchange.receivedBytes, limits.maxBodyBytes);
      reject(error);
      outward.destroy(error);
    } else if (!isAnswered && !outward.destroyed && !outward.write(chunk)) {
      incoming.pause();
    }
  };
  const onEnd = () => {
    if (!isAnswered) outward.end();
    resolve();
  };
  incoming.on('data', onData).on('end', onEnd);
  outward.once('response', onResponse).on('drain', resume).on('close', resume);
  return {
    done: promise,
    stop() {
      incoming.off('data', onData).off('end', onEnd);
      outward.off('drain', resume).off('close', resume);
      incoming.pause();
    },
  };
}
