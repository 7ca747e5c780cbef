/**
 * `node bin/with-runtime.mjs scripts/cold-start.mjs [--rounds N] [--throttled]`: what the start of each function takes, from nothing to the
 * first answer, on this machine. Each is bundled as for a deployment and started anew in each round, with a stand-in for S3 and DynamoDB.
 *
 * Lambda gives a function a share of a processor: its memory by 1,769 MB. A start does nothing but compute, so below a whole processor it
 * takes its CPU time divided by the share, and costs the same at every memory; above, it is no faster and costs more. The table shows that
 * for the memory that the function has and for 1,769 MB. `--throttled` measures instead of dividing: a second process of the function runs
 * on one core, stopped and continued (SIGSTOP, SIGCONT) in periods of 100 ms so that it runs for its share of them.
 *
 *     function   code, KB   CPU, ms   memory, MB   start, ms   dollars for 1,000 starts   the same at 1,769 MB   [throttled, ms]
 *
 * Figures are the least of the rounds, because others use the machine. What Lambda adds (a sandbox, fetching the code) is not in them.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';

ensureInstalled();
const [runtime] = findRuntimes();
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, throttled: { type: 'boolean', default: false } },
});
const rounds = Number(values.rounds);

/** Memory of a function that has one processor. */
const PROCESSOR_MB = 1769;
const PERIOD_MS = 100;

const apiEvent = (method, path, { query = '', body } = {}) => ({
  version: '2.0',
  rawPath: path,
  rawQueryString: query,
  headers: { 'x-scope-orgid': 'cold', 'content-type': 'application/json' },
  ...(body === undefined ? {} : { body }),
  requestContext: { requestId: 'cold', stage: '$default', http: { method } },
});
const pushBody = JSON.stringify({
  streams: [{ stream: { app: 'cold' }, values: [[`${Date.now()}000000`, 'a line']] }],
});
const CASES = [
  ['push', apiEvent('POST', '/loki/api/v1/push', { body: pushBody })],
  ['query', apiEvent('GET', '/loki/api/v1/query_range', { query: 'query=%7Bapp%3D%22cold%22%7D' })],
  ['maintenance', { job: 'compaction' }],
  ['status', apiEvent('GET', '/ready')],
  ['query-worker', undefined],
  ['authorizer', undefined],
  ['timer', undefined],
  ['first-token', undefined],
  ['all-in-one', apiEvent('GET', '/loki/api/v1/query_range', { query: 'query=%7Bapp%3D%22cold%22%7D' })],
  ['tail-connect', undefined],
  ['tail-disconnect', undefined],
  ['tail-dispatch', {}],
  ['tail-default', { requestContext: { connectionId: 'cold' } }],
  ['canary', undefined],
];

/** What a process of a function does, from its start. */
const RUNNER = `
const startedMs = performance.now();
const { handler } = await import(process.argv[2]);
const loadedMs = performance.now();
const event = process.argv[3] === undefined ? undefined : JSON.parse(process.argv[3]);
let ok = true;
if (event !== undefined) {
  const result = await handler(event, { awsRequestId: 'cold', getRemainingTimeInMillis: () => 900000 });
  ok = (result?.statusCode ?? 200) < 400;
}
const { userCPUTime, systemCPUTime } = process.resourceUsage();
const figures = { ok, loadedMs, answeredMs: performance.now(), cpuMs: (userCPUTime + systemCPUTime) / 1000 };
process.stdout.write('\\n' + JSON.stringify(figures), () => process.exit(0));
`;

