/**
 * Commands on a terminal of the system, against the assembled store: what clients wrote into lines, labels, metadata and names of rules
 * is shown as text. terminal-output.test.ts tries all commands, in a process that only believes its outputs to be a terminal.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { CACHE, PROGRAM } from '../support/program.ts';

const HOSTILE =
  'a\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp.exe\u2066<img src=x onerror=alert(1)>\u2028é';
const SHOWN =
  'a\\x1b[2J\\x1b]0;owned\\x07\\u009b31m\\u202egnp.exe\\u2066<img src=x onerror=alert(1)>\\u2028é';
/** Makes all output formats of a command comparable: text, JSON or YAML. */
const PART = '\\u202egnp.exe\\u2066<img src=x onerror=alert(1)>\\u2028é';
const OBEYED = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029]/u;
/** Removes the text that the program adds on a terminal, and the carriage returns of the terminal. */
const OWN = /\r*\n|\r?\u001b\[(?:34|36|39|K)m?/g;
const SELECTOR = `{app=${JSON.stringify(HOSTILE)}}`;
/** Whether `script` of util-linux exists, which runs a command in a terminal. */
const hasScript =
  process.platform === 'linux' && spawnSync('script', ['--version'], { encoding: 'utf8' }).status === 0;
const testOnTerminal = hasScript ? test : test.skip;

let store: TestStore;
let folder: string;
let linesFile: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logboom-pty-'));
  linesFile = join(folder, 'lines.txt');
  await writeFile(linesFile, `${HOSTILE}\n`);
  store = await startStore(
    'auth_enabled: false\nlimits_config: {volume_enabled: true}\npattern_ingester: {enabled: true}\n',
  );
  const send = async (path: string, body?: string) => {
    const headers = { 'content-type': 'application/json' };
    const { status, text } = await store.client.send({ method: 'POST', path, headers, body });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  };
  const metadata = { trace: HOSTILE };
  const values = Array.from({ length: 20 }, (_, i) => [
    `${Date.now() - i}000000`,
    `${HOSTILE} took ${i} ms`,
    metadata,
  ]);
  await send(
    '/loki/api/v1/push',
    JSON.stringify({ streams: [{ stream: { app: HOSTILE, pod: HOSTILE }, values }] }),
  );
  const rule = { alert: HOSTILE, expr: `count_over_time(${SELECTOR}[1h]) > 0`, labels: { a: HOSTILE } };
  await send(
    `/loki/api/v1/rules/${encodeURIComponent(HOSTILE)}`,
    JSON.stringify({ name: HOSTILE, rules: [rule] }),
  );
  const query = encodeURIComponent(`${SELECTOR} |= "never said"`);
  await send(`/loki/api/v1/delete?query=${query}&start=1000000000&end=1000000100`);
});
afterAll(async () => {
  await store?.stop();
  await rm(folder, { recursive: true, force: true });
});

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Output that a person would see on the screen, with standard error. */
async function onTerminal(args: readonly string[], input?: string): Promise<string> {
  const words = [process.execPath, '--disable-warning=ExperimentalWarning', PROGRAM, ...args].map(quoted);
  const command = `${words.join(' ')}${input === undefined ? '' : ` < ${quoted(input)}`}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', NODE_COMPILE_CACHE: CACHE, LOGBOOM_ADDR: store.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', part => (text += part));
  await new Promise(resolve => child.on('close', resolve));
  return text.replaceAll(OWN, part => (part.endsWith('\n') ? '\n' : ''));
}

const COUNT = `sum by (app) (count_over_time(${SELECTOR}[1h]))`;

testOnTerminal.each<[string, string[], string?]>([
  ['query', ['query', SELECTOR, '--explain']],
  ['query, as lines', ['query', SELECTOR, '--output', 'raw']],
  ['query, as JSON', ['query', SELECTOR, '--output', 'jsonl']],
  ['query, as a table', ['query', SELECTOR, '--output', 'csv']],
  // A chart shortens long labels.
  ['a metric', ['query', COUNT], PART.slice(0, PART.indexOf('<'))],
  ['instant', ['instant', COUNT, '--output', 'csv']],
  ['labels', ['labels', 'app']],
  ['series', ['series']],
  ['volume', ['volume', SELECTOR, '--output', 'csv']],
  ['delete list', ['delete', 'list', '--output', 'csv']],
  ['rules list', ['rules', 'list']],
  ['a query with a mistake', ['query', `{app="${HOSTILE}"`], 'parse error at line 1'],
])('%s', async (_, args, shown = PART) => {
  const text = await onTerminal(args);
  expect(OBEYED.exec(text)).toBeNull();
  expect(text).toContain(shown);
});

testOnTerminal('lines of standard input, without a store', async () => {
  const text = await onTerminal(['query', '--stdin', '|~ "exe"', '--output', 'raw'], linesFile);
  expect(text).toBe(`${SHOWN}\n`);
});
