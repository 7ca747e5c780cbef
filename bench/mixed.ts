/**
 * Loss of push throughput during dashboard queries: rounds of pushes at full speed alone, with clients that
 * query at the refresh rate of dashboards, and with clients that query again after each response, the worst
 * case.
 *
 * Rounds alternate, because the machine's speed changes over minutes, and the loss is the median of the
 * losses of single rounds. A separate thread runs the dashboards, but clients and store share the cores.
 * Queries at a fixed rate take the same from the store at any speed, so the loss with them is the store's
 * own. Without a pause, the clients' own CPU also counts as a loss; the table shows the store's CPU. Each
 * round pushes the same bodies as a new tenant: they are not duplicates, and queries read the same data in
 * every round.
 */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { NS_PER_MINUTE } from '../shared/base/model/time-units.ts';
import { createClient, type HttpClient } from '../test/end-to-end/support/client.ts';
import { PROTOBUF_TYPE, snappyPush } from '../test/end-to-end/support/push.ts';
import { CORPUS_NS, CORPUS_START_NS, generateBatches } from './corpus.ts';
import { withStore } from './store.ts';
import { type Cell, formatTable } from './table.ts';

const TENANT = 'bench';
const CONNECTIONS = 4;
const CLIENTS = 8;
/** Queries of all clients: eight dashboards of eight panels that refresh about every 6 s. */
const PACED_PER_SECOND = 10;
const ROUND_MS = 2_500;
const ROUNDS = 5;
/** Enough for a round at 100 MB/s; the rest is not pushed. */
const ROUND_MB = 250;
const CLOCK_TICKS_PER_SECOND = 100;

const MODES = ['alone', 'paced', 'without pause'] as const;
type MixedMode = (typeof MODES)[number];

interface MixedRound {
  readonly mode: MixedMode;
  readonly mbPerSecond: number;
  readonly pushMsP50: number;
  readonly pushMsP99: number;
  readonly queriesPerSecond: number;
  readonly queryMsP50: number | null;
  readonly queryMsP95: number | null;
  /** CPU cores that the store used. */
  readonly storeCores: number | null;
}

/** Ranges vary with `i`, so that results cannot be reused. */
function panel(i: number): readonly [string, Readonly<Record<string, string>>] {
  const end = CORPUS_START_NS + CORPUS_NS - BigInt(i % 20) * NS_PER_MINUTE;
  const range = (minutes: number) => ({
    start: `${end - BigInt(minutes) * NS_PER_MINUTE}`,
    end: `${end}`,
    step: '60',
  });
  const query = '/api/v1/query_range';
  const panels: (readonly [string, Readonly<Record<string, string>>])[] = [
    [query, { ...range(30), query: 'sum by (app) (rate({env="prod"}[1m]))' }],
    [query, { ...range(30), query: '{app="json-1"} |= "error"', limit: '100' }],
    [query, { ...range(15), query: 'sum by (env) (count_over_time({app=~"json-.*"}[1m]))' }],
    [query, { ...range(15), query: 'sum by (status) (count_over_time({app="json-2"} | json [1m]))' }],
    [query, { ...range(5), query: '{app="logfmt-3"}', limit: '100' }],
    [
      query,
      {
        ...range(15),
        query:
          'quantile_over_time(0.95, {app="logfmt-1"} | logfmt | unwrap duration_seconds(duration) [1m]) by (app)',
      },
    ],
    ['/api/v1/label/app/values', { start: `${end - 60n * NS_PER_MINUTE}`, end: `${end}` }],
    [query, { ...range(30), query: 'sum(rate({app="access-1"} |~ "\\" 5\\\\d\\\\d " [1m]))' }],
  ];
  return panels[i % panels.length];
}

/** @param mb lines in the store before the first round */
export async function runMixed(mb: number): Promise<MixedRound[]> {
  const stored = bodiesOf(mb, 1);
  const bodies = bodiesOf(ROUND_MB, 2);
  return withStore(async ({ server: { url, pid } }) => {
    await withClient(url, client => push(client, stored, { tenant: TENANT, untilMs: Infinity }));
    const rounds: MixedRound[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      for (const mode of MODES) {
        const tenant = `${round}-${MODES.indexOf(mode)}`;
        const figures = await withClient(url, client => measure(client, bodies, { mode, tenant, pid, url }));
        // The first round of each kind is the warm-up.
        if (round > 0) rounds.push(figures);
      }
    }
    return rounds;
  });
}

