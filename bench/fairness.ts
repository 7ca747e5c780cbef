/**
 * Effect of a heavy tenant on a light one. The light tenant pushes a little and runs dashboard queries, both
 * at a fixed pace. In every other round, another tenant pushes at its limit, runs the most expensive queries
 * on 40 connections, and opens every allowed tail (fairness-loud.ts, a separate process).
 *
 * Rounds alternate, because the machine's speed changes over minutes. A figure is the median over the rounds
 * of its kind, without the first one, which is the warm-up. Other users of the physical machine may pause
 * this one for half a second, which decides the p99 of a single round. Before a round without the heavy
 * tenant, its pushes are merged, so that their backlog does not count.
 *
 * Latencies count from when a request was due, not from when it was sent, so that waiting for a response does
 * not hide delays. The goal is a factor of at most 2 for p99 of pushes and p95 of queries.
 */
import { type ForkOptions, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { NS_PER_MINUTE } from '../shared/base/model/time-units.ts';
import { createClient, type HttpClient } from '../test/end-to-end/support/client.ts';
import { PROTOBUF_TYPE, snappyPush } from '../test/end-to-end/support/push.ts';
import { startProcess } from '../test/end-to-end/support/server-process.ts';
import { CORPUS_NS, CORPUS_START_NS, generateBatches } from './corpus.ts';
import type { LoudOrder, LoudReport } from './fairness-loud.ts';
import { type Cell, formatTable } from './table.ts';

const QUIET = 'quiet';
const LOUD = 'loud';
const ROUNDS = 5;
const ROUND_MS = 12_000;
/** Time until the heavy load is running, and until its backlog is done. */
const RISE_MS = 2_000;
const REST_MS = 2_000;
const PACKING_WAIT_MS = 100;
const MAX_PACKING_WAITS = 600;
const PUSHES_PER_SECOND = 20;
const LINES_PER_PUSH = 100;
const QUERIES_PER_SECOND = 5;
/** Pause between pushes: a tenant may push 4 MB/s by default. */
const FILL_PAUSE_MS = 140;

interface FairnessFigures {
  readonly quiet: Percentiles;
  readonly besideLoud: Percentiles;
  /** Factor of p99; the goal is at most 2. */
  readonly pushFactor: number;
  /** Factor of p95; the goal is at most 2. */
  readonly queryFactor: number;
  readonly loud: readonly LoudReport[];
}

interface Percentiles {
  readonly pushMsP50: number;
  readonly pushMsP99: number;
  readonly queryMsP50: number;
  readonly queryMsP95: number;
}

/** @param mb lines of each tenant in the store before the first round */
export async function runFairness(mb: number): Promise<FairnessFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'logboom-fairness-'));
  const server = await startProcess(resolve(import.meta.dirname, 'fairness.yaml'), join(folder, 'data'));
  const loud = startLoud();
  runFirst();
  // Separate clients, so that no push waits for a connection.
  const [pushing, asking] = [createClient(server.url), createClient(server.url)];
  try {
    await Promise.all([QUIET, LOUD].map(tenant => fill(pushing, tenant, mb)));
    const alone: Percentiles[] = [];
    const beside: Percentiles[] = [];
    const reports: LoudReport[] = [];
    // The first round of each kind is the warm-up: a new store compiles its code and starts its threads.
    for (let i = 0; i <= ROUNDS; i++) {
      const isWarmUp = i === 0;
      await Promise.all([loud.prepare(i), packAll(pushing)]);
      const quietly = await round(pushing, asking);
      loud.start(server.url);
      await sleep(RISE_MS);
      const loudly = await round(pushing, asking);
      const report = await loud.stop();
      if (!isWarmUp) {
        alone.push(quietly);
        beside.push(loudly);
        reports.push(report);
      }
      await sleep(REST_MS);
    }
    const [quiet, besideLoud] = [medianOf(alone), medianOf(beside)];
    return {
      quiet,
      besideLoud,
      pushFactor: besideLoud.pushMsP99 / quiet.pushMsP99,
      queryFactor: besideLoud.queryMsP95 / quiet.queryMsP95,
      loud: reports,
    };
  } finally {
    loud.end();
    pushing.close();
    asking.close();
    await server.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs the heavy tenant with the lowest priority: it represents other machines but shares the store's cores.
 * With `chrt`, it runs only on idle cores (sched(7), SCHED_IDLE): a process with a high nice value would
 * still keep a core to the end of its time slice.
 */
function runsLast(): ForkOptions {
  const hasChrt = spawnSync('chrt', ['--idle', '0', 'true']).status === 0;
  const [execPath, ...before] = hasChrt ? ['chrt', '--idle', '0'] : ['nice', '-n', '19'];
  return { execPath, execArgv: [...before, process.execPath, ...process.execArgv] };
}

/**
 * Gives the measuring process real-time priority (sched(7), SCHED_RR; Linux, if permitted): it represents
 * another machine and must not wait for the store's cores. It takes 3% of a core. Its child processes run
 * normally.
 */
function runFirst(): void {
  spawnSync('chrt', ['--all-tasks', '--reset-on-fork', '--rr', '--pid', '1', `${process.pid}`], {
    stdio: 'ignore',
  });
}

function startLoud() {
  const child = fork(resolve(import.meta.dirname, 'fairness-loud.ts'), { stdio: 'inherit', ...runsLast() });
  const order = (one: LoudOrder) => child.send(one);
  return {
    async prepare(round: number): Promise<void> {
      const prepared = once(child, 'message');
      order({ kind: 'prepare', round });
      await prepared;
    },
    start: (url: string) => void order({ kind: 'start', url, tenant: LOUD }),
    async stop(): Promise<LoudReport> {
      const reported = once(child, 'message');
      order({ kind: 'stop' });
      const [report] = (await reported) as [LoudReport];
      return report;
    },
    end: () => void child.kill(),
  };
}

/** Resolves when a compaction run that started after this call is over. */
async function packAll(client: HttpClient): Promise<void> {
  const askedMs = Date.now();
  await client.send({ method: 'POST', path: '/flush' });
  for (let waits = 0; waits < MAX_PACKING_WAITS; waits++) {
    const { json } = await client.send({ path: '/loki/api/v1/status/maintenance' });
    const { jobs } = json() as { jobs: { name: string; last_run: { started: string } | null }[] };
    const run = jobs.find(({ name }) => name === 'compaction')?.last_run;
    if (run && Date.parse(run.started) >= askedMs) return;
    await sleep(PACKING_WAIT_MS);
  }
  throw new Error('what was pushed is not packed');
}

async function fill(client: HttpClient, tenant: string, mb: number): Promise<void> {
  for (const { streams } of generateBatches(mb)) {
    await push(client, tenant, snappyPush(streams));
    await sleep(FILL_PAUSE_MS);
  }
}

async function push(client: HttpClient, tenant: string, body: Uint8Array): Promise<void> {
  const headers = { 'content-type': PROTOBUF_TYPE, 'x-scope-orgid': tenant };
  const { status, text } = await client.send({ method: 'POST', path: '/loki/api/v1/push', headers, body });
  if (status !== 204) throw new Error(`a push was answered ${status}: ${text}`);
}

async function round(pushing: HttpClient, asking: HttpClient): Promise<Percentiles> {
  const pushMs: number[] = [];
  const queryMs: number[] = [];
  await Promise.all([
    paced(PUSHES_PER_SECOND, pushMs, async () => push(pushing, QUIET, pushBody())),
    paced(QUERIES_PER_SECOND, queryMs, async i => ask(asking, i)),
  ]);
  return {
    pushMsP50: quantile(pushMs, 0.5),
    pushMsP99: quantile(pushMs, 0.99),
    queryMsP50: quantile(queryMs, 0.5),
    queryMsP95: quantile(queryMs, 0.95),
  };
}

/**
 * Starts `task` at its pace, even if earlier ones are still running; records the time from when each was due.
 */
async function paced(perSecond: number, took: number[], task: (i: number) => Promise<void>): Promise<void> {
  const startMs = performance.now();
  const all: Promise<void>[] = [];
  for (let i = 0; i < (perSecond * ROUND_MS) / 1000; i++) {
    const dueMs = startMs + (1000 * i) / perSecond;
    await sleep(dueMs - performance.now());
    all.push(task(i).then(() => void took.push(performance.now() - dueMs)));
  }
  await Promise.all(all);
}

let pushes = 0;

function pushBody(): Uint8Array {
  const fromNs = BigInt(Date.now()) * 1_000_000n;
  const entries = Array.from({ length: LINES_PER_PUSH }, (_, i) => ({
    ns: fromNs + BigInt(i),
    line: `level=info push=${pushes} line=${i} msg="request handled" path=/api/v1/orders status=200 duration=17ms`,
  }));
  pushes++;
  return snappyPush([{ labels: { app: `shop-${pushes % 5}`, env: 'prod' }, entries }]);
}

/** Dashboard panels over the initial data; ranges vary, so that no query repeats. */
async function ask(client: HttpClient, i: number): Promise<void> {
  const end = CORPUS_START_NS + CORPUS_NS - BigInt(i % 20) * NS_PER_MINUTE;
  const panels: readonly (readonly [minutes: number, query: string])[] = [
    [30, 'sum by (app) (rate({env="prod"}[1m]))'],
    [30, '{app="json-1"} |= "error"'],
    [15, 'sum by (status) (count_over_time({app="json-2"} | json [1m]))'],
    [5, '{app="logfmt-3"}'],
    [30, 'sum(rate({app="access-1"} |~ "\\" 5\\\\d\\\\d " [1m]))'],
  ];
  const [minutes, query] = panels[i % panels.length];
  const start = end - BigInt(minutes) * NS_PER_MINUTE;
  const params = { query, start: `${start}`, end: `${end}`, step: '60', limit: '100' };
  const headers = { 'x-scope-orgid': QUIET };
  const { status, text } = await client.send({ path: '/loki/api/v1/query_range', query: params, headers });
  if (status !== 200) throw new Error(`a query was answered ${status}: ${text}`);
}

function medianOf(rounds: readonly Percentiles[]): Percentiles {
  const median = (pick: (round: Percentiles) => number) => quantile(rounds.map(pick), 0.5);
  return {
    pushMsP50: median(round => round.pushMsP50),
    pushMsP99: median(round => round.pushMsP99),
    queryMsP50: median(round => round.queryMsP50),
    queryMsP95: median(round => round.queryMsP95),
  };
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

export function fairnessTable({ quiet, besideLoud, pushFactor, queryFactor, loud }: FairnessFigures): string {
  const row = (name: string, of: Percentiles): Cell[] => [
    name,
    of.pushMsP50,
    of.pushMsP99,
    of.queryMsP50,
    of.queryMsP95,
  ];
  const head = ['quiet tenant', 'push p50 ms', 'p99', 'query p50 ms', 'p95'];
  const rows = [row('alone', quiet), row('next to a heavy tenant', besideLoud)];
  const factors: Cell[] = ['factor (at most 2)', null, pushFactor, null, queryFactor];
  const sum = (pick: (report: LoudReport) => number) => loud.reduce((all, one) => all + pick(one), 0);
  const told =
    `the heavy tenant: ${sum(one => one.pushed)} pushes accepted, ${sum(one => one.refused)} refused, ` +
    `${sum(one => one.answered)} queries answered, ${sum(one => one.failed)} failed or canceled, ` +
    `${sum(one => one.tails)} tails, ${sum(one => one.frames)} frames`;
  return `${formatTable(head, [...rows, factors])}\n${told}`;
}

function sleep(ms: number): Promise<void> {
  return new Promise(done => setTimeout(done, Math.max(0, ms)));
}
