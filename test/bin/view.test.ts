/** `logboom view` in tmux, against the store itself. Skipped where tmux is not installed (Debian: `apt install tmux`). */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { PROGRAM } from '../support/program.ts';
import { logboom } from './run-command.ts';
import { hasTmux, Terminal } from './tmux.ts';

if (!hasTmux) console.warn('tmux is not installed: logboom view is not tested on a terminal');
const testInTmux = hasTmux ? test : test.skip;
const terminal = new Terminal();
let store: TestStore;

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
  terminal.end();
  await store?.stop();
});

testInTmux('runs a query, completes, filters, follows and gives the terminal back', async () => {
  terminal.start(90, 20);
  terminal.keys(`${process.execPath} ${PROGRAM} view --addr ${store.url}; echo back-$((40+2))`, 'Enter');
  await terminal.screenWith('Tab complete');
  terminal.type('{ap');
  terminal.keys('Tab');
  await terminal.screenWith('query> {app');
  terminal.type('="s');
  terminal.keys('Tab');
  await terminal.screenWith('shed  shop');
  terminal.type('op"}');
  terminal.keys('Enter');
  expect(await terminal.screenWith('entry 1 of 1')).toContain('first of shop');
  terminal.keys('Enter');
  await terminal.screenWith('  app = shop');
  terminal.type('+');
  await terminal.screenWith('{app="shop"} | app="shop"');
  terminal.type('t');
  await terminal.screenWith('live  entry 1 of 1');
  await push('second');
  expect(await terminal.screenWith('second of shop')).not.toContain('of shed');
  terminal.type('q');
  const after = await terminal.screenWith('back-42');
  expect(after).not.toContain('second of shop');
});

test('needs a terminal', async () => {
  const { code, stderr } = await logboom(['view', '{app="shop"}']);
  expect(code).toBe(2);
  expect(stderr).toContain('view needs a terminal');
});
