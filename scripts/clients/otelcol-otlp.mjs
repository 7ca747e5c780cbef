/**
 * SDK that sends through a Collector: `otelcol-otlp.mjs COLLECTOR CONFIG...` starts the Collector with these configurations, in
 * which PORT stands for the port of its receiver, and logs the lines of standard input to it.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { freePort, sleep } from '../processes.mjs';

const [, , program, ...files] = process.argv;
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 200;
const port = await freePort();
for (const file of files) writeFileSync(file, readFileSync(file, 'utf8').replaceAll('PORT', `${port}`));
const configs = files.flatMap(file => ['--config', file]);
const collector = spawn(program, configs, { stdio: ['ignore', 'inherit', 'inherit'] });
process.on('SIGTERM', () => collector.kill());
collector.once('exit', code => process.exit(code ?? 1));
for (let waited = 0; !(await listens()); waited += POLL_MS) {
  if (waited > START_TIMEOUT_MS) throw new Error('the Collector does not listen');
  await sleep(POLL_MS);
}
const sdk = fileURLToPath(new URL('otel-js.mjs', import.meta.url));
const args = [
  `http://127.0.0.1:${port}`,
  '@opentelemetry/exporter-logs-otlp-proto',
  'otelcol-otlp',
  '/v1/logs',
];
spawn(process.execPath, [sdk, ...args], { stdio: 'inherit' });

function listens() {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
