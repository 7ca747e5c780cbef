/**
 * Ensures that node_modules matches package-lock.json, so that a fresh clone runs with one command. Plain
 * JavaScript without packages, for Node.js 20 and newer: it runs before anything is installed.
 *
 * A stamp inside node_modules (hash of the lock file) identifies the installation. An installation that was
 * made with npm has no stamp and is compared once instead, because `npm ci` would delete it first.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { cacheFolder, ROOT } from './folders.cjs';

export { cacheFolder, ROOT };

const LOCK_FILE = join(ROOT, 'package-lock.json');
const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.logboom-installed');
/** npm's record of the contents of node_modules. */
const NPM_RECORD = join(MODULES, '.package-lock.json');

const WAIT_MS = 15 * 60_000;
const POLL_MS = 200;

/** Installs packages if any is missing. Exits with a message if that fails. */
export function ensureInstalled() {
  const lockText = readFileSync(LOCK_FILE, 'utf8');
  const wanted = createHash('sha256').update(lockText).digest('hex');
  if (readIfThere(STAMP)?.trim() === wanted) return;
  alone(ROOT, () => {
    if (readIfThere(STAMP)?.trim() === wanted) return;
    if (!isInstalled(JSON.parse(lockText))) install();
    linkCommand();
    writeFileSync(STAMP, `${wanted}\n`);
  });
}

/**
 * True if npm's record has every package of the lock file in its version; optional packages may be missing.
 */
function isInstalled(lock) {
  const record = readIfThere(NPM_RECORD);
  if (record === undefined) return false;
  const installed = JSON.parse(record).packages ?? {};
  return Object.entries(lock.packages).every(([path, { version, optional, devOptional, link }]) => {
    // The project itself, and its folders.
    if (link || !path.includes('node_modules/')) return true;
    const found = installed[path];
    if (found === undefined) return Boolean(optional || devOptional);
    return found.version === version && existsSync(join(ROOT, path, 'package.json'));
  });
}

function install() {
  say('installing the packages of package-lock.json (npm ci); this happens once');
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const [command, ...before] = npmCommand();
  // Standard output belongs to the program that runs afterwards.
  const { error, status } = spawnSync(command, [...before, 'ci', ...options], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && before.length === 0,
  });
  if (error === undefined && status === 0) return;
  say(
    error?.code === 'ENOENT'
      ? 'npm not found; install Node.js with npm (https://nodejs.org), then run this again'
      : `npm ci failed (${error?.message ?? `status ${status}`}); check that the npm registry is reachable, then run it again in ${ROOT}`,
  );
  process.exit(1);
}

/** The npm that runs this process, else the one on the path. */
export function npmCommand() {
  const runner = process.env.npm_execpath;
  if (runner !== undefined && basename(runner) === 'npm-cli.js') return [process.execPath, runner];
  return ['npm'];
}

/**
 * Links the command for `npx logboom`: npm links commands of dependencies, but not those of the project
 * itself.
 */
function linkCommand() {
  if (process.platform === 'win32') return;
  const link = join(MODULES, '.bin', 'logboom');
  try {
    mkdirSync(join(MODULES, '.bin'), { recursive: true });
    rmSync(link, { force: true });
    symlinkSync(join('..', '..', 'bin', 'logboom.cjs'), link);
    chmodSync(join(ROOT, 'bin', 'logboom.cjs'), 0o755);
  } catch (error) {
    say(`cannot link the command logboom: ${error.message}`);
  }
}

/** Prevents two concurrent installations into a folder (`npm start` and `npm test`): the second waits for the first. */
export function alone(folder, act) {
  const place = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  const guard = join(tmpdir(), `logboom-install-${place}.pid`);
  const latest = Date.now() + WAIT_MS;
  let isSaid = false;
  while (!take(guard)) {
    if (!isRunning(Number(readIfThere(guard)))) {
      rmSync(guard, { force: true });
      continue;
    }
    if (Date.now() > latest) {
      say(`another installation does not end; if none is running, delete ${guard}`);
      process.exit(1);
    }
    if (!isSaid) say('waiting for another process to install the packages');
    isSaid = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
  const release = () => rmSync(guard, { force: true });
  process.once('exit', release);
  try {
    act();
  } finally {
    process.off('exit', release);
    release();
  }
}

function take(guard) {
  try {
    writeFileSync(guard, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

export function isRunning(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

export function say(message) {
  process.stderr.write(`logboom: ${message}\n`);
}
