/** `logboom view` in tmux, against the store itself. Skipped where tmux is not installed (Debian: `apt install tmux`). */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { PROGRAM } from '../support/program.ts';
import { logboom } from './run-command.ts';
import { hasTmux, Terminal } from './tmux.ts';

if (!hasTmux) console.warn('tmux is not installed: logboom view is not tested on a terminal');
const testInTmux = hasTmux ? test : test.skip;
let terminal: Terminal;
let store: TestStore;

async function push(line: string, atMs = Date.now()): Promise<void> {
  const streams = ['shop', 'shed'].map(app => ({
    stream: { app },
    values: [[`${atMs}000000`, `${line} of ${app}`]],
  }));
  const { status } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  expect(status).toBe(204);
}

function view(...words: readonly string[]): void {
  const command = [process.execPath, PROGRAM, 'view', ...words, '--addr', store.url].map(word => `'${word}'`);
  terminal.keys(`${command.join(' ')}; echo back-$((40+2))`, 'Enter');
}

/** Row of the screen, from 0. */
const row = (screen: string, number: number) => screen.split('\n')[number].trimEnd();

beforeAll(async () => {
  store = await startStore('auth_enabled: false\n');
  await push('first');
});

beforeEach(() => {
  terminal = new Terminal();
  if (hasTmux) terminal.start(90, 20);
});

afterEach(() => terminal.end());

afterAll(async () => {
  await store?.stop();
});

testInTmux('runs a query, completes, filters, follows and gives the terminal back', async () => {
  view();
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

testInTmux('shows a histogram and a list to move in, and fits a terminal that changes its size', async () => {
  const hourAgo = Date.now() - 3_600_000;
  for (let minute = 0; minute < 40; minute++)
    await push(`event ${minute}`, hourAgo + (minute < 20 ? 5 + minute : 35 + minute / 4) * 60_000);
  view('{app="shop"} |= "event"', '--since', '1h');
  const first = await terminal.screenWith('entry 1 of 40');
  expect(row(first, 2)).toMatch(/event 39 of shop$/);
  // Twice as many entries in a minute have bars twice as high, and most minutes have none.
  expect(row(await terminal.screenWith('█'), 1)).toMatch(/^[ ▁▂▃▄▅▆▇█]{1,90}$/);
  terminal.keys('Down', 'Down');
  await terminal.screenWith('entry 3 of 40');
  terminal.keys('End');
  expect(await terminal.screenWith('entry 40 of 40')).toContain('event 0 of shop');
  terminal.keys('PageUp');
  await terminal.screenWith('entry 24 of 40');
  terminal.resize(40, 10);
  const small = await terminal.screenWith('event 16 of sh…');
  expect(small.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
  terminal.keys('Home');
  await terminal.screenWith('entry 1 of 40');
  terminal.type('q');
  await terminal.screenWith('back-42');
});

testInTmux('drops entries by a key, explains a mistake in a query, and survives any bytes', async () => {
  view('{app=~"shop|shed"} |= "first"');
  await terminal.screenWith('entry 1 of 2');
  terminal.keys('Enter');
  await terminal.screenWith('  app = ');
  terminal.type('-');
  await terminal.screenWith('entry 1 of 1');
  terminal.type('/');
  await terminal.screenWith('Tab complete');
  // A byte that starts no character, as in a pasted text of another encoding.
  terminal.bytes(0x85, 0x41);
  await terminal.screenWith('\ufffdA');
  terminal.keys('C-u');
  terminal.type('{app=');
  terminal.keys('Enter');
  await terminal.screenWith('parse error');
  terminal.keys('C-c');
  await terminal.screenWith('back-42');
});

test('view needs a terminal', async () => {
  const { code, stderr } = await logboom(['view', '{app="shop"}']);
  expect(code).toBe(2);
  expect(stderr).toContain('view needs a terminal');
});
