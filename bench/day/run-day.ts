/**
 * `npm run bench -- day --mb N`: a whole day of one tenant, of any size. It is pushed, merged while it is pushed,
 * flushed, queried, and then planned as the query function does it. The figures check what the simulated fleet
 * (test/simulation/fleet/figures.ts) assumes for each TB.
 *
 * The lines are those of bench/corpus.ts, in 24 hours with a seed each. They are made while they are pushed,
 * so 50 GB need 12 GB of disk and no more memory than 1 GB.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../shared/base/model/errors.ts';
import { MS_PER_DAY, NS_PER_DAY, NS_PER_HOUR, NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { createClient, type HttpClient } from '../../test/end-to-end/support/client.ts';
import { PROTOBUF_TYPE, snappyPush } from '../../test/end-to-end/support/push.ts';
import { type ServerProcess, startProcess } from '../../test/end-to-end/support/server-process.ts';
import { CORPUS_START_NS, generateBatches, NEEDLE } from '../corpus.ts';
import { cpuOfThreads } from '../thread-cpu.ts';
import type { PlanningFigures } from './plan-day.ts';

interface QueryFigure {
  readonly name: string;
  readonly hours: number;
  /** First run in a new process, and the fastest of the others. Undefined if the query failed. */
  readonly coldMs: number | undefined;
  readonly warmMs: number | undefined;
  /** CPU seconds of the store in the first run. */
  readonly cpuS: number | undefined;
}

export interface DayFigures {
  readonly mb: number;
  readonly ingest: { readonly seconds: number; readonly cpuS: number };
  readonly flush: { readonly seconds: number; readonly cpuS: number };
  readonly peakRssMb: number | undefined;
  readonly objectBytes: number;
  readonly tableBytes: number;
  readonly queries: readonly QueryFigure[];
  readonly planning: PlanningFigures;
}

const CONFIG = join(import.meta.dirname, 'day.yaml');
const TENANT = 'bench';
const HOURS = 24;
const CONNECTIONS = 4;
const WARM_RUNS = 3;
/** Duration of a query that is repeated once only, ms. */
const LONG_MS = 10_000;
/** Part of a trace ID that is in no line. */
const ABSENT = '4bf92f3577b34da6a3ce929d0e0e4736';
/** The day before, whose windows are all closed. */
const START_NS = BigInt(Math.floor(Date.now() / MS_PER_DAY) * MS_PER_DAY - MS_PER_DAY) * NS_PER_MS;

const QUERIES: readonly (readonly [string, string])[] = [
  ['needle, absent', `sum(count_over_time({app=~".+"} |= "${ABSENT}" [1m]))`],
  ['needle in each batch', `sum(count_over_time({app=~".+"} |= "${NEEDLE}" [1m]))`],
  ['count by minute', 'sum(count_over_time({app=~".+"}[1m]))'],
  ['JSON filter', 'sum(count_over_time({app=~".+"} | json | status >= 500 [1m]))'],
  ['regular expression', 'sum(count_over_time({app=~".+"} |~ "[a-f]{3}[0-9]{2,}x?[a-f]" [1m]))'],
];
const RANGE_HOURS = [1, 24];

interface DayOptions {
  readonly mb: number;
  /** Folder of a store that is kept. Default: a temporary one. */
  readonly dataDir: string | undefined;
  readonly say: (text: string) => void;
}

