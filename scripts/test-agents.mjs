/**
 * `npm run test:agents`: real agents ship a file's lines to a store on this machine, and a query finds them. Agents come
 * from Debian's, PyPI's and Go's registries into a folder of the system's temporary one, once; nothing is installed into
 * the system. What cannot be had is named and left out. The last line:
 *
 *     N passed, N failed, N skipped
 *
 * The configurations are those of scripts/agents, which docs/inlets.md and docs/otlp.md quote as tested.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { AGENTS } from './agents/agents.mjs';
import { CACHE, Unavailable } from './agents/install.mjs';

const LINES = ['sold 3 of "größe M"', 'sold 4', 'level=warn sold out'];
const START_TIMEOUT_MS = 60_000;
/** Agents wait for a batch to fill, for seconds at most in these configurations. */
const ARRIVAL_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 200;

ensureInstalled();
mkdirSync(CACHE, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'logboom-test-agents-'));
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const { child } of running) child.kill('SIGKILL');
    process.exit(1);
  });
}
const counts = { passed: 0, failed: 0, skipped: 0 };
try {
  // Some agents can set no header: one tenant for all, each agent's lines under a label of its own.
  const config = join(folder, 'logboom.yaml');
  writeFileSync(config, 'auth_enabled: false\n');
  const port = await freePort();
  const [runtime] = findRuntimes();
  const data = ['--data-dir', join(folder, 'data'), '--config', config];
  const store = start('store', [
    runtime,
    join(ROOT, 'bin', 'logboom.mjs'),
    'start',
    ...data,
    '--port',
    `${port}`,
  ]);
  const url = `http://127.0.0.1:${port}`;
  await until(START_TIMEOUT_MS, store, async () => (await fetch(`${url}/ready`)).ok);
  for (const agent of AGENTS) counts[await test(agent, url)]++;
} catch (error) {
  counts.failed++;
  say(error.message);
} finally {
  await Promise.all([...running].map(stop));
  rmSync(folder, { recursive: true, force: true });
}
say(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;

function say(line) {
  process.stdout.write(`${line}\n`);
}

/** One agent from its installation to its lines. Resolves to the count that it belongs to. */
async function test({ name, prepare, selector }, url) {
  const own = mkdtempSync(join(folder, 'agent-'));
  const input = join(own, 'input.log');
  let ran;
  try {
    const command = await prepare({ folder: own, url, input });
    // Some agents follow a file that is there, some are given their lines when they start: both find it whole.
    writeFileSync(input, LINES.map(line => `${line}\n`).join(''));
    ran = start(name, command.argv, command.environment);
    let found = [];
    await until(ARRIVAL_TIMEOUT_MS, command.ends ? undefined : ran, async () => {
      found = await linesOf(url, selector);
      return LINES.every(line => found.includes(line));
    }).catch(error => {
      throw new Error(`${error.message}; found ${JSON.stringify(found)}; it said: ${ran.said().slice(-600)}`);
    });
    if (found.length !== LINES.length) throw new Error(`${found.length} lines, not ${LINES.length}`);
    say(`passed   ${name}`);
    return 'passed';
  } catch (error) {
    if (error instanceof Unavailable) {
      say(`SKIPPED  ${name}: ${error.message}`);
      return 'skipped';
    }
    say(`FAILED   ${name}: ${error.message}`);
    return 'failed';
  } finally {
    if (ran !== undefined) await stop(ran);
  }
}

async function linesOf(url, selector) {
  const query = new URLSearchParams({ query: selector, limit: '100' });
  const answer = await fetch(`${url}/loki/api/v1/query_range?${query}`);
  if (!answer.ok) throw new Error(`the query was answered ${answer.status}: ${await answer.text()}`);
  const { data } = await answer.json();
  return data.result.flatMap(({ values }) => values.map(([, line]) => line));
}

function start(name, [program, ...args], environment = {}) {
  const logFile = join(folder, `${name.replaceAll(/\W+/g, '-')}.log`);
  const parts = [];
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const one = { name, child, ended: false, said: () => parts.join('') };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', part => {
      parts.push(part);
      // Only the end is ever told.
      while (parts.length > 100) parts.shift();
    });
  }
  one.exited = new Promise(resolve => child.once('close', resolve)).then(() => {
    one.ended = true;
    running.delete(one);
    writeFileSync(logFile, one.said());
  });
  child.once('error', error => parts.push(error.message));
  running.add(one);
  return one;
}

async function stop({ child, ended, exited }) {
  if (ended || child.pid === undefined) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/** Asks again and again. Throws where the time is over, or where `process` ends. */
async function until(timeoutMs, process, condition) {
  const latest = Date.now() + timeoutMs;
  let last = '';
  while (Date.now() < latest) {
    try {
      if (await condition()) return;
      last = '';
    } catch (error) {
      last = `: ${error.message}`;
    }
    if (process?.ended) throw new Error(`it ended: ${process.said().slice(-600)}`);
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`nothing within ${timeoutMs / 1000} s${last}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