const folder = mkdtempSync(join(tmpdir(), 'logboom-cold-'));
const { startFakeServices } = await import('../test/lib/fake-services.ts');
const services = await startFakeServices();
try {
  const { bundleFunctions } = await import('../lib/bundle.ts');
  const runner = join(folder, 'runner.mjs');
  writeFileSync(runner, RUNNER);
  const names = CASES.map(([name]) => name);
  const built = await bundleFunctions(names, folder);
  const bundles = new Map(names.map((name, i) => [name, join(built[i].folder, 'index.mjs')]));
  const measured = new Map(CASES.map(([name]) => [name, []]));
  // In turn, so that what else the machine does meets all alike.
  for (let round = 0; round < rounds; round++) {
    for (const [name, event] of CASES) {
      const share = Math.min(1, memoryOf(name) / PROCESSOR_MB);
      const figures = await runOnce(runner, bundles.get(name), event);
      const throttled = values.throttled ? await runOnce(runner, bundles.get(name), event, share) : undefined;
      measured.get(name).push({ cpuMs: figures.cpuMs, throttledMs: throttled?.answeredMs ?? 0 });
    }
  }
  const { LIST_PRICES } = await import('../shared/usage/prices.ts');
  const heads = ['function', 'code, KB', 'CPU, ms', 'MB', 'start, ms', '$ for 1,000'];
  say([...heads, 'at 1,769 MB, ms', '$ for 1,000', ...(values.throttled ? ['throttled, ms'] : [])]);
  for (const [name] of CASES) {
    const least = of => Math.min(...measured.get(name).map(of));
    const cpuMs = least(figures => figures.cpuMs);
    const at = memoryMb => {
      const startMs = cpuMs / Math.min(1, memoryMb / PROCESSOR_MB);
      return [
        Math.round(startMs),
        (startMs * (memoryMb / 1024) * LIST_PRICES.functionGbSecond.price).toFixed(3),
      ];
    };
    const codeKb = Math.round(statSync(bundles.get(name)).size / 1000);
    const throttledMs = values.throttled ? [Math.round(least(figures => figures.throttledMs))] : [];
    say([
      ...[name, codeKb, Math.round(cpuMs), memoryOf(name), ...at(memoryOf(name)), ...at(PROCESSOR_MB)],
      ...throttledMs,
    ]);
  }
} finally {
  await services.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Memory of a function, from the table of docs/aws.md, which a test holds to the template. */
function memoryOf(name) {
  const page = readFileSync(join(ROOT, 'docs', 'aws.md'), 'utf8');
  const [, rest] = page.split('| function | memory | time | serves | why so much |\n');
  const short = name.replace(/^tail-(?=disconnect|default)/, '-');
  for (const row of rest.split('\n\n')[0].split('\n').slice(1)) {
    const [, names, memory] = row.split('|');
    const at = names.split(',').findIndex(one => one.trim() === short);
    const figures = memory.match(/\d+,\d{3}|\d+/g);
    if (at >= 0) return Number(figures[Math.min(at, figures.length - 1)].replace(',', ''));
  }
  throw new Error(`docs/aws.md has no memory of ${name}`);
}

/** Times count from the start of the process, as performance.now does. With a share below 1 it runs for that part of each period. */
async function runOnce(runner, bundle, event, share = 1) {
  const args = [runner, bundle, ...(event === undefined ? [] : [JSON.stringify(event)])];
  const child = spawn(...(share < 1 ? ['taskset', ['-c', '0', runtime, ...args]] : [runtime, args]), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
      LOGBOOM_BUCKET: 'chunks',
      LOGBOOM_TABLE: 'catalog',
      LOGBOOM_ENDPOINT: services.url,
      LOGBOOM_CONNECTIONS_ENDPOINT: services.url,
      LOGBOOM_TENANT: 'cold',
      LOGBOOM_URL: services.url,
    },
  });
  const throttle = share < 1 ? throttled(child, share) : undefined;
  let out = '';
  for await (const part of child.stdout) out += part;
  clearTimeout(throttle?.timer);
  const figures = JSON.parse(out.slice(out.lastIndexOf('\n') + 1));
  if (!figures.ok) throw new Error(`${bundle} answered an error: ${out}`);
  return figures;
}

function throttled(child, share) {
  const throttle = { timer: undefined };
  const pause = () => {
    child.kill('SIGSTOP');
    throttle.timer = setTimeout(go, PERIOD_MS * (1 - share));
  };
  const go = () => {
    child.kill('SIGCONT');
    throttle.timer = setTimeout(pause, PERIOD_MS * share);
  };
  go();
  return throttle;
}

function say(cells) {
  const [first, ...others] = cells.map(String);
  process.stdout.write(`${first.padEnd(16)}${others.map(cell => cell.padStart(17)).join('')}\n`);
}
