/**
 * `npm run test:aws`: the tests of test/aws against emulators of AWS on this machine, without Docker: MiniStack (S3 and
 * DynamoDB) from PyPI in a virtual environment, DynamoDB Local from Maven Central. Both are put below .cache/aws once, run
 * on free ports, and are stopped by their process ids. What cannot be had is named and left out. The last line:
 *
 *     N passed, N failed          (or: N passed, N failed, N skipped: what)
 *
 * An emulator that is left out counts as one skipped. What each of them proves: docs/aws-emulators.md.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ensureInstalled, ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';

const MINISTACK_VERSION = '1.5.33';
const DYNAMODB_LOCAL_VERSION = '2.6.1';
const CACHE = join(ROOT, '.cache', 'aws');
const INSTALL_TIMEOUT_MS = 5 * 60_000;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 100;
const IS_WINDOWS = process.platform === 'win32';

/** [name, how to get it (throws Unavailable), the variable by which the tests find it] */
const EMULATORS = [
  { name: 'MiniStack', variable: 'LOGBOOM_TEST_MINISTACK', prepare: prepareMiniStack },
  { name: 'DynamoDB Local', variable: 'LOGBOOM_TEST_DYNAMODB_LOCAL', prepare: prepareDynamoDbLocal },
];

class Unavailable extends Error {}

ensureInstalled();
mkdirSync(CACHE, { recursive: true });
const running = [];
const skipped = [];
let result = { passed: 0, failed: 0, failures: [] };
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const { child } of running) child.kill('SIGKILL');
    process.exit(1);
  });
}
try {
  const endpoints = {};
  for (const { name, variable, prepare } of EMULATORS) {
    try {
      endpoints[variable] = await start(name, await prepare());
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      skipped.push(name);
      say(`SKIPPED ${name}: ${error.message}`);
    }
  }
  if (Object.keys(endpoints).length > 0) result = await runJest(endpoints);
} catch (error) {
  result.failed++;
  result.failures.push(error.message);
} finally {
  await Promise.all(running.map(stop));
}
if (result.failures.length > 0) say(`\nFailed:\n${result.failures.map(name => `  ${name}`).join('\n')}`);
const without = skipped.length > 0 ? `, ${skipped.length} skipped: ${skipped.join(' and ')}` : '';
say(`\n${result.passed} passed, ${result.failed} failed${without}`);
process.exitCode = result.failed > 0 ? 1 : 0;

function say(line) {
  process.stdout.write(`${line}\n`);
}

/** The command that starts MiniStack on a port; installs it where it is missing. */
function prepareMiniStack() {
  const venv = join(CACHE, `ministack-${MINISTACK_VERSION}`);
  const python = IS_WINDOWS ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python');
  once(venv, () => {
    const system = ['python3', 'python'].find(command => succeeds(command, ['--version']));
    if (system === undefined) throw new Unavailable('there is no python3');
    say(`installing MiniStack ${MINISTACK_VERSION} from PyPI; this happens once`);
    must(system, ['-m', 'venv', venv], 'python cannot make a virtual environment (module venv or ensurepip)');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    must(python, [...pip, `ministack==${MINISTACK_VERSION}`], 'pip cannot install it');
  });
  return {
    health: '/_ministack/health',
    command: () => [python, ['-m', 'ministack']],
    // Its state is in memory alone, and nobody else on the network sees it.
    environment: port => ({ GATEWAY_PORT: `${port}`, BIND_HOST: '127.0.0.1', LOG_LEVEL: 'WARNING' }),
  };
}

/** The command that starts DynamoDB Local on a port; downloads it where it is missing. */
function prepareDynamoDbLocal() {
  if (!succeeds('java', ['-version'])) throw new Unavailable('there is no java');
  const folder = join(CACHE, `dynamodb-local-${DYNAMODB_LOCAL_VERSION}`);
  const jars = join(folder, 'jars');
  once(folder, () => {
    if (!succeeds('mvn', ['--version'])) throw new Unavailable('there is no mvn');
    say(`downloading DynamoDB Local ${DYNAMODB_LOCAL_VERSION} from Maven Central; this happens once`);
    mkdirSync(folder, { recursive: true });
    const pom = join(folder, 'pom.xml');
    writeFileSync(pom, pomOf('com.amazonaws', 'DynamoDBLocal', DYNAMODB_LOCAL_VERSION));
    const copy = ['--quiet', '--batch-mode', '--file', pom, 'dependency:copy-dependencies'];
    must('mvn', [...copy, `-DoutputDirectory=${jars}`], 'mvn cannot download it');
  });
  const main = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner';
  const options = ['-inMemory', '-sharedDb', '-disableTelemetry'];
  return {
    health: '/',
    command: port => [
      'java',
      [`-Djava.library.path=${jars}`, '-cp', join(jars, '*'), main, ...options, '-port', `${port}`],
    ],
    environment: () => ({}),
  };
}

