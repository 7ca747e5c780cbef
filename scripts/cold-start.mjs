/**
 * `node bin/with-runtime.mjs scripts/cold-start.mjs [--rounds N]`: how long the bundles of the functions take from the start of a process to the first
 * answer, on this machine. Each is bundled as for a deployment and started anew in each round, with a stand-in for S3 and
 * DynamoDB on this machine; what Lambda adds (a sandbox, fetching the code) is not in it.
 *
 *     function   code, KB   start, ms   first answer, ms   CPU, ms       medians of the rounds
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';

ensureInstalled();
const [runtime] = findRuntimes();
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const rounds = Number(values.rounds);

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
  ['tail-connect', undefined],
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
    for (const [name, event] of CASES)
      measured.get(name).push(await runOnce(runner, bundles.get(name), event));
  }
  say(['function', 'code, KB', 'start, ms', 'first answer, ms', 'CPU, ms']);
  for (const [name, event] of CASES) {
    const figures = measured.get(name);
    const answered = event === undefined ? '-' : median(figures.map(({ answeredMs }) => answeredMs));
    const codeKb = Math.round(statSync(bundles.get(name)).size / 1000);
    const startMs = median(figures.map(({ loadedMs }) => loadedMs));
    say([name, codeKb, startMs, answered, median(figures.map(({ cpuMs }) => cpuMs))]);
  }
} finally {
  await services.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Times count from the start of the process, as performance.now does. */
async function runOnce(runner, bundle, event) {
  const args = [runner, bundle, ...(event === undefined ? [] : [JSON.stringify(event)])];
  const child = spawn(runtime, args, {
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
  let out = '';
  for await (const part of child.stdout) out += part;
  const figures = JSON.parse(out.slice(out.lastIndexOf('\n') + 1));
  if (!figures.ok) throw new Error(`${bundle} answered an error: ${out}`);
  return figures;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)]);
}

function say(cells) {
  const [first, ...others] = cells.map(String);
  process.stdout.write(`${first.padEnd(16)}${others.map(cell => cell.padStart(18)).join('')}\n`);
}
