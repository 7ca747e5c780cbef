/**
 * Child processes of a test command: started in its folder, captured, and stopped together, however the
 * command ends.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { runtimeFlags } from '../bin/tuning.mjs';

const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 200;
/** Linux gives connections the ports from 32768. */
const [FIRST_PORT, END_PORT] = [20_000, 32_768];
/** Maximum output parts; only the end of the output is shown. */
const MAX_PARTS = 100;

/** `processes(folder)`: `start`, `startStore` and `stopAll` for one command. */
export function processes(folder) {
  const running = new Set();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      for (const { child } of running) child.kill('SIGKILL');
      process.exit(1);
    });
  }

  /** Starts a process; `input` makes its standard input a pipe. */
  function start(name, [program, ...args], { environment = {}, input = false } = {}) {
    const parts = [];
    const child = spawn(program, args, {
      cwd: folder,
      stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    });
    const one = { name, child, ended: false, code: null, said: () => parts.join('') };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', part => {
        parts.push(part);
        while (parts.length > MAX_PARTS) parts.shift();
      });
    }
    // A process that ends early is reported by its exit.
    child.stdin?.on('error', () => undefined);
    one.exited = new Promise(resolve => child.once('close', resolve)).then(code => {
      one.ended = true;
      one.code = code;
      running.delete(one);
    });
    child.once('error', error => parts.push(error.message));
    running.add(one);
    return one;
  }

  /**
   * Starts a store on a port with its data in `folder`/data. With the store's flags set, the launcher is the
   * store itself, so a signal reaches it.
   */
  function startStore(config, port) {
    const [runtime] = findRuntimes();
    const data = ['--data-dir', join(folder, 'data'), '--config', config, '--port', `${port}`];
    return start('store', [runtime, ...runtimeFlags(), join(ROOT, 'bin', 'logboom.cjs'), 'start', ...data]);
  }

  return { start, startStore, stopAll: () => Promise.all([...running].map(stop)) };
}

/** Stops a process, and kills it after ten seconds. */
export async function stop({ child, ended, exited }) {
  if (ended || child.pid === undefined) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/**
 * Repeats a check as often as fits into the time. Counts attempts instead of measuring time, because the
 * whole machine may pause, like a sleeping laptop. Throws after the last attempt, or if `process` ends.
 */
export async function until(timeoutMs, process, condition) {
  let last = '';
  for (let asked = 0; asked * POLL_MS < timeoutMs; asked++) {
    try {
      if (await condition()) return;
      last = '';
    } catch (error) {
      last = `: ${error.message}`;
    }
    if (process?.ended) throw new Error(`${process.name} ended${last}: ${process.said().slice(-600)}`);
    await sleep(POLL_MS);
  }
  const said = process === undefined ? '' : `; ${process.name} said: ${process.said().slice(-600)}`;
  throw new Error(`nothing within ${timeoutMs / 1000} s${last}${said}`);
}

export function sleep(ms) {
  return new Promise(resolve => setTimeout(resolve, ms));
}

export function say(line) {
  process.stdout.write(`${line}\n`);
}

/**
 * Port that no process listens on, below those that systems give to connections and to servers without a wish: otherwise one of these
 * could take it before the store listens, or while it is down.
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(FIRST_PORT, END_PORT);
    if (await isFree(port)) return port;
  }
}

function isFree(port) {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
