/** `logboom push --follow` as a process, against a store that refuses, fails and comes back. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { CACHE, PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';
import { type Recorded, type RecordingStore, type Reply, startRecordingStore } from './recording-store.ts';
import { refusedBy } from './refused-by.ts';
import { logboom } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-push-follow-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stores: RecordingStore[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.stop()));
});

async function store(reply: (request: Recorded, number: number) => Reply | 'drop') {
  const started = await startRecordingStore(reply);
  stores.push(started);
  return started;
}

const linesOf = ({ body }: Recorded): string[] =>
  JSON.parse(body).streams[0].values.map(([, line]: [string, string]) => line);

/** Runs until that number of requests has arrived, then sends the signal of Ctrl-C. */
async function follow(file: string, recorded: RecordingStore, requests: () => number) {
  const args = [
    'push',
    '-f',
    file,
    '-l',
    'app=f',
    '--positions',
    `${file}.positions`,
    '--addr',
    recorded.url,
  ];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: CACHE },
  });
  let stderr = '';
  child.stderr.on('data', piece => (stderr += piece));
  const closed = once(child, 'close');
  await until(() => recorded.requests.length >= requests() || child.exitCode !== null);
  child.kill('SIGINT');
  const [code] = await closed;
  return { code, stderr };
}

test('continues after refusals and failures, and from its position after a restart', async () => {
  const file = join(folder, 'app.log');
  writeFileSync(file, 'bad\n');
  const recorded = await store((request, number) => {
    if (linesOf(request).includes('bad')) {
      // Later lines were read later, and are in another batch.
      appendFileSync(file, 'good\nhalf');
      return { status: 400, body: 'entry too far behind\n' };
    }
    return number === 2 ? { status: 503, body: 'busy\n' } : { status: 204 };
  });
  const { code, stderr } = await follow(file, recorded, () => 3);
  expect(code).toBe(0);
  expect(stderr).toContain('skipped 1 line that the store refused: 400 Bad Request: entry too far behind\n');
  expect(stderr).toContain('503 Service Unavailable: busy; retrying in 0.25 s (attempt 1)\n');
  expect(recorded.requests.map(linesOf)).toEqual([['bad'], ['good'], ['good']]);
  const position = JSON.parse(readFileSync(`${file}.positions`, 'utf8')).files[file];
  expect(position.offset).toBe('bad\ngood\n'.length);

  appendFileSync(file, ' and half\n');
  expect(await follow(file, recorded, () => 4)).toEqual({ code: 0, stderr: '' });
  expect(linesOf(recorded.requests[3])).toEqual(['half and half']);
});

test('pushes several files, also compressed ones', async () => {
  const names = ['a.log', 'b.log.gz', 'c.log.zst'];
  const [plain, gz, zst] = names.map(name => join(folder, name));
  writeFileSync(plain, 'plain\n');
  writeFileSync(gz, gzipSync('from gzip\n'));
  writeFileSync(zst, zstdCompressSync('from zstd\n'));
  const recorded = await store(() => ({ status: 204 }));
  const { code, stdout } = await logboom(['push', plain, gz, zst, '--addr', recorded.url]);
  expect(code).toBe(0);
  expect(stdout.match(/^pushed 1 line, /gm)).toHaveLength(3);
  expect(recorded.requests.map(linesOf)).toEqual([['plain'], ['from gzip'], ['from zstd']]);
  const labels = recorded.requests.map(({ body }) => JSON.parse(body).streams[0].stream.filename);
  expect(labels).toEqual(names);
});

test('several files are followed, each with its own position and label', async () => {
  const files = ['one.log', 'two.log'].map(name => join(folder, name));
  const positions = join(folder, 'several.positions');
  const time = (second: number) => `2026-01-05T10:00:0${second}Z`;
  for (const file of files) writeFileSync(file, `${time(0)} INFO a\n  more of it\n${time(1)} INFO b\n`);
  const recorded = await store(() => ({ status: 204 }));
  const run = async (isDone: () => boolean) => {
    const args = [
      'push',
      '-f',
      join(folder, '{one,two}.log'),
      '--positions',
      positions,
      '--addr',
      recorded.url,
    ];
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: CACHE },
    });
    const closed = once(child, 'close');
    await until(() => isDone() || child.exitCode !== null);
    child.kill('SIGINT');
    expect((await closed)[0]).toBe(0);
  };
  const entries = (name: string) =>
    recorded.requests
      .flatMap(({ body }) => JSON.parse(body).streams)
      .filter(({ stream }) => stream.filename === name)
      .flatMap(({ values }) => values.map(([ns, line]: [string, string]) => [ns.slice(0, 10), line]));
  const want = [
    ['1767607200', `${time(0)} INFO a\n  more of it`],
    ['1767607201', `${time(1)} INFO b`],
  ];
  await run(() => entries('one.log').length === 2 && entries('two.log').length === 2);
  expect([entries('one.log'), entries('two.log')]).toEqual([want, want]);

  appendFileSync(files[1], `${time(2)} INFO c\n`);
  await run(() => entries('two.log').length === 3);
  expect(entries('two.log')).toEqual([...want, ['1767607202', `${time(2)} INFO c`]]);
  expect(entries('one.log')).toEqual(want);
});

test.each([
  [['--from-end', 'a'], '--from-end needs --follow'],
  [['-f', '-', '--label', 'a=b'], '--follow needs files'],
  [['-f', '--dry-run', 'a'], 'remove --follow'],
  [['-f', '--format', 'csv', 'a'], 'needs --csv-columns'],
])('refuses %j', async (args, message) => {
  const { code, stderr } = await logboom(['push', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('push needs a file', async () => {
  expect(await refusedBy(['push'])).toContain("missing required argument 'files'");
});
