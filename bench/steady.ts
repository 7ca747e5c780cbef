/**
 * Steady load with dashboards, like `sustain.mjs` of the driver: lines arrive at a fixed rate with their
 * arrival time, panels query the last 15 minutes, and the server runs its maintenance with default settings.
 * Also measures peers whose binaries are given:
 *
 *     VICTORIALOGS=/path/to/victoria-logs  LOKI=/path/to/loki  npm run bench -- steady --mbps 10 --seconds 180
 *     npm run bench -- soak                one hour at 2 MB/s: memory must be flat over the second half
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startProcess } from '../test/end-to-end/support/server-process.ts';
import { type Cell, formatTable } from './table.ts';
import { cpuOfThreads } from './thread-cpu.ts';

interface SteadyOptions {
  readonly mbps: number;
  readonly seconds: number;
}

interface Latency {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Shown fields of the result of `sustain.mjs`. */
interface SustainResult {
  readonly push: { readonly MBps: number; readonly failed: number; readonly pushMs: Latency };
  readonly queries: { readonly asked: number; readonly late: number; readonly all: Latency };
  readonly cpu: { readonly perGB: number; readonly withSettle: number };
  readonly rssMB: { readonly peak: number };
  readonly diskMB: number;
  /** Every 15 s: seconds, CPU seconds, MB of memory. */
  readonly series: readonly (readonly [number, number, number])[];
}

interface SteadyFigures extends SustainResult {
  readonly server: string;
  /** CPU seconds of each thread during the load and the minute after it. */
  readonly threads: Readonly<Record<string, number>>;
}

interface Peer {
  readonly name: string;
  readonly flags: readonly string[];
  start(dataDir: string): Promise<{ readonly url: string; readonly pid: number; stop(): Promise<void> }>;
}

const CONFIG = resolve(import.meta.dirname, '../config/steady.yaml');
const READY_TRIES = 120;
const READY_PAUSE_MS = 500;

/** @param folder folder of the driver */
export async function runSteady(folder: string, options: SteadyOptions): Promise<SteadyFigures[]> {
  const figures: SteadyFigures[] = [];
  for (const peer of [...peersOf(folder), LOGBOOM]) figures.push(await measure(folder, peer, options));
  return figures;
}

const LOGBOOM: Peer = {
  name: 'Logboom',
  flags: [],
  async start(dataDir) {
    const server = await startProcess(CONFIG, dataDir);
    return { ...server, stop: () => server.end('SIGTERM') };
  },
};

/** Peers whose binaries the environment names. */
function peersOf(folder: string): Peer[] {
  const { VICTORIALOGS, LOKI } = process.env;
  const peers: Peer[] = [];
  if (LOKI !== undefined) {
    const config = join(folder, 'loki-bench.yaml');
    const environment = (dataDir: string, port: number) => ({
      DATA_DIR: dataDir,
      HTTP_PORT: `${port}`,
      GRPC_PORT: `${port + 1}`,
    });
    const args = () => [`-config.file=${config}`, '-config.expand-env=true'];
    peers.push({
      name: 'Loki',
      flags: [],
      start: binaryOf({ file: LOKI, ready: '/ready', args, environment }),
    });
  }
  if (VICTORIALOGS !== undefined) {
    const args = (dataDir: string, port: number) => [
      `-storageDataPath=${dataDir}`,
      `-httpListenAddr=127.0.0.1:${port}`,
    ];
    const start = binaryOf({ file: VICTORIALOGS, ready: '/health', args, environment: () => ({}) });
    peers.push({ name: 'VictoriaLogs', flags: ['--dialect', 'vlogs'], start });
  }
  return peers;
}

interface Binary {
  readonly file: string;
  /** Path that returns 200 when the server is ready. */
  readonly ready: string;
  args(dataDir: string, port: number): readonly string[];
  environment(dataDir: string, port: number): Readonly<Record<string, string>>;
}

