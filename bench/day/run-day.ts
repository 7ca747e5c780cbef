/**
 * `npm run bench -- day --mb N`: a whole day of one tenant, of any size. It is pushed, merged while it is pushed,
 * flushed, queried, and then planned as the query function does it. The figures check what the simulated fleet
 * (test/simulation/fleet/figures.ts) assumes for each TB.
 *
 * The lines are those of bench/corpus.ts, in 24 hours with a seed each. They are made while they are pushed,
 * so 50 GB need 12 GB of disk and no more memory than 1 GB. Pushes of a day of 50 GB have 4 MB of lines, as those of a
 * fleet of agents behind the write tier.
 *
 * There are two stages. The first pushes and merges without indexes. The second writes the indexes, asks and plans. With a kept
 * folder, it can run again with later code.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../shared/base/model/errors.ts';
import { MS_PER_DAY, NS_PER_DAY, NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { createClient, type HttpClient } from '../../test/end-to-end/support/client.ts';
import { PROTOBUF_TYPE, snappyPush } from '../../test/end-to-end/support/push.ts';
import { type ServerProcess, startProcess } from '../../test/end-to-end/support/server-process.ts';
import { type Batch, CORPUS_START_NS, generateBatches, NEEDLE } from '../corpus.ts';
import { cpuOfThreads } from '../thread-cpu.ts';
import type { IndexingFigures } from './index-day.ts';
import type { PlanningFigures } from './plan-day.ts';
import { settledDay } from './settled-day.ts';

interface QueryFigure {
  readonly name: string;
  readonly hours: number;
  /** First run in a new process, and the fastest of the others. Undefined if the query failed. */
  readonly coldMs: number | undefined;
  readonly warmMs: number | undefined;
  /** CPU seconds of the store in the first run. */
  readonly cpuS: number | undefined;
}

interface StepFigures {
  readonly seconds: number;
  readonly cpuS: number;
}

/** Figures of the first stage, which are kept with the store. */
export interface FillFigures {
  readonly mb: number;
  /** Parts of the streams, for 5 minutes with the average of lines. */
  readonly parts: number;
  /** UTC day since 1970-01-01. */
  readonly day: number;
  readonly ingest: StepFigures;
  readonly merges: StepFigures;
  readonly flush: StepFigures;
  readonly peakRssMb: number | undefined;
}

export interface DayFigures extends FillFigures {
  readonly indexing: IndexingFigures;
  readonly objectBytes: number;
  readonly tableBytes: number;
  readonly queries: readonly QueryFigure[];
  readonly planning: PlanningFigures;
}

const CONFIG = join(import.meta.dirname, 'day.yaml');
const TENANT = 'bench';
const HOURS = 24;
/** A smaller day has lines in fewer hours: outputs of 5 minutes with less than 8 MiB of lines are drafts, without parts. */
const MB_OF_HOUR = 125;
const CONNECTIONS = 4;
const WARM_RUNS = 3;
/** Duration of a query that is repeated once only, ms. */
const LONG_MS = 10_000;
/** Part of a trace ID that is in no line. */
const ABSENT = '4bf92f3577b34da6a3ce929d0e0e4736';
const WINDOWS_OF_HOUR = 12;
/**
 * Lines of an hour whose chunks have the size of config/local.yaml, with pushes of 4 MB. Both are smaller if it has fewer lines, so that
 * its chunks are as many.
 */
const FULL_MB_OF_HOUR = 50_000 / HOURS;
const BATCHES_OF_PUSH = 8;
const CHUNK_BYTES = 64 * 1024 * 1024;
/** Share of the lines of 5 minutes by which the size of parts is lower, so that 5 minutes with fewer lines have as many parts. */
const PART_MARGIN = 0.2;

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
  /** Number of parts that the streams are divided into, a power of two up to 8. */
  readonly parts: number;
  /** Folder that is kept, with the store and the figures of the first stage. Default: a temporary one. */
  readonly folder: string | undefined;
  readonly say: (text: string) => void;
}

