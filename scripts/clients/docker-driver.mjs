/**
 * Log driver of Docker without Docker: `docker-driver.mjs DRIVER FOLDER OPTIONS` starts the driver, and sends it each line of
 * standard input as Docker sends the output of a container. OPTIONS are the options of the container, as JSON.
 *
 * It runs in a mount namespace (`unshare --mount`), because the driver's folders have fixed paths.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { inputLines } from './input-lines.mjs';

const SOCKET = '/run/docker/plugins/loki.sock';
const START_TIMEOUT_MS = 20_000;
const POLL_MS = 100;
const CONTAINER = {
  ContainerID: 'c0ffee',
  ContainerName: '/web',
  ContainerImageName: 'nginx',
  ContainerCreated: new Date().toISOString(),
};

const [, , driver, folder, options] = process.argv;
for (const place of ['/run', '/var/log']) succeed('mount', ['-t', 'tmpfs', 'tmpfs', place]);
mkdirSync('/run/docker/plugins', { recursive: true });
const child = spawn(driver, { stdio: ['ignore', 'inherit', 'inherit'] });
child.once('exit', code => process.exit(code ?? 1));
process.on('SIGTERM', () => child.kill());
for (let waited = 0; !existsSync(SOCKET); waited += POLL_MS) {
  if (waited > START_TIMEOUT_MS) throw new Error(`the driver has no socket after ${START_TIMEOUT_MS} ms`);
  await new Promise(resolve => setTimeout(resolve, POLL_MS));
}

const pipe = join(folder, 'container.fifo');
succeed('mkfifo', [pipe]);
const output = createWriteStream(pipe);
await call('StartLogging', { File: pipe, Info: { ...CONTAINER, Config: JSON.parse(options) } });
for await (const line of inputLines()) {
  if (!output.write(frame(Buffer.from(line)))) await new Promise(resolve => output.once('drain', resolve));
}
// The container does not stop: the driver would drop the lines that wait.

/** Entry in protobuf after its length: source, time in nanoseconds, and line. */
function frame(line) {
  const source = Buffer.from('stdout');
  const entry = Buffer.concat([
    ...[Buffer.from([0x0a, source.length]), source],
    ...[Buffer.from([0x10]), varint(BigInt(Date.now()) * 1_000_000n)],
    ...[Buffer.from([0x1a]), varint(BigInt(line.length)), line],
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(entry.length);
  return Buffer.concat([length, entry]);
}

function varint(value) {
  const bytes = [];
  let rest = value;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

/** Request of Docker's plugin protocol. Throws the error that the driver names. */
function call(method, body) {
  return new Promise((resolve, reject) => {
    const sent = request(
      { socketPath: SOCKET, path: `/LogDriver.${method}`, method: 'POST' },
      async answer => {
        const text = (await answer.setEncoding('utf8').toArray()).join('');
        const problem = answer.statusCode === 200 ? JSON.parse(text).Err : text;
        if (problem) reject(new Error(`${method}: ${problem}`));
        else resolve();
      },
    );
    sent.once('error', reject);
    sent.end(JSON.stringify(body));
  });
}

function succeed(command, args) {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
