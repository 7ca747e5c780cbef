/** An HTTP endpoint that answers as a test wrote down, one step for each request, and keeps what it was asked. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** `reset` ends the connection without an answer, `stall` never answers, `cut` ends it inside the body. */
type Step = Answer | 'reset' | 'stall' | (Answer & { readonly cutAfterBytes: number });

interface SeenRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedServer {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Steps that no request has used. */
  readonly left: number;
  /**
   * Replaces the steps and forgets the received requests. A request after the last step gets 418, which is
   * final.
   */
  script(...steps: readonly Step[]): void;
  close(): Promise<void>;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  let steps: Step[] = [];
  let seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(parts).toString('latin1') });
      const step = steps.shift() ?? { status: 418 };
      if (step === 'stall') return;
      if (step === 'reset') return void request.socket.destroy();
      const body = Buffer.from((step.body ?? '') as Uint8Array);
      response.writeHead(step.status, { 'content-length': body.length, ...step.headers });
      if (!('cutAfterBytes' in step)) return void response.end(method === 'HEAD' ? undefined : body);
      response.write(body.subarray(0, step.cutAfterBytes), () => request.socket.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get seen() {
      return seen;
    },
    get left() {
      return steps.length;
    },
    script(...next) {
      steps = [...next];
      seen = [];
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An error as S3 writes it. */
export function s3Error(status: number, code: string): Answer {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>said the test</Message></Error>`,
  };
}

/** An answer as DynamoDB writes it. */
export function dynamoAnswer(body: object, status = 200): Answer {
  return { status, headers: { 'content-type': 'application/x-amz-json-1.0' }, body: JSON.stringify(body) };
}

export function dynamoError(code: string, more: object = {}, status = 400): Answer {
  return dynamoAnswer(
    { __type: `com.amazonaws.dynamodb.v20120810#${code}`, message: 'said the test', ...more },
    status,
  );
}
