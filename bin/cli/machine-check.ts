/**
 * Checks the requirements of a store on this machine one by one: runtime, writable folder, disk space,
 * memory, clock, free port, and AWS settings if the data is there. Leaves nothing behind.
 */

import { existsSync } from 'node:fs';
import { mkdtemp, rmdir, stat, statfs } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { homedir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import type { StorageOptions } from '../../local/storage.ts';
import { TABLE_FILE } from '../../local/storage.ts';
import { formatByteSize } from '../../shared/base/model/byte-size.ts';
import type { Environment } from '../../shared/base/model/environment.ts';
import { messageOf } from '../../shared/base/model/errors.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { isNewEnough, NEEDED_NODE } from '../needed-node.cjs';

export interface Finding {
  readonly state: 'ok' | 'warning' | 'missing';
  readonly what: string;
  readonly text: string;
}

export interface MachineToCheck {
  readonly storage: StorageOptions;
  /** Address that the store would use; the check briefly listens on it. Undefined skips the check. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  readonly clock: Clock;
  readonly environment: Environment;
}

/** Free disk space below which the check warns. The store refuses pushes when the disk is full. */
const LOW_DISK_BYTES = 2 * 1024 ** 3;
const LEAST_DISK_BYTES = 100 * 1024 ** 2;
/**
 * Memory below which the check warns. A store takes 150 MB after a few pushes, and more under load
 * (docs/dev/operations.md#memory).
 */
const LOW_MEMORY_BYTES = 512 * 1024 ** 2;
/** Minimum year of a correct clock. */
const LEAST_YEAR = 2026;
/** Maximum harmless clock difference. */
const MAX_AHEAD_MS = 60_000;
const CONNECT_TIMEOUT_MS = 2000;

export async function checkMachine(machine: MachineToCheck): Promise<readonly Finding[]> {
  const { storage } = machine;
  return [
    checkRuntime(),
    ...(storage.kind === 'embedded' ? await checkFolder(storage.dataDir) : await checkAws(machine, storage)),
    checkMemory(),
    await checkClock(machine),
    ...(machine.listen === undefined ? [] : [await checkPort(machine.listen)]),
  ];
}

function checkRuntime(): Finding {
  const what = 'runtime';
  const { node, sqlite, zstd } = process.versions;
  const text = `Node ${node}, SQLite ${sqlite ?? 'none'}, zstd ${zstd ?? 'none'}`;
  const isThere = isNewEnough(node) && sqlite !== undefined && zstd !== undefined;
  if (isThere) return { state: 'ok', what, text };
  return { state: 'missing', what, text: `${text}: Node ${NEEDED_NODE} with both is needed` };
}

async function checkFolder(dataDir: string): Promise<Finding[]> {
  const parent = nearestFolder(dataDir);
  const folder: Finding = await mkdtemp(join(parent, '.logboom-doctor-'))
    .then(made => rmdir(made))
    .then(
      () => ({
        state: 'ok' as const,
        what: 'folder',
        text: parent === dataDir ? `${dataDir} is writable` : `${dataDir} can be created`,
      }),
      (error: NodeJS.ErrnoException) => ({
        state: 'missing' as const,
        what: 'folder',
        text: `${parent} is not writable (${error.code ?? error.message}); choose another with --data-dir`,
      }),
    );
  const { bavail, bsize } = await statfs(parent);
  const free = bavail * bsize;
  const text = `${formatByteSize(free)} free`;
  if (free >= LOW_DISK_BYTES) return [folder, { state: 'ok', what: 'disk', text }];
  const state = free < LEAST_DISK_BYTES ? 'missing' : 'warning';
  return [
    folder,
    { state, what: 'disk', text: `${text}: the store refuses pushes when the disk is full; free some space` },
  ];
}

function nearestFolder(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

function checkMemory(): Finding {
  // A container has less memory than its machine. Without a limit the value is 0 or larger than any machine.
  const limit = process.constrainedMemory();
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const text = formatByteSize(bytes);
  if (bytes >= LOW_MEMORY_BYTES) return { state: 'ok', what: 'memory', text };
  return { state: 'warning', what: 'memory', text: `${text}: large queries may run out of memory` };
}

async function checkClock({ clock, storage }: MachineToCheck): Promise<Finding> {
  const what = 'clock';
  const nowMs = clock.nowMs();
  const text = new Date(nowMs).toISOString();
  if (new Date(nowMs).getUTCFullYear() < LEAST_YEAR) {
    return { state: 'missing', what, text: `${text}: entries would get wrong times; set the clock` };
  }
  const catalog = storage.kind === 'embedded' ? join(storage.dataDir, TABLE_FILE) : undefined;
  const written = catalog === undefined ? undefined : await stat(catalog).catch(() => undefined);
  if (written !== undefined && written.mtimeMs > nowMs + MAX_AHEAD_MS) {
    return {
      state: 'warning',
      what,
      text: `${text}: the store was last written after that time; set the clock`,
    };
  }
  return { state: 'ok', what, text };
}

async function checkPort({ host, port }: { readonly host: string; readonly port: number }): Promise<Finding> {
  const what = 'port';
  const listenAddress = `${host === '' ? 'all addresses' : host}, port ${port}`;
  const problem = await listenProblem(host, port);
  if (problem === undefined) return { state: 'ok', what, text: `${listenAddress} is free` };
  if (problem === 'EADDRINUSE') {
    return {
      state: 'warning',
      what,
      text: `${listenAddress} is in use, by a running store or another program; stop it, or choose another --port`,
    };
  }
  return { state: 'missing', what, text: `cannot listen on ${listenAddress} (${problem})` };
}

function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? messageOf(error)));
    server.listen({ port, host: host === '' ? undefined : host }, () =>
      server.close(() => resolve(undefined)),
    );
  });
}

