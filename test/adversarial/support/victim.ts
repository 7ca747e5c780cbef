/**
 * The store under attack, assembled as `npm start` does, in a separate process: its memory can be measured, and
 * the clients of a test do not share its event loop.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type HttpClient } from '../../end-to-end/support/client.ts';
import { startProcess } from '../../end-to-end/support/server-process.ts';
import { until } from '../../support/until.ts';

export interface Victim {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  readonly client: HttpClient;
  /** Current and peak resident memory in bytes; undefined if the system does not report it. */
  memory(): Promise<ProcessMemory | undefined>;
  /** Resets the peak to the current memory. */
  resetPeak(): Promise<void>;
  /** Default: SIGTERM. */
  stop(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

export interface ProcessMemory {
  readonly residentBytes: number;
  readonly peakBytes: number;
}

/**
 * Maximum memory of the process on two cores, whatever clients send. Without bounds on decompressed bodies it was
 * 3.7 GB.
 */
const MAX_RESIDENT_OF_TWO_CORES = 700_000_000;
/** Additional memory for each further core: heap, caches and pools of its threads. */
const MAX_BYTES_OF_CORE = 60_000_000;
export const MAX_RESIDENT_BYTES =
  MAX_RESIDENT_OF_TWO_CORES + Math.max(0, availableParallelism() - 2) * MAX_BYTES_OF_CORE;

export interface VictimOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Maximum number of open files. */
  readonly openFiles?: number;
  /** Folder that is kept when the store stops. Default: a folder that is deleted with it. */
  readonly dataDir?: string;
  /** Runs before the store starts. */
  readonly prepare?: (config: string, dataDir: string) => Promise<void>;
}

/** @param yaml configuration file; settings that it omits have their defaults */
export async function startVictim(
  yaml: string,
  { environment, openFiles, prepare, dataDir: ownDir }: VictimOptions = {},
): Promise<Victim> {
  const folder = await mkdtemp(join(tmpdir(), 'logboom-victim-'));
  const config = join(folder, 'config.yaml');
  const dataDir = ownDir ?? join(folder, 'data');
  await writeFile(config, yaml);
  try {
    await prepare?.(config, dataDir);
    const server = await startProcess(config, dataDir, environment, openFiles);
    const client = createClient(server.url);
    return {
      url: server.url,
      port: Number(new URL(server.url).port),
      pid: server.pid,
      dataDir,
      client,
      memory: () => memoryOf(server.pid),
      resetPeak: () => writeFile(`/proc/${server.pid}/clear_refs`, '5').catch(() => undefined),
      async stop(signal = 'SIGTERM') {
        client.close();
        await server.end(signal);
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Connections that a client which checks a store keeps open. */
export const MAX_OWN_CONNECTIONS = 8;

/** Waits until the store has no more connections than that. */
export async function untilFewConnections({ client }: Victim, max = MAX_OWN_CONNECTIONS): Promise<void> {
  await until(async () => {
    const { text } = await client.send({ path: '/metrics' });
    return Number(/^loki_tcp_connections\{[^}]*\} (\d+)/m.exec(text)?.[1]) <= max;
  });
}

async function memoryOf(pid: number): Promise<ProcessMemory | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  const bytesOf = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status!)?.[1]) * 1024;
  return status === undefined ? undefined : { residentBytes: bytesOf('VmRSS'), peakBytes: bytesOf('VmHWM') };
}
