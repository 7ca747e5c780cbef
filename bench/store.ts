/** Measured store: a separate process with config/bench.yaml or another file, in a folder that is deleted with it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ServerProcess, startProcess } from '../test/end-to-end/support/server-process.ts';

interface MeasuredStore {
  readonly server: ServerProcess;
  readonly dataDir: string;
  /** Folder for files of the measurement. */
  readonly folder: string;
}

const CONFIG = resolve(import.meta.dirname, '../config/bench.yaml');

/** Starts a store, and stops it after `measure`. */
export async function withStore<T>(
  measure: (store: MeasuredStore) => Promise<T>,
  config: string = CONFIG,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'logboom-bench-'));
  const dataDir = join(folder, 'data');
  try {
    const server = await startProcess(config, dataDir);
    try {
      return await measure({ server, dataDir, folder });
    } finally {
      await server.end('SIGTERM');
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
