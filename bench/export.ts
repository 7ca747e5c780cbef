/**
 * `npm run bench -- export`: a whole corpus out of a merged store with `logboom export`, to a file on the same disk, in each format. CPU time
 * of server and client is what decides: two idle cores export at 2 / (CPU s/GB) GB/s.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runtimeEnvironment } from '../bin/tuning.mjs';
import { type ServerProcess, startProcess } from '../test/end-to-end/support/server-process.ts';
import { CACHE, PROGRAM } from '../test/support/program.ts';
import { withStore } from './store.ts';
import { type Cell, formatTable } from './table.ts';
import { cpuOfThreads } from './thread-cpu.ts';

interface ExportFigures {
  readonly format: string;
  readonly rawMb: number;
  readonly fileMb: number;
  readonly seconds: number;
  readonly serverCpu: number;
  readonly clientCpu: number;
  readonly serverPeakMb: number;
  readonly clientPeakMb: number;
  /** CPU seconds of each thread of the server that took 0.1 or more. */
  readonly threads: Readonly<Record<string, number>>;
}

interface ExportBenchOptions {
  readonly mb: number;
  /** Formats to export; default: all. */
  readonly formats: readonly string[];
  /** Folder of a store that is kept and reused. Default: a temporary store. */
  readonly dataDir: string | undefined;
  /** More options of `logboom export`. */
  readonly flags: readonly string[];
}

const CONFIG = resolve(import.meta.dirname, '../config/bench.yaml');
export const EXPORT_FORMATS = ['text', 'jsonl', 'csv', 'parquet'];
const TENANT = 'bench';
const HEAD = [
  'format',
  'MB/s',
  'CPU s/GB',
  'server',
  'client',
  'MB/s by CPU of 2 cores',
  'file MB',
  'server peak MB',
  'client peak MB',
];
const SAMPLE_MS = 50;

/** @param folder the driver's */
export async function runExportBench(folder: string, options: ExportBenchOptions): Promise<ExportFigures[]> {
  const { dataDir } = options;
  if (dataDir === undefined) {
    return withStore(async ({ server, folder: files }) => {
      await fill(folder, server, join(files, 'meta.json'), options.mb);
      return measureAll(server, files, options);
    });
  }
  const meta = join(dataDir, 'meta.json');
  const isThere = existsSync(meta);
  mkdirSync(dataDir, { recursive: true });
  const server = await startProcess(CONFIG, join(dataDir, 'data'));
  try {
    if (!isThere) await fill(folder, server, meta, options.mb);
    return await measureAll(server, dataDir, options);
  } finally {
    await server.end('SIGTERM');
  }
}

async function fill(folder: string, server: ServerProcess, meta: string, mb: number): Promise<void> {
  const common = ['--url', server.url, '--pid', `${server.pid}`, '--meta', meta, '--tenant', TENANT];
  const driver = join(folder, 'drive.mjs');
  await run(driver, ['ingest', ...common, '--mb', `${mb}`, '--no-calibrate']);
  await run(driver, ['flush', ...common, '--flush']);
}

async function run(file: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
}

async function measureAll(
  server: ServerProcess,
  files: string,
  { formats, flags }: ExportBenchOptions,
): Promise<ExportFigures[]> {
  const { stats, startMs, endMs } = JSON.parse(readFileSync(join(files, 'meta.json'), 'utf8'));
  const range = ['--from', `${startMs}000000`, '--to', `${endMs + 1000}000000`];
  const figures: ExportFigures[] = [];
  for (const format of formats)
    figures.push(
      await measure(server, join(files, 'out'), format, stats.rawBytes / 1e6, [...range, ...flags]),
    );
  return figures;
}

async function measure(
  server: ServerProcess,
  output: string,
  format: string,
  rawMb: number,
  flags: readonly string[],
): Promise<ExportFigures> {
  const to = format === 'parquet' ? ['--parts-dir', output] : ['--output', output];
  const before = cpuOfThreads(server.pid) ?? new Map<string, number>();
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [
      PROGRAM,
      'export',
      '{namespace=~".+"}',
      '--addr',
      server.url,
      '--tenant',
      TENANT,
      '--format',
      format,
      ...to,
      ...flags,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...commandEnvironment(), NODE_COMPILE_CACHE: CACHE } },
  );
  const client = await watched(child, server.pid);
  const seconds = (performance.now() - startedMs) / 1000;
  const after = cpuOfThreads(server.pid) ?? new Map<string, number>();
  const threads = [...after].map(([name, cpu]) => [name, cpu - (before.get(name) ?? 0)] as const);
  const isFolder = statSync(output).isDirectory();
  const fileMb = isFolder ? 0 : statSync(output).size / 1e6;
  rmSync(output, { recursive: true });
  return {
    format,
    rawMb,
    fileMb,
    seconds,
    serverCpu: threads.reduce((sum, [, cpu]) => sum + cpu, 0),
    ...client,
    threads: Object.fromEntries(
      threads.filter(([, cpu]) => cpu >= 0.1).map(([name, cpu]) => [name, Number(cpu.toFixed(2))]),
    ),
  };
}

/** Without the settings of the allocator that the store and this program have: a command that a user starts has none. */
function commandEnvironment(): NodeJS.ProcessEnv {
  const settings = runtimeEnvironment();
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !(name in settings)));
}

/** The last figures of /proc before the child ends; up to one sample of its work is missing. */
async function watched(child: ChildProcess, serverPid: number) {
  let clientCpu = 0;
  let clientPeakMb = 0;
  let serverPeakMb = 0;
  const look = () => {
    const threads = cpuOfThreads(child.pid!);
    if (threads !== undefined && threads.size > 0)
      clientCpu = Math.max(
        clientCpu,
        [...threads.values()].reduce((a, b) => a + b, 0),
      );
    clientPeakMb = Math.max(clientPeakMb, rssMb(child.pid!));
    serverPeakMb = Math.max(serverPeakMb, rssMb(serverPid));
  };
  const timer = setInterval(look, SAMPLE_MS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(timer);
  if (code !== 0) throw new Error(`the export ended with ${code}`);
  return { clientCpu, clientPeakMb, serverPeakMb };
}

const RSS = /^VmRSS:\s+(\d+) kB$/m;

function rssMb(pid: number): number {
  try {
    return Number(RSS.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
}

export function exportTable(figures: readonly ExportFigures[]): string {
  const rows = figures.map((of): Cell[] => {
    const gb = of.rawMb / 1000;
    const cpu = (of.serverCpu + of.clientCpu) / gb;
    return [
      of.format,
      of.rawMb / of.seconds,
      cpu,
      of.serverCpu / gb,
      of.clientCpu / gb,
      2000 / cpu,
      of.fileMb,
      of.serverPeakMb,
      of.clientPeakMb,
    ];
  });
  const threads = figures.map(({ format, threads: by }) => `${format}: ${JSON.stringify(by)}`);
  return [formatTable(HEAD, rows), ...threads].join('\n');
}
