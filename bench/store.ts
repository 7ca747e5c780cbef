/** The store that is measured: a process of its own with config/bench.yaml, on a folder that goes with it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ServerProcess, startProcess } from '../test/end-to-end/support/server-process.ts';

export interface MeasuredStore {
  readonly server: ServerProcess;
  readonly dataDir: string;
  /** For files of the measurement. */
  readonly folder: string;
}

const CONFIG = resolve(import.meta.dirname, '../config/bench.yaml');

/** Starts a store, and ends it when `measure` has. */
export async function withStore<T>(measure: (store: MeasuredStore) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'logboom-bench-'));
  const dataDir = join(folder, 'data');
  try {
    const server = await startProcess(CONFIG, dataDir);
    try {
      return await measure({ server, dataDir, folder });
    } finally {
      await server.end('SIGTERM');
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
