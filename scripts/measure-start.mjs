/**
 * `node scripts/measure-start.mjs`: time from the start of a process until the store is ready, its CPU time until then, and its memory
 * and CPU time while idle. Measures an empty folder and, after pushing lines, a folder with data. The figures are meaningful only on an
 * idle machine.
 *
 *     --gb 10      GB of lines in the folder with data (0: only the empty folder)
 *     --data DIR   folder with data: filled if it is empty, and kept
 *     --runs 9     starts of each kind
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { diskMib, pause, processIds, residentMib, startStore } from './install/store.mjs';

/** Time for threads that start with the store, and for the collection of garbage after it. */
const SETTLE_MS = 5000;
const IDLE_MS = 20_000;
/** Ticks of /proc/PID/stat in a second. */
const TICKS = 100;
const PUSH_BYTES = 2e6;
const PUSHES_AT_ONCE = 4;
/** Long enough that the lines of an hour fill several chunks. */
const DAYS = 5;

const { values: flags } = parseArgs({
  options: {
    gb: { type: 'string', default: '10' },
    data: { type: 'string' },
    runs: { type: 'string', default: '9' },
  },
});
const [gb, runs] = [Number(flags.gb), Number(flags.runs)];
if (!(gb >= 0 && runs >= 1)) throw new Error('--gb and --runs are numbers');
ensureInstalled();
const [runtime] = findRuntimes();
const PROGRAM = join(ROOT, 'bin', 'logboom.cjs');
const EXECUTABLE = join(ROOT, 'dist', `logboom-${process.platform}-${process.arch}`);
const KINDS = [
  ['npm start', 'npm', ['start', '--silent', '--']],
  ['node bin/logboom.cjs start', runtime, [PROGRAM, 'start']],
  ...(existsSync(EXECUTABLE) ? [['single executable', EXECUTABLE, ['start']]] : []),
];

const folder = mkdtempSync(join(tmpdir(), 'logboom-start-'));
try {
  await measure('empty folder', join(folder, 'empty'));
  if (gb > 0) {
    const data = flags.data ?? join(folder, 'data');
    if (!existsSync(data) || readdirSync(data).length === 0) await fill(data);
    await measure(`${gb} GB of lines, ${diskMib(data)} MiB on disk`, data);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(what, data) {
  for (const [name, file, args] of KINDS) {
    const [readyMs, cpuMs] = [[], []];
    // The first start of a kind saves compiled code for the next ones.
    for (let run = 0; run <= runs; run++) {
      const store = await started(file, args, data);
      if (run > 0) {
        readyMs.push(store.readyMs);
        cpuMs.push(cpuMsOf(store.child.pid));
      }
      // Compiled code is saved when the store is ready.
      await pause(run === 0 ? SETTLE_MS : 200);
      await store.stop();
    }
    const store = await started(file, args, data);
    await pause(SETTLE_MS);
    const { pid } = store.child;
    const [rss, processes, before] = [residentMib(pid), processIds(pid).length, cpuMsOf(pid)];
    await pause(IDLE_MS);
    const idle = ((cpuMsOf(pid) - before) / IDLE_MS) * 100;
    await store.stop();
    say(
      `${what}, ${name}: ready in ${spread(readyMs)} ms, CPU ${spread(cpuMs)} ms, ` +
        `idle RSS ${rss} MiB in ${processes} processes, idle CPU ${idle.toFixed(2)}% of a core, ` +
        `load ${loadavg()[0].toFixed(2)}`,
    );
  }
}

async function started(file, args, data) {
  const store = await startStore(file, [...args, '--data-dir', data, '--port', '0'], {
    cwd: ROOT,
    env: process.env,
  });
  if (store.url === undefined) throw new Error(`the store did not start: ${store.said}`);
  return store;
}

/** User and system time of a process and its children. */
function cpuMsOf(pid) {
  let ticks = 0;
  for (const each of processIds(pid)) {
    const fields = readFileSync(`/proc/${each}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return (ticks / TICKS) * 1000;
}

/** Pushes lines of 40 streams, whose times are spread over some days, and merges them. */
async function fill(data) {
  const store = await started(runtime, [PROGRAM, 'start'], data);
  const startMs = Date.now() - DAYS * 86_400_000;
  const count = Math.ceil((gb * 1e9) / PUSH_BYTES);
  let next = 0;
  const pusher = async () => {
    while (next < count) {
      const number = next++;
      const body = bodyOf(number, startMs + ((DAYS * 86_400_000) / count) * number);
      while (!(await isStored(store.url, body))) await pause(1000);
    }
  };
  await Promise.all(Array.from({ length: PUSHES_AT_ONCE }, pusher));
  await fetch(`${store.url}/flush`, { method: 'POST' });
  await store.stop();
}

/** False if merging is behind, so that the push must be repeated. */
async function isStored(url, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/loki/api/v1/push`, { method: 'POST', headers, body });
  const text = await answer.text();
  if (answer.status !== 204 && answer.status !== 429) throw new Error(`${answer.status}: ${text}`);
  return answer.status === 204;
}

function bodyOf(number, fromMs) {
  const values = [];
  for (let bytes = 0, i = 0; bytes < PUSH_BYTES; i++) {
    const id = (Math.imul(number * 100_003 + i, 2_654_435_761) >>> 0).toString(36);
    const line = `{"level":"info","request":"${id}","path":"/api/orders/${i % 9973}","took":${i % 811},"message":"order ${id} was placed by customer ${(number * 31 + i) % 50_021} and paid"}`;
    values.push([`${BigInt(Math.floor(fromMs)) * 1_000_000n + BigInt(i) * 1000n}`, line]);
    bytes += line.length;
  }
  return JSON.stringify({ streams: [{ stream: { app: `app-${number % 40}` }, values }] });
}

function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return `${Math.round(sorted[0])} to ${Math.round(sorted.at(-1))} (median ${Math.round(sorted[sorted.length >> 1])})`;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
