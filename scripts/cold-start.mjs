/**
 * `node bin/with-runtime.mjs scripts/cold-start.mjs [--rounds N]`: measures the start of each function up to
 * its first response, as CPU time on this machine. Each function is bundled as for a deployment and started
 * in a new process per round, with a stand-in for S3 and DynamoDB.
 *
 * Lambda gives a function a share of a vCPU: its memory divided by 1,769 MB. A start only computes. Below a
 * whole vCPU it takes its CPU time divided by the share, and costs the same at every memory size. Above, it
 * is hardly faster and costs more. The table shows this for the function's memory and for 1,769 MB.
 *
 *     function   code, KB   CPU, ms   memory, MB   start, ms   dollars for 1,000 starts   the same at 1,769 MB
 *
 * Figures are minimums over the rounds, because other processes use the machine. They exclude what Lambda
 * adds (a sandbox, fetching the code).
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { poolFlag } from '../bin/tuning.mjs';

ensureInstalled();
const [runtime] = findRuntimes();
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const rounds = Number(values.rounds);

/** Memory of a function with one vCPU. */
const PROCESSOR_MB = 1769;

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

/** Program of a function's process. */
const RUNNER = `
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
// Loads like Lambda; import() of CommonJS would scan the code for exports.
const require = createRequire(import.meta.url);
const { handler } = require(process.argv[2]);
const event = process.argv[3] === undefined ? undefined : JSON.parse(process.argv[3]);
let ok = true;
if (event !== undefined) {
  const result = await handler(event, { awsRequestId: 'cold', getRemainingTimeInMillis: () => 900000 });
  ok = (result?.statusCode ?? 200) < 400;
}
const { userCPUTime, systemCPUTime } = process.resourceUsage();
const cpuMs = (userCPUTime + systemCPUTime) / 1000;
const codeBytes = Object.keys(require.cache).reduce((sum, file) => sum + statSync(file).size, 0);
const figures = { ok, cpuMs, codeBytes };
process.stdout.write('\\n' + JSON.stringify(figures), () => process.exit(0));
`;

const folder = mkdtempSync(join(tmpdir(), 'logboom-cold-'));
const { startFakeServices } = await import('../test/lib/fake-services.ts');
const services = await startFakeServices();
try {
  const { bundleFunctions, MODULE } = await import('../lib/bundle.ts');
  const runner = join(folder, 'runner.mjs');
  writeFileSync(runner, RUNNER);
  const names = CASES.map(([name]) => name);
  const built = await bundleFunctions(names, folder);
  const bundles = new Map(names.map((name, i) => [name, join(built[i].folder, MODULE)]));
  const measured = new Map(CASES.map(([name]) => [name, []]));
  // Functions alternate, so that other load on the machine affects all alike.
  for (let round = 0; round < rounds; round++) {
    for (const [name, event] of CASES) {
      measured.get(name).push(await runOnce(runner, bundles.get(name), event));
    }
  }
  const { LIST_PRICES } = await import('../shared/server/admin/prices.ts');
  const heads = ['function', 'code, KB', 'CPU, ms', 'MB', 'start, ms', '$ for 1,000'];
  say([...heads, 'at 1,769 MB, ms', '$ for 1,000']);
  for (const [name] of CASES) {
    const cpuMs = Math.min(...measured.get(name).map(figures => figures.cpuMs));
    const at = memoryMb => {
      const startMs = cpuMs / Math.min(1, memoryMb / PROCESSOR_MB);
      return [
        Math.round(startMs),
        (startMs * (memoryMb / 1024) * LIST_PRICES.functionGbSecond.price).toFixed(3),
      ];
    };
    const codeKb = Math.round(measured.get(name)[0].codeBytes / 1000);
    const memoryMb = memoryOf(name);
    say([name, codeKb, Math.round(cpuMs), memoryMb, ...at(memoryMb), ...at(PROCESSOR_MB)]);
  }
} finally {
  await services.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Memory of a function, from the table of docs/reference/aws.md, which a test compares with the template. */
function memoryOf(name) {
  const page = readFileSync(join(ROOT, 'docs', 'reference', 'aws.md'), 'utf8');
  const [, rest] = page.split('| function | memory | time | serves | why so much |\n');
  const short = name.replace(/^tail-(?=disconnect|default)/, '-');
  for (const row of rest.split('\n\n')[0].split('\n').slice(1)) {
    const [, names, memory] = row.split('|');
    const at = names.split(',').findIndex(one => one.trim() === short);
    const figures = memory.match(/\d+,\d{3}|\d+/g);
    if (at >= 0) return Number(figures[Math.min(at, figures.length - 1)].replace(',', ''));
  }
  throw new Error(`docs/reference/aws.md has no memory of ${name}`);
}

async function runOnce(runner, bundle, event) {
  const args = [runner, bundle, ...(event === undefined ? [] : [JSON.stringify(event)])];
  const child = spawn(runtime, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      // As lib/api-function.ts sets it for one or two vCPUs.
      NODE_OPTIONS: poolFlag(1),
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

function say(cells) {
  const [first, ...others] = cells.map(String);
  process.stdout.write(`${first.padEnd(16)}${others.map(cell => cell.padStart(17)).join('')}\n`);
}
