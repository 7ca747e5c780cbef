/**
 * AWS emulators on this machine without Docker: MiniStack (S3 and DynamoDB) from PyPI in a virtual
 * environment, DynamoDB Local from Maven Central. Each is installed once below .cache/aws and runs on a free
 * port of 127.0.0.1. Used by tests (test-aws.mjs) and for counting requests (bench/requests).
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { ROOT } from '../bin/installed.mjs';
import { findRuntimes } from '../bin/runtime.mjs';
import { fillOnce } from './fill-once.mjs';

const MINISTACK_VERSION = '1.5.33';
const DYNAMODB_LOCAL_VERSION = '2.6.1';
const CACHE = join(ROOT, '.cache', 'aws');
const INSTALL_TIMEOUT_MS = 5 * 60_000;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 100;
const IS_WINDOWS = process.platform === 'win32';

/** `prepare` installs it if missing, and returns how to start it; throws Unavailable. */
export const MINISTACK = Object.freeze({ name: 'MiniStack', prepare: prepareMiniStack });
export const DYNAMODB_LOCAL = Object.freeze({ name: 'DynamoDB Local', prepare: prepareDynamoDbLocal });

/** Emulator that cannot be installed on this machine; the message says why. */
export class Unavailable extends Error {}

/**
 * Resolves to an emulator that responds. Calls `onSpawn` as soon as there is a process, so that a signal can
 * end it. Throws Unavailable.
 */
export async function startEmulator({ name, prepare }, { say, onSpawn = () => undefined }) {
  mkdirSync(CACHE, { recursive: true });
  const { command, environment, health } = prepare(say);
  const port = await freePort();
  const [program, args] = command(port);
  const logFile = join(CACHE, `${name.toLowerCase().replaceAll(' ', '-')}.log`);
  const log = openSync(logFile, 'w');
  // MiniStack leaves the folders of its functions behind. They must not be below this package, whose module
  // type differs from theirs.
  const temporary = mkdtempSync(join(tmpdir(), 'logboom-emulator-'));
  const child = spawn(program, args, {
    cwd: CACHE,
    stdio: ['ignore', log, log],
    env: { ...process.env, TMPDIR: temporary, ...environment(port) },
  });
  const exited = new Promise(resolve => child.once('close', resolve));
  let ended = false;
  exited.then(() => (ended = true));
  child.once('error', () => (ended = true));
  const url = `http://127.0.0.1:${port}`;
  const emulator = {
    url,
    kill: () => child.kill('SIGKILL'),
    async stop() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(timer);
      rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
      say(`${name} stopped`);
    },
  };
  onSpawn(emulator);
  const latest = Date.now() + START_TIMEOUT_MS;
  while (!ended && Date.now() < latest) {
    // Any response counts: DynamoDB Local refuses an unsigned request.
    const answer = await fetch(url + health).catch(() => undefined);
    if (answer !== undefined) {
      say(`${name} listens on ${url}, process ${child.pid}`);
      return emulator;
    }
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
  await emulator.stop();
  const said = readFileSync(logFile, 'utf8').trim().split('\n').at(-1);
  throw new Unavailable(`it did not start (${relative(ROOT, logFile)}): ${said}`);
}

/** Command that starts MiniStack on a port; installs it if missing. */
function prepareMiniStack(say) {
  const venv = join(CACHE, `ministack-${MINISTACK_VERSION}`);
  const python = IS_WINDOWS ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python');
  fillOnce(venv, [], () => {
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
    // Its state is only in memory, and it is not reachable from the network.
    environment: port => ({
      GATEWAY_PORT: `${port}`,
      BIND_HOST: '127.0.0.1',
      LOG_LEVEL: 'WARNING',
      // MiniStack runs functions with the `node` of the path, which must be the project's.
      PATH: [dirname(findRuntimes()[0]), process.env.PATH].join(delimiter),
    }),
  };
}

/** Command that starts DynamoDB Local on a port; downloads it if missing. */
function prepareDynamoDbLocal(say) {
  if (!succeeds('java', ['-version'])) throw new Unavailable('there is no java');
  const folder = join(CACHE, `dynamodb-local-${DYNAMODB_LOCAL_VERSION}`);
  const jars = join(folder, 'jars');
  fillOnce(folder, [], () => {
    if (!succeeds('mvn', ['--version'])) throw new Unavailable('there is no mvn');
    say(`downloading DynamoDB Local ${DYNAMODB_LOCAL_VERSION} from Maven Central; this happens once`);
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

function succeeds(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Runs an installation step; throws Unavailable with its last output line. */
function must(command, args, message) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
  });
  if (status === 0) return;
  const lines = `${stdout ?? ''}\n${stderr ?? ''}`.split('\n').filter(line => line.trim() !== '');
  throw new Unavailable(`${message}: ${error?.message ?? lines.at(-1) ?? `status ${status}`}`);
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
