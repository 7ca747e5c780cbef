/** Store that was installed in some way: starts, uses, measures and stops it. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { check } from './ledger.mjs';

/** Maximum resident memory of a store without data. */
export const MAX_IDLE_MIB = 90;
/** Time for the garbage collection after a start, and how often it is given on a loaded machine. */
const SETTLE_MS = 2000;
const MAX_SETTLES = 30;

const START_TIMEOUT_MS = 180_000;
const POLL_MS = 20;
const STOP_TIMEOUT_MS = 60_000;

/**
 * Starts the store and waits until it prints its URL. `url` is undefined if it ended instead or took too
 * long; `readyMs` is the start time.
 */
export async function startStore(file, args, { cwd, env }) {
  const startMs = performance.now();
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const store = { child, said: '', url: undefined, readyMs: 0, exit: undefined };
  const ended = new Promise(resolve => {
    child.once('error', error => resolve({ error: error.message }));
    child.once('close', (code, signal) => resolve({ code, signal }));
  }).then(exit => {
    store.exit = exit;
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', part => {
      store.said += part;
      store.url ??= /Logboom listens on (http:\S+)/.exec(store.said)?.[1];
    });
  while (store.url === undefined && store.exit === undefined) {
    if (performance.now() - startMs > START_TIMEOUT_MS) break;
    await Promise.race([ended, pause(POLL_MS)]);
  }
  store.readyMs = Math.round(performance.now() - startMs);
  store.stop = async () => {
    child.kill('SIGTERM');
    await Promise.race([ended, pause(STOP_TIMEOUT_MS)]);
    if (store.exit === undefined) child.kill('SIGKILL');
    await ended;
    return store.exit;
  };
  return store;
}

/** Pushes, flushes (which wakes the maintenance threads), and queries. Adds checks under `name`. */
export async function useStore(url, name) {
  const line = `a line for ${name}`;
  const values = [[`${BigInt(Date.now()) * 1_000_000n}`, line]];
  const pushed = await request(`${url}/loki/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams: [{ stream: { app: 'install' }, values }] }),
  });
  check(`${name}: a push is stored`, pushed.status === 204, pushed.text);
  const flushed = await request(`${url}/flush`, { method: 'POST' });
  check(`${name}: a flush is done`, flushed.status === 204, flushed.text);
  const query = new URLSearchParams({ query: '{app="install"}' });
  const found = await request(`${url}/loki/api/v1/query_range?${query}`);
  check(`${name}: a query finds it`, found.status === 200 && found.text.includes(line), found.text);
  const page = await request(`${url}/ui/`);
  check(`${name}: the explorer is there`, page.status === 200 && page.text.includes('<script'), page.text);
}

async function request(url, options) {
  try {
    const answer = await fetch(url, options);
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: 0, text: `${error.cause ?? error}` };
  }
}

/** Resident memory of a process and its children as reported by the kernel, MiB. */
export function residentMib(pid) {
  const kib = processIds(pid).map(each => {
    const status = readIfThere(`/proc/${each}/status`) ?? '';
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  });
  return Math.round(kib.reduce((sum, each) => sum + each, 0) / 1024);
}

/** Resident memory once the store is idle: what is more than the maximum is measured again. */
export async function idleMib(pid) {
  let idle = Number.POSITIVE_INFINITY;
  for (let settles = 0; settles < MAX_SETTLES && idle >= MAX_IDLE_MIB; settles++) {
    await pause(SETTLE_MS);
    idle = residentMib(pid);
  }
  return idle;
}

/** IDs of a process and its descendants. */
export function processIds(pid) {
  return [pid, ...descendants(pid)];
}

/** Disk usage of a folder, MiB. */
export function diskMib(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const bytes = files.map(each => (each.isFile() ? statSync(`${each.parentPath}/${each.name}`).size : 0));
  return Math.round(bytes.reduce((sum, each) => sum + each, 0) / 2 ** 20);
}

function descendants(pid) {
  const children = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(
      name =>
        / \S (\d+)/.exec(readIfThere(`/proc/${name}/stat`)?.replace(/^.*\)/, ')') ?? '')?.[1] === `${pid}`,
    )
    .map(Number);
  return children.flatMap(child => [child, ...descendants(child)]);
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

export function pause(ms) {
  return new Promise(resolve => setTimeout(resolve, ms).unref());
}