async function checkAws(
  { environment }: MachineToCheck,
  { endpoint, region }: StorageOptions & { kind: 's3' },
): Promise<Finding[]> {
  const findings = [credentialsOf(environment)];
  const named = region ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION;
  if (endpoint !== undefined) findings.push(await endpointOf(endpoint));
  else if (named !== undefined) findings.push({ state: 'ok', what: 'region', text: named });
  else {
    const text = 'not set; set AWS_REGION or --region (a profile may have one)';
    findings.push({ state: 'warning', what: 'region', text });
  }
  return findings;
}

/** Source of credentials for the SDK. Opening the store shows if they are valid. */
function credentialsOf(environment: MachineToCheck['environment']): Finding {
  const what = 'credentials';
  const ok = (text: string): Finding => ({ state: 'ok', what, text });
  if (environment.AWS_ACCESS_KEY_ID) return ok('from the environment');
  if (environment.AWS_PROFILE) return ok(`from the profile ${environment.AWS_PROFILE}`);
  if (environment.AWS_WEB_IDENTITY_TOKEN_FILE) return ok('from a web identity');
  if (environment.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI || environment.AWS_CONTAINER_CREDENTIALS_FULL_URI)
    return ok('from the container');
  const file = environment.AWS_SHARED_CREDENTIALS_FILE ?? join(homedir(), '.aws', 'credentials');
  if (existsSync(file)) return ok(`from ${file}`);
  return {
    state: 'warning',
    what,
    text: 'not found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine a role',
  };
}

function endpointOf(endpoint: string): Promise<Finding> {
  const what = 'endpoint';
  const url = URL.parse(endpoint);
  if (url === null) return Promise.resolve({ state: 'missing', what, text: `${endpoint} is not a URL` });
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return new Promise(resolve => {
    const socket = connect({ host: url.hostname, port, timeout: CONNECT_TIMEOUT_MS });
    const end = (finding: Finding) => {
      socket.destroy();
      resolve(finding);
    };
    socket.once('connect', () => end({ state: 'ok', what, text: `${endpoint} is reachable` }));
    socket.once('timeout', () => end({ state: 'missing', what, text: `${endpoint} does not respond` }));
    socket.once('error', error => {
      const reason = (error as NodeJS.ErrnoException).code ?? messageOf(error);
      end({ state: 'missing', what, text: `${endpoint} does not respond (${reason})` });
    });
  });
}

export function machineText(findings: readonly Finding[]): string {
  return findings.map(({ state, what, text }) => `${state.padEnd(8)} ${what.padEnd(12)} ${text}\n`).join('');
}
