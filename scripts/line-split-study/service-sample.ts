/**
 * Logs of our own store at level `debug`, while it is started, receives pushes and queries, and is stopped.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linesOf, type Sample } from './samples.ts';

const REPOSITORY = new URL('../../', import.meta.url).pathname;
const START_MS = 60_000;
const REQUESTS = 3000;
const PATHS = [
  '/loki/api/v1/labels',
  '/loki/api/v1/query?query=1',
  '/loki/api/v1/query?query={',
  '/nowhere',
  '/ready',
];

export async function serviceSample(): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'line-split-store-'));
  const parameters = [
    'bin/logboom.mjs',
    'start',
    '--port',
    '0',
    '--data-dir',
    folder,
    '--log-level',
    'debug',
  ];
  const store = spawn(process.execPath, parameters, { cwd: REPOSITORY, stdio: ['ignore', 'pipe', 'pipe'] });
  const parts: Buffer[] = [];
  const keep = (part: Buffer) => parts.push(part);
  store.stdout.on('data', keep);
  store.stderr.on('data', keep);
  const ended = once(store, 'exit');
  try {
    const address = await addressIn(parts);
    for (let i = 0; i < REQUESTS && address !== undefined; i++) {
      const path = PATHS[i % PATHS.length] + (i % 3 === 0 ? `?n=${i * 7919}` : '');
      await (await fetch(address + path)).arrayBuffer();
      if (i % 10 !== 0) continue;
      const streams = [{ stream: { app: `a${i % 7}` }, values: [[`${Date.now()}000000`, `line ${i}`]] }];
      const headers = { 'content-type': 'application/json' };
      await fetch(`${address}/loki/api/v1/push`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ streams }),
      });
    }
  } finally {
    store.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
  return { name: 'our own store, debug', sort: 'structured', lines: linesOf(Buffer.concat(parts)) };
}

/** URL that the store prints; undefined if it does not in time. */
async function addressIn(parts: readonly Buffer[]): Promise<string | undefined> {
  for (let waited = 0; waited < START_MS; waited += 100) {
    const found = /http:\/\/[\w.]+:\d+/.exec(Buffer.concat(parts).toString());
    if (found !== null) return found[0];
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  return undefined;
}
