/**
 * Agent in a pod without a cluster: `kubernetes-logs.mjs FOLDER PROGRAM ARGUMENT...` starts the agent next to an API that has
 * one pod, whose output is the lines of standard input.
 *
 * It runs in a mount namespace (`unshare --mount`), because a pod finds its credentials at a fixed path.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { inputLines } from './input-lines.mjs';

const CREDENTIALS = '/run/secrets/kubernetes.io/serviceaccount';
const VERSION = '1';
const LABELS = { 'app.kubernetes.io/name': 'web' };
const POD = {
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name: 'web-1', namespace: 'shop', uid: 'web-1', resourceVersion: VERSION, labels: LABELS },
  spec: { nodeName: 'node-1', containers: [{ name: 'nginx', image: 'nginx' }] },
  status: { phase: 'Running', podIP: '10.0.0.2', hostIP: '10.0.0.1' },
};

const [, , folder, program, ...args] = process.argv;
const [key, cert] = ['key.pem', 'ca.crt'].map(name => join(folder, name));
succeed('openssl', [
  ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-subj', '/CN=api'],
  ...['-addext', 'subjectAltName=IP:127.0.0.1'],
]);
succeed('mount', ['-t', 'tmpfs', 'tmpfs', '/run']);
mkdirSync(CREDENTIALS, { recursive: true });
writeFileSync(join(CREDENTIALS, 'ca.crt'), readFileSync(cert));
writeFileSync(join(CREDENTIALS, 'token'), 'token');

/** Lines of the pod, each behind its time. */
const output = [];
const followers = new Set();
const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, respond);
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
const agent = spawn(program, args, {
  stdio: ['ignore', 'inherit', 'inherit'],
  env: {
    ...process.env,
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: `${server.address().port}`,
    HOSTNAME: 'node-1',
  },
});
process.on('SIGTERM', () => agent.kill());
agent.once('exit', code => process.exit(code ?? 1));
for await (const line of inputLines()) {
  // Each line has a different time: agents skip lines that are not newer than the last one.
  const time = `${new Date().toISOString().slice(0, -1)}${String(output.length % 1_000_000).padStart(6, '0')}Z`;
  output.push(`${time} ${line}\n`);
  for (const follower of followers) follower.write(output.at(-1));
}

function respond(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'https://api');
  if (pathname.endsWith('/log')) {
    const since = Date.parse(searchParams.get('sinceTime') ?? 0);
    response.flushHeaders();
    for (const line of output)
      if (Date.parse(line.slice(0, line.indexOf(' '))) >= since) response.write(line);
    followers.add(response);
    response.once('close', () => followers.delete(response));
  } else if (searchParams.has('watch')) {
    response.setHeader('content-type', 'application/json').flushHeaders();
    if (searchParams.get('sendInitialEvents') === 'true') sendPods(response);
  } else if (pathname.startsWith('/api/v1/')) {
    const isPod = pathname.endsWith(`/${POD.metadata.name}`);
    const list = { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: VERSION }, items: [POD] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(isPod ? POD : list));
  } else if (pathname === '/version') {
    response.end(JSON.stringify({ major: '1', minor: '33', gitVersion: 'v1.33.0' }));
  } else {
    response.writeHead(404).end();
  }
}

/** The pods that a watch begins with, and their end. */
function sendPods(response) {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  const end = { apiVersion: 'v1', kind: 'Pod', metadata: { resourceVersion: VERSION, annotations } };
  for (const [type, object] of [
    ['ADDED', POD],
    ['BOOKMARK', end],
  ])
    response.write(`${JSON.stringify({ type, object })}\n`);
}

function succeed(command, given) {
  const { status, stderr, error } = spawnSync(command, given, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr}`);
}