function pomOf(group, artifact, version) {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>logboom</groupId>
  <artifactId>emulators</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>
  </dependencies>
</project>
`;
}

/** Fills a folder unless it was filled to the end before. */
function once(folder, fill) {
  const stamp = join(folder, '.complete');
  if (existsSync(stamp)) return;
  rmSync(folder, { recursive: true, force: true });
  fill();
  writeFileSync(stamp, '');
}

function succeeds(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Runs a step of an installation; throws Unavailable with the last line of what it said. */
function must(command, args, message) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
  });
  if (status === 0) return;
  const lines = `${stdout ?? ''}\n${stderr ?? ''}`.split('\n').filter(line => line.trim() !== '');
  throw new Unavailable(`${message}: ${error?.message ?? lines.at(-1) ?? `status ${status}`}`);
}

/** Resolves to the address of an emulator that answers. */
async function start(name, { command, environment, health }) {
  const port = await freePort();
  const [program, args] = command(port);
  const logFile = join(CACHE, `${name.toLowerCase().replaceAll(' ', '-')}.log`);
  const log = openSync(logFile, 'w');
  const child = spawn(program, args, {
    cwd: CACHE,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...environment(port) },
  });
  const exited = new Promise(resolve => child.once('close', resolve));
  let ended = false;
  exited.then(() => (ended = true));
  child.once('error', () => (ended = true));
  running.push({ name, child, exited });
  const url = `http://127.0.0.1:${port}`;
  const latest = Date.now() + START_TIMEOUT_MS;
  while (!ended && Date.now() < latest) {
    // Any answer will do: DynamoDB Local refuses a request without a signature.
    const answer = await fetch(url + health).catch(() => undefined);
    if (answer !== undefined) {
      say(`${name} listens on ${url}, process ${child.pid}`);
      return url;
    }
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
  const said = readFileSync(logFile, 'utf8').trim().split('\n').at(-1);
  throw new Unavailable(`it did not start (${relative(ROOT, logFile)}): ${said}`);
}

async function stop({ name, child, exited }) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
  say(`${name} stopped`);
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

/** Not spawnSync: the signals of this process must still be heard. */
async function runJest(endpoints) {
  const [runtime] = findRuntimes();
  const folder = mkdtempSync(join(tmpdir(), 'logboom-test-aws-'));
  const report = join(folder, 'report.json');
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const child = spawn(
    runtime,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      jest,
      '--config=jest.aws.config.mjs',
      '--json',
      `--outputFile=${report}`,
      ...process.argv.slice(2),
    ],
    {
      cwd: ROOT,
      // Not the account of whoever runs this.
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
  running.push({ name: 'jest', child, exited: Promise.resolve() });
  const status = await new Promise(resolve => {
    child.once('error', () => resolve('none'));
    child.once('close', code => resolve(code ?? 'none'));
  });
  try {
    if (!existsSync(report)) throw new Error(`jest left no report (exit status ${status})`);
    const counted = countOf(JSON.parse(readFileSync(report, 'utf8')));
    if (status !== 0 && counted.failed === 0) {
      counted.failed++;
      counted.failures.push(`jest (exit status ${status})`);
    }
    return counted;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A test file that cannot run counts as one failed. */
function countOf({ numPassedTests, testResults }) {
  const failures = [];
  for (const { name, status, assertionResults } of testResults) {
    const file = relative(ROOT, name);
    const failed = assertionResults.filter(one => one.status === 'failed');
    for (const { fullName } of failed) failures.push(`${file}: ${fullName}`);
    if (status === 'failed' && failed.length === 0) failures.push(`${file}: could not run`);
  }
  return { passed: numPassedTests, failed: failures.length, failures };
}
