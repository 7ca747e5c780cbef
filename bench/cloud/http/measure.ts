/**
 * Suite of `npm run bench -- cloud` over real HTTP: `logboom start --storage s3` with a server as slow as
 * AWS. Each query runs in a new process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ReadRound } from '../../../shared/read/query/read-rounds.ts';
import { type ServerProcess, startProcess } from '../../../test/end-to-end/support/server-process.ts';
import type { Dataset } from '../datasets.ts';
import { type CloudQuery, cloudSuite } from '../suite.ts';
import type { SentRequests, ServicesMessage } from './latent-services.ts';

const CONFIG = resolve(import.meta.dirname, '../../../config/bench.yaml');
export const TENANT = 'cloud';
const WARM_ASKS = 3;

export interface HttpFigure {
  readonly dataset: string;
  readonly query: string;
  /** Latency for the client, cold. */
  readonly coldMs: number;
  /** Rounds reported by `explain`, of the thread that plans the query. */
  readonly coldRounds: number;
  readonly cold: SentRequests;
  /** Fastest of several warm runs. */
  readonly warmMs: number;
  readonly warmRounds: number;
  /** Requests of the fastest warm run. */
  readonly warm: SentRequests;
}

export interface CloudServices {
  readonly pid: number;
  readonly environment: Readonly<Record<string, string>>;
  sent(): Promise<SentRequests>;
  /** Makes responses take a multiple of the modeled latency from now on. */
  slowDown(factor: number): void;
}

/** Runs `work` with new services. */
export async function withServices<T>(work: (services: CloudServices) => Promise<T>): Promise<T> {
  const child = fork(join(import.meta.dirname, 'latent-services.ts'));
  try {
    const { port } = (await messageOf(child)) as { port: number };
    const environment = {
      LOGBOOM_STORAGE: 's3',
      LOGBOOM_BUCKET: 'logs',
      LOGBOOM_TABLE: 'logs',
      LOGBOOM_ENDPOINT: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      // The table reads of a collection are not those of a query.
      COLLECTION_INTERVAL: '1h',
    };
    const sent = async () => {
      child.send('sent');
      return ((await messageOf(child)) as { sent: SentRequests }).sent;
    };
    const slowDown = (factor: number) => void child.send(factor);
    return await work({ pid: child.pid!, environment, sent, slowDown });
  } finally {
    child.disconnect();
  }
}

async function messageOf(child: ChildProcess): Promise<ServicesMessage> {
  const [message] = (await once(child, 'message')) as [ServicesMessage];
  return message;
}

export async function withStore<T>(
  { environment }: CloudServices,
  work: (store: ServerProcess) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'logboom-cloud-'));
  try {
    const store = await startProcess(CONFIG, join(folder, 'data'), environment);
    try {
      return await work(store);
    } finally {
      await store.end('SIGTERM');
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 128 });

export async function send(
  url: string,
  { method = 'GET', body = '' }: { readonly method?: string; readonly body?: string | Buffer } = {},
): Promise<string> {
  const headers = { 'x-scope-orgid': TENANT, 'content-type': 'application/json' };
  const sending = request(url, { method, headers, agent });
  sending.end(body);
  const [response] = await once(sending, 'response');
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  if (response.statusCode >= 300) throw new Error(`${response.statusCode}: ${text}`);
  return text;
}

function pushBody(streams: ReturnType<Dataset['pushes']> extends Iterable<infer S> ? S : never): string {
  const entries = streams.map(({ labels, entries }) => ({
    stream: labels,
    values: entries.map(({ ns, line }) => [String(ns), line]),
  }));
  return JSON.stringify({ streams: entries });
}

export async function queriesOverHttp(dataset: Dataset, latencyFactor: number): Promise<HttpFigure[]> {
  return withServices(async services => {
    await withStore(services, async ({ url }) => {
      for (const streams of dataset.pushes()) {
        await send(`${url}/loki/api/v1/push`, { method: 'POST', body: pushBody(streams) });
      }
      if (dataset.isMerged) await send(`${url}/flush/tenant`, { method: 'POST' });
    });
    services.slowDown(latencyFactor);
    const figures: HttpFigure[] = [];
    for (const query of cloudSuite(dataset)) {
      figures.push(await withStore(services, store => measure(services, store, dataset, query)));
    }
    return figures;
  });
}

async function measure(
  services: CloudServices,
  { url }: ServerProcess,
  { name }: Dataset,
  query: CloudQuery,
): Promise<HttpFigure> {
  const params = new URLSearchParams({ ...query.params, explain: 'true' });
  const ask = async () => {
    const startedMs = performance.now();
    const text = await send(`${url}${query.path}?${params}`);
    const ms = performance.now() - startedMs;
    const { explain } = JSON.parse(text).data as { explain?: { rounds?: readonly ReadRound[] } };
    return { ms, rounds: explain?.rounds?.length ?? Number.NaN, sent: await services.sent() };
  };
  // Excludes the requests of the process's start.
  await send(`${url}/ready`);
  await services.sent();
  const first = await ask();
  const warm = [];
  for (let i = 0; i < WARM_ASKS; i++) warm.push(await ask());
  warm.sort((a, b) => a.ms - b.ms);
  return {
    dataset: name,
    query: query.name,
    coldMs: first.ms,
    coldRounds: first.rounds,
    cold: first.sent,
    warmMs: warm[0].ms,
    warmRounds: warm[0].rounds,
    warm: warm[0].sent,
  };
}