function binaryOf({ file, ready, args, environment }: Binary): Peer['start'] {
  return async dataDir => {
    if (!existsSync(file)) throw new Error(`there is no binary ${file}`);
    await mkdir(dataDir, { recursive: true });
    const port = await freePort();
    const child = spawn(file, args(dataDir, port), {
      stdio: 'ignore',
      env: { ...process.env, ...environment(dataDir, port) },
    });
    const url = `http://127.0.0.1:${port}`;
    await untilReady(`${url}${ready}`, child);
    return {
      url,
      pid: child.pid!,
      async stop() {
        child.kill('SIGTERM');
        if (child.exitCode === null) await once(child, 'exit');
      },
    };
  };
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (let i = 0; i < READY_TRIES && child.exitCode === null; i++) {
    const status = await fetch(url).then(
      answer => answer.status,
      () => 0,
    );
    if (status === 200) return;
    await new Promise(done => setTimeout(done, READY_PAUSE_MS));
  }
  throw new Error(`${url} did not become ready`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  return port;
}

async function measure(
  folder: string,
  { name, flags, start }: Peer,
  { mbps, seconds }: SteadyOptions,
): Promise<SteadyFigures> {
  const files = await mkdtemp(join(tmpdir(), 'logboom-steady-'));
  const dataDir = join(files, 'data');
  const out = join(files, 'result.json');
  try {
    const server = await start(dataDir);
    try {
      const before = cpuOfThreads(server.pid);
      const args = [
        join(folder, 'sustain.mjs'),
        '--url',
        server.url,
        '--pid',
        `${server.pid}`,
        '--data-dir',
        dataDir,
      ];
      args.push('--out', out, '--name', name, '--mbps', `${mbps}`, '--seconds', `${seconds}`, ...flags);
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`sustain.mjs ended with ${code}`);
      const result = JSON.parse(readFileSync(out, 'utf8')) as SustainResult;
      return { ...result, server: name, threads: difference(before, cpuOfThreads(server.pid)) };
    } finally {
      await server.stop();
    }
  } finally {
    await rm(files, { recursive: true, force: true });
  }
}

function difference(
  before: ReadonlyMap<string, number> | undefined,
  after: ReadonlyMap<string, number> | undefined,
): Record<string, number> {
  const entries = [...(after ?? [])].map(
    ([name, seconds]) => [name, seconds - (before?.get(name) ?? 0)] as const,
  );
  return Object.fromEntries(entries.filter(([, seconds]) => seconds > 0.1).sort((a, b) => b[1] - a[1]));
}

export function steadyTable(figures: readonly SteadyFigures[]): string {
  const latency = ({ p50, p95, p99 }: Latency) =>
    `${Math.round(p50)} / ${Math.round(p95)} / ${Math.round(p99)}`;
  const rows: [string, (of: SteadyFigures) => Cell][] = [
    ['MB/s', ({ push }) => push.MBps],
    ['questions answered', ({ queries }) => queries.all.n],
    ['of them late', ({ queries }) => queries.late],
    ['query p50 / p95 / p99 ms', ({ queries }) => latency(queries.all)],
    ['push p50 / p95 / p99 ms', ({ push }) => latency(push.pushMs)],
    ['failed pushes', ({ push }) => push.failed],
    ['CPU s per GB, during the load', ({ cpu }) => cpu.perGB],
    ['CPU s per GB, a minute later', ({ cpu }) => cpu.withSettle],
    ['peak RSS MB', ({ rssMB }) => rssMB.peak],
    ['RSS MB, half time and end', ({ series }) => memoryOf(series)],
    ['disk MB, a minute later', ({ diskMB }) => diskMB],
  ];
  const table = formatTable(
    ['', ...figures.map(({ server }) => server)],
    rows.map(([name, of]) => [name, ...figures.map(of)]),
  );
  const own = figures[figures.length - 1];
  const threads = Object.entries(own.threads).map(([name, seconds]) => [name, seconds]);
  return `${table}\n\n${formatTable(['thread', 'CPU s'], threads)}`;
}

function memoryOf(series: SteadyFigures['series']): string {
  if (series.length < 2) return '-';
  return `${series[series.length >> 1][2]} / ${series[series.length - 1][2]}`;
}
