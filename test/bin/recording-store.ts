/** HTTP server in place of a store: records requests and returns the given responses. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Parameters of the URL and of a form body. */
  readonly params: URLSearchParams;
  /** Unpacked. */
  readonly body: string;
}

export interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RecordingStore {
  readonly url: string;
  readonly requests: readonly Recorded[];
  stop(): Promise<void>;
}

/** `reply` may return `drop`: the connection is cut. */
export async function startRecordingStore(
  reply: (request: Recorded, number: number) => Reply | 'drop',
): Promise<RecordingStore> {
  const requests: Recorded[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const sent = Buffer.concat(pieces);
    const body = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent).toString('utf8');
    const url = new URL(request.url!, 'http://store');
    const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
    const recorded = {
      method: request.method!,
      path: url.pathname,
      headers: request.headers,
      params: new URLSearchParams([...url.searchParams, ...(isForm ? new URLSearchParams(body) : [])]),
      body,
    };
    const answer = reply(recorded, requests.push(recorded));
    if (answer === 'drop') request.socket.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body ?? '');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: () => {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}
