/**
 * The store as a separate process that a test may kill: the program that `npm start` runs, a bundle of the
 * sources.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { runtimeEnvironment, runtimeFlags } from '../../../bin/tuning.mjs';
import { CACHE, PROGRAM } from '../../support/program.ts';

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

const LISTENS = /^Logboom listens on (\S+)/;

/**
 * Resolves when it listens, on a port that the system chose. The process has the flags of the launcher
 * already, so a signal reaches the store. Rejects with the output of the process if it ends before.
 * `environment` is added to that of this process; `openFiles` bounds how many files it may have open, on
 * systems with a shell of POSIX.
 */
export async function startProcess(
  config: string,
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
  openFiles?: number,
): Promise<ServerProcess> {
  const program = [process.execPath, ...runtimeFlags(), PROGRAM];
  const args = ['start', '--config', config, '--data-dir', dataDir, '--port', '0'];
  // `exec` keeps the process id: signals reach the store.
  const bounded = openFiles === undefined ? [] : ['sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh'];
  const [command, ...rest] = [...bounded, ...program, ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...runtimeEnvironment(), ...process.env, NODE_COMPILE_CACHE: CACHE, ...environment },
  });
  const exited = once(child, 'exit');
  const url = await urlOf(child);
  return {
    url,
    pid: child.pid!,
    end: async signal => {
      child.kill(signal);
      await exited;
    },
  };
}

/** For tests that start and kill many processes: one start fills the cache of compiled modules. */
export async function warmStarts(config: string, dataDir: string): Promise<void> {
  await (await startProcess(config, dataDir)).end('SIGTERM');
}

async function urlOf(child: ChildProcess): Promise<string> {
  let errors = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = LISTENS.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout!.resume();
    return url;
  }
  throw new Error(`the store did not start: ${errors}`);
}
