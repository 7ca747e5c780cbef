/** `logboom view` in tmux, against the store itself. Skipped where tmux is not installed (Debian: `apt install tmux`). */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { PROGRAM } from '../support/program.ts';
import { logboom } from './run-command.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('tmux is not installed: logboom view is not tested on a terminal');
const testInTmux = hasTmux ? test : test.skip;
const folder = mkdtempSync(join(tmpdir(), 'logboom-view-'));
const tmux = (...args: readonly string[]) =>
  execFileSync('tmux', ['-S', join(folder, 'tmux'), '-f', '/dev/null', ...args], { encoding: 'utf8' });
const keys = (...names: readonly string[]) => tmux('send-keys', ...names);
const MAX_LOOKS = 600;
let store: TestStore;

/** The screen as soon as it holds the text. */
async function screenWith(text: string): Promise<string> {
  let screen = '';
  for (let look = 0; look < MAX_LOOKS; look++) {
    screen = tmux('capture-pane', '-p');
    if (screen.includes(text)) return screen;
    await delay(100);
  }
  throw new Error(`the screen has no ${JSON.stringify(text)}:\n${screen}`);
}

async function push(line: string): Promise<void> {
  const streams = ['shop', 'shed'].map(app => ({
    stream: { app },
    values: [[`${Date.now()}000000`, `${line} of ${app}`]],
  }));
  const { status } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  expect(status).toBe(204);
}

beforeAll(async () => {
  store = await startStore('auth_enabled: false\n');
  await push('first');
});

afterAll(async () => {
  if (hasTmux) spawnSync('tmux', ['-S', join(folder, 'tmux'), 'kill-server']);
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
});

testInTmux('runs a query, completes, filters, follows and gives the terminal back', async () => {
  tmux('new-session', '-d', '-x', '90', '-y', '20');
  keys(`${process.execPath} ${PROGRAM} view --addr ${store.url}; echo back-$((40+2))`, 'Enter');
  await screenWith('Tab complete');
  keys('-l', '{ap');
  keys('Tab');
  await screenWith('query> {app');
  keys('-l', '="s');
  keys('Tab');
  await screenWith('shed  shop');
  keys('-l', 'op"}');
  keys('Enter');
  expect(await screenWith('entry 1 of 1')).toContain('first of shop');
  keys('Enter');
  await screenWith('  app = shop');
  keys('-l', '+');
  await screenWith('{app="shop"} | app="shop"');
  keys('-l', 't');
  await screenWith('live  entry 1 of 1');
  await push('second');
  expect(await screenWith('second of shop')).not.toContain('of shed');
  keys('-l', 'q');
  const after = await screenWith('back-42');
  expect(after).not.toContain('second of shop');
});

test('needs a terminal', async () => {
  const { code, stderr } = await logboom(['view', '{app="shop"}']);
  expect(code).toBe(2);
  expect(stderr).toContain('view needs a terminal');
});
