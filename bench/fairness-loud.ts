/**
 * Heavy tenant in a separate process: pushes above its limit, the most expensive queries on every connection,
 * and every tail that it may open. fairness.ts starts it, and switches it on and off by messages.
 *
 * It represents other machines but shares the store's cores. So it runs with the lowest priority
 * (fairness.ts), and discards its responses.
 */
import { Agent, request } from 'node:http';
import WebSocket from 'ws';
import { PROTOBUF_TYPE, snappyPush } from '../test/end-to-end/support/push.ts';
import { CORPUS_NS, CORPUS_START_NS, generateBatches } from './corpus.ts';

export type LoudOrder =
  /**
   * Acknowledged when new bodies for the round are ready: creating them takes as much CPU as pushing them.
   */
  | { readonly kind: 'prepare'; readonly round: number }
  | { readonly kind: 'start'; readonly url: string; readonly tenant: string }
  | { readonly kind: 'stop' };

/** Results since `start`. */
export interface LoudReport {
  readonly pushed: number;
  readonly refused: number;
  readonly answered: number;
  readonly failed: number;
  readonly tails: number;
  readonly frames: number;
}

/** Offered load: 1.5 times its rate limit of 4 MB/s, so that one push in three is refused. */
const OFFERED_MB_PER_SECOND = 6;
/** Bodies of a round: the load of 15 s. A repeated body would be a duplicate push, which costs nothing. */
const BODIES_MB = 90;
/** Seed that differs from the stored data. */
const FIRST_SEED = 7;
const PUSH_CONNECTIONS = 4;
/** Concurrent queries, more than a process runs at once by default (32). */
const QUERY_CLIENTS = 40;
/** `max_concurrent_tail_requests`. */
const TAILS = 10;

/**
 * Queries over whole hours: each is a scan with the most expensive stages, or an evaluation over many series.
 * Responses are small.
 */
const HEAVY_QUERIES = [
  'sum by (app) (count_over_time({app=~".+"} | json | logfmt | line_format "{{.msg}} {{.path}}" |~ "(conn|cache).*(refused|miss)" [5m]))',
  'count(sum by (trace_id) (count_over_time({app=~"json-.*"} | json [5m])))',
  'sum(count_over_time({app=~".+"} |~ "(?i)[a-z]+ing .*(upstream|renewed)" [1m]))',
  'quantile_over_time(0.99, {app=~"json-.*"} | json | unwrap duration_ms [5m]) by (path)',
  'topk(5, sum by (trace, status) (rate({app=~"logfmt-.*"} | logfmt [1m])))',
  '{app=~".+"} | json | logfmt | user_id="nobody" or caller="nowhere"',
  'count(count_over_time({app=~"json-.*"} | json [1m]) * on (trace_id) group_left() sum by (trace_id) (count_over_time({app=~"json-.*"} | json [1m])))',
];

const counted = { pushed: 0, refused: 0, answered: 0, failed: 0, tails: 0, frames: 0 };
let bodies: readonly { readonly body: Uint8Array; readonly bytes: number }[] = [];
let over = new AbortController();
let work: Promise<unknown> = Promise.resolve();

interface Sending {
  readonly agent: Agent;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

/** Status; ignores the response. */
function send(
  url: string,
  { agent, tenant, signal }: Sending,
  body?: Uint8Array,
): Promise<number | undefined> {
  return new Promise(resolve => {
    const outgoing = request(url, {
      agent,
      signal,
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-scope-orgid': tenant, 'content-type': PROTOBUF_TYPE },
    });
    outgoing.on('error', () => resolve(undefined));
    outgoing.on('response', incoming => {
      incoming.on('error', () => resolve(undefined));
      incoming.on('end', () => resolve(incoming.statusCode));
      incoming.resume();
    });
    outgoing.end(body);
  });
}

function start({ url, tenant }: Extract<LoudOrder, { kind: 'start' }>): void {
  Object.assign(counted, { pushed: 0, refused: 0, answered: 0, failed: 0, tails: 0, frames: 0 });
  over = new AbortController();
  const { signal } = over;
  const sockets = Array.from({ length: TAILS }, () => tail(url, tenant));
  const pushing = new Agent({ keepAlive: true, maxSockets: PUSH_CONNECTIONS });
  const asking = new Agent({ keepAlive: true, maxSockets: QUERY_CLIENTS });
  work = Promise.all([
    push(`${url}/loki/api/v1/push`, { agent: pushing, tenant, signal }),
    ...Array.from({ length: QUERY_CLIENTS }, (_, i) =>
      ask(`${url}/loki/api/v1/query_range`, i, { agent: asking, tenant, signal }),
    ),
  ]).finally(() => {
    for (const socket of sockets) socket.terminate();
    pushing.destroy();
    asking.destroy();
  });
}

function tail(url: string, tenant: string): WebSocket {
  const query = new URLSearchParams({ query: '{app=~".+"}', limit: '5000' });
  const socket = new WebSocket(`${url.replace('http', 'ws')}/loki/api/v1/tail?${query}`, {
    headers: { 'x-scope-orgid': tenant },
    perMessageDeflate: false,
  });
  socket.on('open', () => counted.tails++);
  socket.on('message', () => counted.frames++);
  socket.on('error', () => undefined);
  return socket;
}

async function push(url: string, sending: Sending): Promise<void> {
  const { signal } = sending;
  let next = 0;
  let dueMs = performance.now();
  const worker = async () => {
    while (!signal.aborted && next < bodies.length) {
      const { body, bytes } = bodies[next++];
      dueMs = Math.max(dueMs + bytes / (OFFERED_MB_PER_SECOND * 1000), performance.now() - 1000);
      await sleep(dueMs - performance.now());
      if (signal.aborted) return;
      const status = await send(url, sending, body);
      if (status === 204) counted.pushed++;
      else counted.refused++;
    }
  };
  await Promise.all(Array.from({ length: PUSH_CONNECTIONS }, worker));
}

async function ask(url: string, first: number, sending: Sending): Promise<void> {
  const range = {
    start: `${CORPUS_START_NS}`,
    end: `${CORPUS_START_NS + CORPUS_NS}`,
    step: '10',
    limit: '5000',
  };
  for (let i = first; !sending.signal.aborted; i++) {
    const query = HEAVY_QUERIES[i % HEAVY_QUERIES.length];
    const status = await send(`${url}?${new URLSearchParams({ ...range, query })}`, sending);
    if (status === 200) counted.answered++;
    else if (!sending.signal.aborted) counted.failed++;
    // A refusal returns immediately.
    if (status !== 200) await sleep(20);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, Math.max(0, ms)));
}

if (process.send !== undefined) {
  process.on('message', (order: LoudOrder) => {
    if (order.kind === 'prepare') {
      bodies = Array.from(generateBatches(BODIES_MB, FIRST_SEED + order.round), ({ streams, bytes }) => ({
        body: snappyPush(streams),
        bytes,
      }));
      process.send!('prepared');
      return;
    }
    if (order.kind === 'start') {
      start(order);
      return;
    }
    over.abort();
    void work.then(() => process.send!({ ...counted } satisfies LoudReport));
  });
  process.on('disconnect', () => process.exit());
}