/** Runs both stages, or only the second if the folder has a filled store. */
export async function runDay(options: DayOptions): Promise<DayFigures> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'logboom-day-')));
  try {
    const filled = await fillDay(options, folder);
    return await askDay(filled, storeOf(folder), options.say);
  } finally {
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the first stage, or reads its figures. Throws if an earlier run was ended before the store was complete. */
export async function fillDay({ mb, parts, say }: DayOptions, folder: string): Promise<FillFigures> {
  const figures = join(folder, 'filled.json');
  const dataDir = storeOf(folder);
  if (existsSync(figures)) return JSON.parse(await readFile(figures, 'utf8')) as FillFigures;
  if (existsSync(dataDir)) throw new Error(`${dataDir} is incomplete; delete it`);
  await mkdir(folder, { recursive: true });
  // The day before, whose windows are all closed.
  const day = Math.floor(Date.now() / MS_PER_DAY) - 1;
  const environment = {
    DAY_PART_SIZE: `${partBytes(mb, parts)}`,
    DAY_CHUNK_SIZE: `${Math.round(CHUNK_BYTES * sizeOf(mb))}`,
    DAY_INDEX_SYNC: 'false',
  };
  const filled = await withServer(
    dataDir,
    async server => {
      const client = createClient(server.url);
      say(`pushing ${mb} MB`);
      const ingest = await timed(server, () => pushDay(client, { mb, day }, say));
      say('merging');
      const merges = await timed(server, () => settledDay(dataDir, TENANT, day));
      const flush = await timed(server, () => flushDay(client));
      client.close();
      return { mb, parts, day, ingest, merges, flush, peakRssMb: await peakRssMbOf(server) };
    },
    environment,
  );
  await writeFile(figures, JSON.stringify(filled));
  return filled;
}

async function askDay(filled: FillFigures, dataDir: string, say: DayOptions['say']): Promise<DayFigures> {
  const { day } = filled;
  say('indexing');
  const indexing = await figuresOf<IndexingFigures>('index-day.ts', dataDir, day);
  const queries: QueryFigure[] = [];
  for (const hours of RANGE_HOURS) {
    for (const [name, query] of QUERIES) {
      say(`asking: ${name}, ${hours} hours`);
      queries.push(await withServer(dataDir, server => ask(server, { name, query, hours, day }, say)));
    }
  }
  say('planning');
  return {
    ...filled,
    indexing,
    objectBytes: await bytesOf(join(dataDir, 'objects')),
    tableBytes: (await stat(join(dataDir, 'catalog.sqlite'))).size,
    queries,
    planning: await figuresOf<PlanningFigures>('plan-day.ts', dataDir, day),
  };
}

function storeOf(folder: string): string {
  return join(folder, 'store');
}

/** Number of hours that have lines. */
function hoursOf(mb: number): number {
  return Math.max(1, Math.min(HOURS, Math.floor(mb / MB_OF_HOUR)));
}

/** Size of pushes and chunks, in relation to those of a day of 50 GB. */
function sizeOf(mb: number): number {
  return Math.min(1, mb / hoursOf(mb) / FULL_MB_OF_HOUR);
}

/** Returns 0 for no division. */
function partBytes(mb: number, parts: number): number {
  const windows = hoursOf(mb) * WINDOWS_OF_HOUR;
  return parts === 1 ? 0 : Math.round((mb * 1e6 * (1 - PART_MARGIN)) / windows / parts);
}

function startNsOf(day: number): bigint {
  return BigInt(day) * NS_PER_DAY;
}

async function withServer<T>(
  dataDir: string,
  work: (server: ServerProcess) => Promise<T>,
  environment?: Record<string, string>,
): Promise<T> {
  const server = await startProcess(CONFIG, dataDir, environment);
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

async function pushDay(
  client: HttpClient,
  { mb, day }: { readonly mb: number; readonly day: number },
  say: (text: string) => void,
): Promise<void> {
  const hours = hoursOf(mb);
  const count = Math.max(1, Math.round(BATCHES_OF_PUSH * sizeOf(mb)));
  for (let hour = HOURS - hours; hour < HOURS; hour++) {
    const shift = startNsOf(day) - CORPUS_START_NS + BigInt(hour) * NS_PER_HOUR;
    const batches = generateBatches(mb / hours, hour + 1);
    const pusher = async () => {
      for (let some = nextBatches(batches, count); some.length > 0; some = nextBatches(batches, count)) {
        const body = snappyPush(
          some.flatMap(({ streams }) =>
            streams.map(({ labels, entries }) => ({
              labels,
              entries: entries.map(entry => ({ ...entry, ns: entry.ns + shift })),
            })),
          ),
        );
        await push(client, body);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, pusher));
    say(`hour ${hour + 1} of ${HOURS}`);
  }
}

/** Returns the batches of one push, none at the end. */
function nextBatches(batches: Generator<Batch>, count: number): Batch[] {
  const some: Batch[] = [];
  while (some.length < count) {
    const { value, done } = batches.next();
    if (done === true) break;
    some.push(value);
  }
  return some;
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
  { name, query, hours, day }: Readonly<{ name: string; query: string; hours: number; day: number }>,
  say: (text: string) => void,
): Promise<QueryFigure> {
  const client = createClient(server.url);
  const endNs = startNsOf(day + 1);
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

/** Runs a program of this folder in another process, whose memory is separate. */
async function figuresOf<T>(program: string, dataDir: string, day: number): Promise<T> {
  const child = fork(join(import.meta.dirname, program), [dataDir, TENANT, `${day}`], {
    execArgv: [...process.execArgv, '--expose-gc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${program} ended with ${code}`);
  });
  const [figures] = (await Promise.race([once(child, 'message'), ended])) as [T];
  return figures;
}

async function bytesOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const file of files) if (file.isFile()) bytes += (await stat(join(file.parentPath, file.name))).size;
  return bytes;
}
