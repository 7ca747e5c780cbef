/**
 * `npm run test:aws`: runs the tests of test/aws against AWS emulators on this machine, without Docker:
 * MiniStack (S3 and DynamoDB) from PyPI in a virtual environment, DynamoDB Local from Maven Central. Both are
 * installed once below .cache/aws, run on free ports, and are stopped by their process IDs. Unavailable
 * emulators are named and skipped. The last line:
 *
 *     N passed, N failed          (or: N passed, N failed, N skipped: what)
 *
 * A skipped emulator counts as one. For what each of them proves, see docs/dev/aws-emulators.md.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { DYNAMODB_LOCAL, MINISTACK, startEmulator, Unavailable } from './aws-emulators.mjs';
import { countOf } from './jest-report.mjs';

/** Emulator, and the variable with its URL for the tests. */
const EMULATORS = [
  [MINISTACK, 'LOGBOOM_TEST_MINISTACK'],
  [DYNAMODB_LOCAL, 'LOGBOOM_TEST_DYNAMODB_LOCAL'],
];

ensureInstalled();
const running = [];
const skipped = [];
let result = { passed: 0, failed: 0, failures: [] };
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const one of running) one.kill();
    process.exit(1);
  });
}
try {
  const endpoints = {};
  for (const [emulator, variable] of EMULATORS) {
    const { name } = emulator;
    try {
      const started = await startEmulator(emulator, { say, onSpawn: one => running.push(one) });
      endpoints[variable] = started.url;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      skipped.push(name);
      say(`SKIPPED ${name}: ${error.message}`);
    }
  }
  if (Object.keys(endpoints).length > 0)
    result = countOf(await reportOf(endpoints, process.argv.slice(2)), ROOT);
} catch (error) {
  result.failed++;
  result.failures.push(error.message);
} finally {
  await Promise.all(running.map(one => one.stop()));
}
if (result.failures.length > 0) say(`\nFailed:\n${result.failures.map(name => `  ${name}`).join('\n')}`);
const without = skipped.length > 0 ? `, ${skipped.length} skipped: ${skipped.join(' and ')}` : '';
say(`\n${result.passed} passed, ${result.failed} failed${without}`);
process.exitCode = result.failed > 0 ? 1 : 0;

function say(line) {
  process.stdout.write(`${line}\n`);
}

/** Asynchronous, because spawnSync would block the signals of this process. */
async function reportOf(endpoints, args) {
  const [runtime] = findRuntimes();
  const folder = mkdtempSync(join(tmpdir(), 'logboom-test-aws-'));
  const file = join(folder, 'report.json');
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const child = spawn(
    runtime,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      // Same as in test.mjs.
      '--initial-heap-size=128',
      '--max-semi-space-size=4',
      '--external-memory-accounted-in-global-limit',
      jest,
      '--config=jest.aws.config.mjs',
      '--json',
      `--outputFile=${file}`,
      ...args,
    ],
    {
      cwd: ROOT,
      // Excludes the user's AWS account.
      env: {
        ...process.env,
        ...endpoints,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        AWS_REGION: 'us-east-1',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const one = { kill: () => child.kill('SIGKILL'), stop: async () => undefined };
  running.push(one);
  const status = await new Promise(resolve => {
    child.once('error', () => resolve('none'));
    child.once('close', code => resolve(code ?? 'none'));
  });
  running.splice(running.indexOf(one), 1);
  try {
    if (!existsSync(file)) throw new Error(`jest left no report (exit status ${status})`);
    const report = JSON.parse(readFileSync(file, 'utf8'));
    if (status !== 0 && countOf(report, ROOT).failed === 0) throw new Error(`jest (exit status ${status})`);
    return report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