export async function runDay(options: DayOptions): Promise<DayFigures> {
  if (options.dataDir !== undefined) return measureDay(options, options.dataDir);
  const folder = await mkdtemp(join(tmpdir(), 'logboom-day-'));
  try {
    return await measureDay(options, join(folder, 'data'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureDay({ mb, say }: DayOptions, dataDir: string): Promise<DayFigures> {
  const filled = await withServer(dataDir, async server => {
    const client = createClient(server.url);
    say(`pushing ${mb} MB`);
    const ingest = await timed(server, () => pushDay(client, mb, say));
    say('merging');
    const flush = await timed(server, () => flushDay(client));
    client.close();
    return { ingest, flush, peakRssMb: await peakRssMbOf(server) };
  });
  const queries: QueryFigure[] = [];
  for (const hours of RANGE_HOURS) {
    for (const [name, query] of QUERIES) {
      say(`asking: ${name}, ${hours} hours`);
      queries.push(await withServer(dataDir, server => ask(server, { name, query, hours }, say)));
    }
  }
  say('planning');
  return {
    mb,
    ...filled,
    objectBytes: await bytesOf(join(dataDir, 'objects')),
    tableBytes: (await stat(join(dataDir, 'catalog.sqlite'))).size,
    queries,
    planning: await plan(dataDir),
  };
}

async function withServer<T>(dataDir: string, work: (server: ServerProcess) => Promise<T>): Promise<T> {
  const server = await startProcess(CONFIG, dataDir);
  try {
    return await work(server);
  } finally {
    await server.end('SIGTERM');
  }
}

async function timed(
  { pid }: ServerProcess,
  work: () => Promise<void>,
): Promise<{ seconds: number; cpuS: number }> {
  const [startedMs, before] = [performance.now(), cpuOf(pid)];
  await work();
  return { seconds: (performance.now() - startedMs) / 1000, cpuS: cpuOf(pid) - before };
}

function cpuOf(pid: number): number {
  return [...(cpuOfThreads(pid)?.values() ?? [])].reduce((sum, seconds) => sum + seconds, 0);
}

async function peakRssMbOf({ pid }: ServerProcess): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kb = /VmHWM:\s+(\d+) kB/.exec(text)?.[1];
  return kb === undefined ? undefined : Number(kb) / 1024;
}

async function pushDay(client: HttpClient, mb: number, say: (text: string) => void): Promise<void> {
  for (let hour = 0; hour < HOURS; hour++) {
    const shift = START_NS - CORPUS_START_NS + BigInt(hour) * NS_PER_HOUR;
    const batches = generateBatches(mb / HOURS, hour + 1);
    const pusher = async () => {
      for (let next = batches.next(); next.done !== true; next = batches.next()) {
        const body = snappyPush(
          next.value.streams.map(({ labels, entries }) => ({
            labels,
            entries: entries.map(entry => ({ ...entry, ns: entry.ns + shift })),
          })),
        );
        await push(client, body);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, pusher));
    say(`hour ${hour + 1} of ${HOURS}`);
  }
}

async function push(client: HttpClient, body: Uint8Array): Promise<void> {
  const headers = { 'content-type': PROTOBUF_TYPE, 'x-scope-orgid': TENANT };
  for (;;) {
    const { status, text } = await client.send({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers,
      body,
    });
    if (status === 204) return;
    // The backlog of merges is at its limit.
    if (status !== 429) throw new Error(`a push was answered ${status}: ${text}`);
    await new Promise(resolve => setTimeout(resolve, 500));
  }
}

async function flushDay(client: HttpClient): Promise<void> {
  for (;;) {
    const headers = { 'x-scope-orgid': TENANT };
    const { status, text } = await client.send({ method: 'POST', path: '/flush/tenant', headers });
    if (status === 204) return;
    if (status !== 202) throw new Error(`a flush was answered ${status}: ${text}`);
  }
}

/** A query that fails has no figures, so that the others of a long run are not lost. */
async function ask(
  server: ServerProcess,
  { name, query, hours }: { readonly name: string; readonly query: string; readonly hours: number },
  say: (text: string) => void,
): Promise<QueryFigure> {
  const client = createClient(server.url);
  const endNs = START_NS + BigInt(HOURS) * NS_PER_HOUR;
  const params = { query, step: '60', start: `${endNs - BigInt(hours) * NS_PER_HOUR}`, end: `${endNs}` };
  const once = async () => {
    const startedMs = performance.now();
    const { status, text } = await client.send({
      path: '/loki/api/v1/query_range',
      query: params,
      // The results cache would answer the repeated query.
      headers: { 'x-scope-orgid': TENANT, 'cache-control': 'no-cache' },
    });
    if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
    return performance.now() - startedMs;
  };
  const before = cpuOf(server.pid);
  try {
    const coldMs = await once();
    const cpuS = cpuOf(server.pid) - before;
    const warm: number[] = [];
    for (let run = 0; run < (coldMs < LONG_MS ? WARM_RUNS : 1); run++) warm.push(await once());
    return { name, hours, coldMs, warmMs: Math.min(...warm), cpuS };
  } catch (error) {
    say(messageOf(error));
    return { name, hours, coldMs: undefined, warmMs: undefined, cpuS: undefined };
  } finally {
    client.close();
  }
}

/** Plans the day in another process, whose memory is its own. */
async function plan(dataDir: string): Promise<PlanningFigures> {
  const day = Number(START_NS / NS_PER_DAY);
  const child = fork(join(import.meta.dirname, 'plan-day.ts'), [dataDir, TENANT, `${day}`], {
    execArgv: [...process.execArgv, '--expose-gc'],
  });
  const [figures] = (await once(child, 'message')) as [PlanningFigures];
  return figures;
}

async function bytesOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const file of files) if (file.isFile()) bytes += (await stat(join(file.parentPath, file.name))).size;
  return bytes;
}