async function withClient<T>(url: string, use: (client: HttpClient) => Promise<T>): Promise<T> {
  const client = createClient(url);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

function bodiesOf(mb: number, seed: number): { readonly body: Uint8Array; readonly bytes: number }[] {
  return Array.from(generateBatches(mb, seed), ({ streams, bytes }) => ({
    body: snappyPush(streams),
    bytes,
  }));
}

interface RoundOptions {
  readonly mode: MixedMode;
  readonly tenant: string;
  readonly pid: number;
  readonly url: string;
}

async function measure(
  client: HttpClient,
  bodies: ReturnType<typeof bodiesOf>,
  { mode, tenant, pid, url }: RoundOptions,
): Promise<MixedRound> {
  const dashboards = mode === 'alone' ? undefined : await startDashboards({ url, mode });
  const before = cpuSecondsOf(pid);
  const startMs = performance.now();
  const answered = dashboards?.ask();
  const { bytes, pushMs } = await push(client, bodies, { tenant, untilMs: startMs + ROUND_MS });
  const seconds = (performance.now() - startMs) / 1000;
  const after = cpuSecondsOf(pid);
  const queryMs = (await answered) ?? [];
  return {
    mode,
    mbPerSecond: bytes / 1e6 / seconds,
    pushMsP50: quantile(pushMs, 0.5)!,
    pushMsP99: quantile(pushMs, 0.99)!,
    queriesPerSecond: queryMs.length / seconds,
    queryMsP50: quantile(queryMs, 0.5),
    queryMsP95: quantile(queryMs, 0.95),
    storeCores: before === null || after === null ? null : (after - before) / seconds,
  };
}

/** Clients in a separate thread, so that processing responses does not delay the pushing client. */
interface Dashboards {
  /** Queries for one round. Resolves to the latencies, ms. */
  ask(): Promise<number[]>;
}

interface DashboardOptions {
  readonly url: string;
  readonly mode: MixedMode;
}

async function startDashboards(options: DashboardOptions): Promise<Dashboards> {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  await once(worker, 'message');
  return {
    async ask() {
      const answered = once(worker, 'message');
      worker.postMessage('ask');
      const [queryMs] = (await answered) as [number[]];
      return queryMs;
    },
  };
}

if (!isMainThread) {
  const { url, mode } = workerData as DashboardOptions;
  parentPort!.once('message', async () => {
    const untilMs = performance.now() + ROUND_MS;
    const queryMs: number[] = [];
    await withClient(url, client =>
      Promise.all(
        Array.from({ length: CLIENTS }, (_, first) => askUntil(client, { mode, first, untilMs, queryMs })),
      ),
    );
    parentPort!.postMessage(queryMs);
  });
  parentPort!.postMessage('ready');
}

interface Asking {
  readonly mode: MixedMode;
  readonly first: number;
  readonly untilMs: number;
  readonly queryMs: number[];
}

async function askUntil(client: HttpClient, { mode, first, untilMs, queryMs }: Asking): Promise<void> {
  const everyMs = (1000 * CLIENTS) / PACED_PER_SECOND;
  let dueMs = performance.now() + (mode === 'paced' ? (everyMs * first) / CLIENTS : 0);
  for (let i = first; ; i += CLIENTS + 1) {
    if (mode === 'paced') await sleep(Math.max(0, dueMs - performance.now()));
    if (performance.now() >= untilMs) return;
    const startMs = performance.now();
    const [path, params] = panel(i);
    const { status, text } = await client.send({
      path: `/loki${path}`,
      query: params,
      headers: { 'x-scope-orgid': TENANT },
    });
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${text}`);
    queryMs.push(performance.now() - startMs);
    // Late responses are not caught up: a dashboard refreshes after its response.
    dueMs = Math.max(dueMs + everyMs, performance.now());
  }
}

/** Pushes until the time is over or nothing is left. */
async function push(
  client: HttpClient,
  bodies: ReturnType<typeof bodiesOf>,
  { tenant, untilMs }: { readonly tenant: string; readonly untilMs: number },
): Promise<{ readonly bytes: number; readonly pushMs: number[] }> {
  const pushMs: number[] = [];
  let next = 0;
  let pushed = 0;
  const worker = async () => {
    while (next < bodies.length && performance.now() < untilMs) {
      const { body, bytes } = bodies[next++];
      const startMs = performance.now();
      const { status, text } = await client.send({
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { 'content-type': PROTOBUF_TYPE, 'x-scope-orgid': tenant },
        body,
      });
      if (status !== 204) throw new Error(`a push was answered ${status}: ${text}`);
      pushMs.push(performance.now() - startMs);
      pushed += bytes;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return { bytes: pushed, pushMs };
}

export function mixedTable(rounds: readonly MixedRound[]): string {
  const alone = rounds.filter(({ mode }) => mode === 'alone');
  const rows = MODES.map((mode): Cell[] => {
    const ofMode = rounds.filter(round => round.mode === mode);
    const median = (pick: (round: MixedRound) => number | null) =>
      quantile(ofMode.map(pick).filter(isNumber), 0.5);
    const losses = ofMode.map(({ mbPerSecond }, i) => 100 * (1 - mbPerSecond / alone[i].mbPerSecond));
    return [
      mode,
      median(round => round.mbPerSecond),
      mode === 'alone' ? null : quantile(losses, 0.5),
      median(round => round.pushMsP50),
      median(round => round.pushMsP99),
      median(round => round.queriesPerSecond),
      median(round => round.queryMsP50),
      median(round => round.queryMsP95),
      median(round => round.storeCores),
    ];
  });
  const head = [
    'dashboards',
    'MB/s',
    'loss %',
    'push p50 ms',
    'p99',
    'queries/s',
    'p50 ms',
    'p95',
    'store, cores',
  ];
  return formatTable(head, rows);
}

function isNumber(value: number | null): value is number {
  return value !== null;
}

function quantile(values: readonly number[], q: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}

/** User and system time; null if the system does not report it. */
function cpuSecondsOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
  } catch {
    return null;
  }
}
