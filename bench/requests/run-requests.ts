/**
 * `npm run bench -- requests`: billed requests to S3 and DynamoDB. The driver's corpus is pushed to the store
 * on an emulator, merged and indexed. Each query of its suite runs three times in a new process: cold, with
 * every cache empty; a second time, after which the page cache contains repeated reads (page-cache.ts); and
 * warm. Requests are counted between the store and the emulator.
 *
 * Nothing here depends on time, so a busy machine gives the same figures, except for hedges of slow reads.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MINISTACK, startEmulator, Unavailable } from '../../scripts/aws-emulators.mjs';
import type { ProcessTarget } from '../../shared/server/admin/targets.ts';
import { createClient, type HttpClient } from '../../test/end-to-end/support/client.ts';
import { type ServerProcess, startProcess } from '../../test/end-to-end/support/server-process.ts';
import { type CountingProxy, startCountingProxy } from './counting-proxy.ts';
import { type RequestCounts, since } from './counts.ts';

interface QueryRequests {
  readonly name: string;
  readonly cold: RequestCounts;
  readonly second: RequestCounts;
  readonly warm: RequestCounts;
}

export interface RequestFigures {
  /** Bytes of raw lines. */
  readonly rawBytes: number;
  readonly lines: number;
  readonly pushes: number;
  readonly ingest: RequestCounts;
  /** Requests until everything is merged and indexed. */
  readonly flush: RequestCounts;
  /** Requests of a starting process until it is ready. */
  readonly start: RequestCounts;
  readonly queries: readonly QueryRequests[];
}

interface RunRequestsOptions {
  readonly mb: number;
  /** Folder of the corpus and the suite. */
  readonly driverFolder: string;
  readonly say: (line: string) => void;
}

interface CorpusMeta {
  readonly stats: { readonly lines: number; readonly rawBytes: number; readonly batches: number };
}

interface SuiteQuery {
  readonly name: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string | number>>;
  readonly expect?: { readonly lines?: number; readonly sum?: number } | null;
}

const CONFIG = resolve(import.meta.dirname, '../../config/bench.yaml');
const TENANT = 'bench';
const HEADERS = { 'x-scope-orgid': TENANT };
/**
 * A flush that exceeds the request timeout continues in the background; a repeated request returns when it
 * has ended.
 */
const MAX_FLUSHES = 20;
const FLUSH_PAUSE_MS = 5_000;

/** Undefined if the emulator or the corpus is unavailable, which is printed. */
export async function runRequests(options: RunRequestsOptions): Promise<RequestFigures | undefined> {
  const { driverFolder, say } = options;
  if (!existsSync(join(driverFolder, 'drive.mjs'))) {
    say(`SKIPPED: the corpus and the suite are not there (${driverFolder})`);
    return undefined;
  }
  try {
    return await withEmulator(say, endpoint => measure(options, endpoint));
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    say(`SKIPPED: without ${MINISTACK.name} there is no S3 and no DynamoDB here: ${error.message}`);
    return undefined;
  }
}

async function withEmulator<T>(say: (line: string) => void, use: (url: string) => Promise<T>): Promise<T> {
  const emulator = await startEmulator(MINISTACK, { say, onSpawn: one => endOnSignal(one.kill) });
  try {
    return await use(emulator.url);
  } finally {
    await emulator.stop();
  }
}

/** Ends child processes together with this one. */
function endOnSignal(kill: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      kill();
      // Other handlers of the signal run in the same event loop turn.
      setImmediate(() => process.exit(1));
    });
  }
}

async function measure(
  { mb, driverFolder, say }: RunRequestsOptions,
  endpoint: string,
): Promise<RequestFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'logboom-requests-'));
  const proxy = await startCountingProxy(endpoint);
  let running: ServerProcess | undefined;
  endOnSignal(() => void running?.end('SIGKILL'));
  const withProcess = async <T>(
    target: ProcessTarget,
    use: (server: ServerProcess, client: HttpClient) => Promise<T>,
  ): Promise<T> => {
    const server = await startProcess(CONFIG, join(folder, 'data'), environmentOf(proxy.url, target));
    running = server;
    const client = createClient(server.url);
    try {
      return await use(server, client);
    } finally {
      client.close();
      await server.end('SIGTERM');
    }
  };
  try {
    const meta = join(folder, 'meta.json');
    const loaded = await withProcess('all', async ({ url }, client) => {
      const before = await proxy.settledCounts();
      await ingest(driverFolder, mb, { url, meta, out: join(folder, 'result.json') });
      const pushed = await proxy.settledCounts();
      say('merging');
      await flush(client);
      return { ingest: since(before, pushed), flush: since(pushed, await proxy.settledCounts()) };
    });
    const corpus = JSON.parse(readFileSync(meta, 'utf8')) as CorpusMeta;
    const { suite } = (await import(join(driverFolder, 'suite.mjs'))) as {
      suite: (meta: CorpusMeta) => readonly SuiteQuery[];
    };
    let start = loaded.ingest;
    const queries: QueryRequests[] = [];
    for (const query of suite(corpus)) {
      const begun = await proxy.settledCounts();
      await withProcess('read', async (_server, client) => {
        await client.send({ path: '/ready' });
        start = since(begun, await proxy.settledCounts());
        const cold = await countOf(proxy, () => ask(client, query));
        const second = await countOf(proxy, () => ask(client, query));
        const warm = await countOf(proxy, () => ask(client, query));
        queries.push({ name: query.name, cold, second, warm });
      });
      say(`asked ${query.name}`);
    }
    const { lines, rawBytes, batches: pushes } = corpus.stats;
    return { rawBytes, lines, pushes, ...loaded, start, queries };
  } finally {
    await proxy.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Environment without background work while requests are counted. Rules are off too, because `all` evaluates
 * them every five seconds. The account is fictitious.
 */
function environmentOf(endpoint: string, target: ProcessTarget): Record<string, string> {
  return {
    LOGBOOM_TARGET: target,
    LOGBOOM_STORAGE: 's3',
    LOGBOOM_BUCKET: 'logboom-requests',
    LOGBOOM_TABLE: 'logboom-requests',
    LOGBOOM_ENDPOINT: endpoint,
    LOGBOOM_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    COLLECTION_INTERVAL: '1h',
  };
}

async function ingest(
  folder: string,
  mb: number,
  { url, meta, out }: { readonly url: string; readonly meta: string; readonly out: string },
): Promise<void> {
  const like = ['--like', join(folder, 'corpus-512.json'), '--mb', `${mb}`];
  const how = ['--format', 'proto', '--connections', '4', '--tenant', TENANT, '--no-calibrate'];
  const args = [
    join(folder, 'drive.mjs'),
    'ingest',
    '--url',
    url,
    '--meta',
    meta,
    '--out',
    out,
    ...like,
    ...how,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the driver ended with ${code}`);
  const { ingest: done } = JSON.parse(readFileSync(out, 'utf8')) as {
    ingest: { readonly failedPushes: number; readonly retries: number };
  };
  if (done.failedPushes > 0 || done.retries > 0)
    throw new Error(`${done.failedPushes} pushes failed and ${done.retries} were sent again`);
}

async function flush(client: HttpClient): Promise<void> {
  for (let i = 0; i < MAX_FLUSHES; i++) {
    const { status, text } = await client.send({ method: 'POST', path: '/flush/tenant', headers: HEADERS });
    if (status === 204) return;
    if (status !== 202) throw new Error(`the flush was answered ${status}: ${text}`);
    await new Promise(next => setTimeout(next, FLUSH_PAUSE_MS));
  }
  throw new Error('the flush does not end');
}

async function countOf(proxy: CountingProxy, work: () => Promise<void>): Promise<RequestCounts> {
  const before = await proxy.settledCounts();
  await work();
  return since(before, await proxy.settledCounts());
}

/** Throws if the response differs from the corpus: the requests of a wrong response mean nothing. */
async function ask(client: HttpClient, { name, path, params, expect }: SuiteQuery): Promise<void> {
  const query = Object.fromEntries(Object.entries(params).map(([key, value]) => [key, `${value}`]));
  const { status, text } = await client.send({ path: `/loki${path}`, query, headers: HEADERS });
  if (status !== 200) throw new Error(`${name} was answered ${status}: ${text}`);
  if (expect === undefined || expect === null) return;
  const { data } = JSON.parse(text) as {
    data: { readonly result: readonly { readonly values: readonly (readonly [unknown, string])[] }[] };
  };
  const values = data.result.flatMap(one => one.values);
  const sum = values.reduce((total, [, value]) => total + Number(value), 0);
  const isRight =
    (expect.lines === undefined || values.length === expect.lines) &&
    (expect.sum === undefined || sum === expect.sum);
  if (!isRight) throw new Error(`${name} was answered wrongly: ${JSON.stringify(expect)} was expected`);
}
