/** The commands against the store itself, started as a person starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CACHE, PROGRAM } from '../support/program.ts';
import { logboom } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-store-'));
const data = join(folder, 'data');
let store: ChildProcess;
let env: Record<string, string>;

beforeAll(async () => {
  const flags = ['--disable-warning=ExperimentalWarning', PROGRAM, 'start'];
  const options = ['--port', '0', '--data-dir', data, '--log-level', 'error'];
  store = spawn(process.execPath, [...flags, ...options], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: CACHE },
  });
  let said = '';
  for (const stream of [store.stdout!, store.stderr!]) stream.on('data', piece => (said += piece));
  let url: string | undefined;
  while (url === undefined) {
    if (store.exitCode !== null) throw new Error(`the store did not start: ${said}`);
    await Promise.race([once(store.stdout!, 'data'), once(store, 'close')]);
    url = /Logboom listens on (http:\S+)/.exec(said)?.[1];
  }
  env = { LOGBOOM_ADDR: url };
});

afterAll(async () => {
  if (store.exitCode === null) {
    const closed = once(store, 'close');
    store.kill('SIGTERM');
    await closed;
  }
  rmSync(folder, { recursive: true, force: true });
});

const LINES = Array.from(
  { length: 3000 },
  (_, i) => `n=${i % 100} level=${i % 2 ? 'info' : 'warn'} ${'é'.repeat(i % 50)}`,
);

describe('push, query and inspect', () => {
  test('return a file unchanged, in either order', async () => {
    const file = join(folder, 'app.log');
    writeFileSync(file, LINES.join('\r\n'));
    const pushed = await logboom(['push', file, '--label', 'app=shop', '--batch-bytes', '40KB'], { env });
    expect(pushed).toMatchObject({ code: 0, stderr: '' });
    const query = ['query', '{app="shop", filename="app.log"}', '--limit', '0', '--output', 'raw'];
    const forward = await logboom([...query, '--batch', '700', '--direction', 'forward'], { env });
    expect(forward).toEqual({ code: 0, stdout: `${LINES.join('\n')}\n`, stderr: '' });
    const backward = await logboom([...query, '--batch', '999'], { env });
    expect(backward.stdout).toBe(`${LINES.toReversed().join('\n')}\n`);

    const count = ['query', 'sum by (level) (count_over_time({app="shop"} | logfmt | keep level [1h]))'];
    const counted = await logboom([...count, '--step', '1h', '--since', '0s', '--output', 'jsonl'], { env });
    const samples = counted.stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(samples.map(({ labels, value }) => [labels, value])).toEqual([
      [{ level: 'info' }, '1500'],
      [{ level: 'warn' }, '1500'],
    ]);
  });

  test('work with delete, which creates, lists and cancels requests', async () => {
    const query = '{app="shop"} |= "user=4711"';
    const range = ['--from', '2026-01-05T10:00:00.5Z', '--to', '1767607260'];
    const made = await logboom(['delete', 'create', query, ...range, '--max-interval', '20s'], { env });
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f]{8}\n$/) });
    const id = made.stdout.trim();
    expect(await logboom(['delete', 'list'], { env })).toEqual({
      code: 0,
      stdout: `${id}  received       2026-01-05T10:00:00.500Z to 2026-01-05T10:01:00.000Z  ${query}\n`,
      stderr: '',
    });
    expect((await logboom(['delete', 'list', '--output', 'csv'], { env })).stdout).toBe(
      'id,status,start,end,query\n' +
        `${id},received,2026-01-05T10:00:00.500Z,2026-01-05T10:01:00.000Z,"${query.replaceAll('"', '""')}"\n`,
    );
    const canceled = await logboom(['delete', 'cancel', id], { env });
    expect(canceled).toEqual({ code: 0, stdout: `${id}  canceled\n`, stderr: '' });
    expect((await logboom(['delete', 'list'], { env })).stdout).toBe('');
    const watched = await logboom(['delete', 'watch', id], { env });
    expect(watched).toEqual({
      code: 1,
      stdout: '',
      stderr: `logboom: delete request ${id} does not exist, or it was canceled; run logboom delete list\n`,
    });
    const refused = await logboom(['delete', 'create', '{app=', ...range], { env });
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'logboom: 400 Bad Request: invalid query expression\n',
    });
  });

  test('show a chunk that the store wrote', async () => {
    const file = join(folder, 'random.log');
    // Hard to compress: a chunk that is not small enough for the catalog.
    const lines = Array.from({ length: 2000 }, (_, i) => `${Math.sin(i)} ${Math.cos(i)}`);
    writeFileSync(file, lines.join('\n'));
    await logboom(['push', file, '--label', 'app=random'], { env });
    const objects = readdirSync(join(data, 'objects'), { recursive: true, withFileTypes: true });
    const names = objects.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
    const reports = await Promise.all(names.map(name => logboom(['inspect', name, '--json'], { env })));
    expect(reports.map(({ code }) => code)).toEqual(names.map(() => 0));
    const streams = reports.map(({ stdout }) => JSON.parse(stdout)).flatMap(report => report.streams);
    expect(streams).toContain('{app="random", filename="random.log", service_name="random"}');
  });

  test('show what is stored in tables', async () => {
    const rows: [string[], RegExp | string][] = [
      [['labels'], 'app\nfilename\nservice_name\n'],
      [['labels', 'app'], /^random\n(.*\n)*shop\n$/],
      [['series', '{app="shop"}'], '{app="shop", filename="app.log", service_name="shop"}\n'],
      [['series', '--analyze-labels', '--output', 'csv'], /^label,values,streams\napp,2,2\n/],
      [['stats', '{app="shop"}'], /^streams {2}chunks {2}entries {2}bytes\n {6}1 +\d+ +3,000 +\S+\n$/],
      [['volume', '{app=~".+"}', '--output', 'csv'], /^app,bytes\n(random|shop),\d+\n(random|shop),\d+\n$/],
      [['volume-range', '{app="shop"}', '--step', '1h', '--output', 'raw'], /^(\d+\n)+$/],
      [
        ['detected-fields', '{app="shop"}'],
        /^field +type +values {2}parser\n(.*\n)*level +string +2 {2}logfmt\n/,
      ],
      [['detected-fields', '{app="shop"}', 'level'], 'info\nwarn\n'],
      [['instant', 'sum(count_over_time({app="shop"}[1h]))'], '{} 3000\n'],
      [['query', 'sum(count_over_time({app="shop"}[1h]))', '--output', 'chart'], /^ *[34]k ┤/],
      [
        ['query', '{app="shop"}', '--limit', '1', '--output', 'table'],
        /^time +line\n\S+Z {2}n=99 level=info é+\n$/,
      ],
      [
        ['query', '{app="shop"} |= "level=info"', '--limit', '1', '--output', 'csv'],
        /^timestamp,labels,line\n/,
      ],
    ];
    const outcomes = await Promise.all(rows.map(([args]) => logboom(args, { env })));
    for (const [i, { code, stdout, stderr }] of outcomes.entries()) {
      const [args, want] = rows[i];
      expect({ args, code, stderr: stderr.replace(/^Common labels: .*\n/, '') }).toEqual({
        args,
        code: 0,
        stderr: '',
      });
      if (typeof want === 'string') expect(stdout).toBe(want);
      else expect(stdout).toMatch(want);
    }
    const nothing = await Promise.all([
      logboom(['labels', 'nope', '--fail-on-empty'], { env }),
      logboom(['query', '{app="nope"}', '--fail-on-empty', '--output', 'csv'], { env }),
      logboom(['query', '{app="shop"}', '--output', 'chart'], { env }),
    ]);
    expect(nothing.map(({ code }) => code)).toEqual([4, 4, 2]);
  });

  test('report refusals of the store', async () => {
    const query = await logboom(['query', '{app='], { env });
    expect(query).toMatchObject({ code: 1, stdout: '' });
    expect(query.stderr).toMatch(/^logboom: 400 Bad Request: parse error at line 1/);
    const stdin = `short\n${'x'.repeat(300_000)}\n`;
    const push = await logboom(['push', '-', '--label', 'app=long'], { env, stdin });
    expect(push).toMatchObject({ code: 1, stdout: '' });
    expect(push.stderr).toMatch(
      /^logboom: lines 1 to 2 were refused: 400 Bad Request: max entry size '262144' bytes/,
    );
  });

  test('the store does not start if its folder cannot be created or its configuration is a folder, and says so', async () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const noFolder = await logboom(['start', '--port', '0', '--data-dir', file], { env });
    expect(noFolder).toMatchObject({ code: 1, stdout: '' });
    expect(noFolder.stderr).toContain(`logboom: cannot create the folder ${file} (EEXIST); choose another`);
    const noFile = await logboom(['start', '--port', '0', '--config', folder], { env });
    expect(noFile).toMatchObject({ code: 1, stdout: '' });
    expect(noFile.stderr).toContain('logboom: the configuration is a folder; name a file with --config');
  });
});

describe('an import', () => {
  test('a repeated import stores nothing twice, and keeps equal lines with equal times', async () => {
    const file = join(folder, 'once.jsonl');
    const first = new Date(Date.now() - 60_000).toISOString();
    const lines = Array.from({ length: 500 }, (_, i) =>
      JSON.stringify({ time: first, level: i % 2 ? 'info' : 'warn', n: i % 50, user: { id: `u${i}` } }),
    );
    const push = ['push', file, '-l', 'app=once', '--label-field', 'level', '--metadata-field', 'user.id'];
    // An import that was interrupted, and then again as a whole, in other batches.
    writeFileSync(file, lines.slice(0, 200).join('\n'));
    await logboom(push, { env });
    writeFileSync(file, `${lines.join('\n')}\n`);
    const pushed = await logboom([...push, '--batch-bytes', '5KB'], { env });
    expect(pushed.stdout).toMatch(
      /\{app="once", filename="once.jsonl"\}: 500 entries, 2 streams, format json\n$/,
    );
    const query = ['query', '{app="once"}', '--limit', '0', '--forward', '--output'];
    const raw = await logboom([...query, 'raw'], { env });
    expect(raw.stdout).toBe(`${lines.join('\n')}\n`);
    const [entry] = (await logboom([...query, 'jsonl'], { env })).stdout.split('\n');
    expect(JSON.parse(entry)).toMatchObject({ labels: { level: 'warn', user_id: 'u0' } });
  });

  test('an import with --dry-run shows ten entries and stores none', async () => {
    const file = join(folder, 'dry.log');
    writeFileSync(
      file,
      Array.from({ length: 20 }, (_, i) => `2026-01-05 10:00:${10 + i} INFO ${i}\n at x\n`).join(''),
    );
    const { code, stdout, stderr } = await logboom(
      ['push', '--dry-run', file, '-l', 'app=dry', '-z', 'UTC'],
      { env },
    );
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'logboom: detected format of dry.log: text (to push the lines unchanged: --format plain)\n',
    });
    expect(stdout).toBe(
      Array.from(
        { length: 10 },
        (_, i) =>
          `2026-01-05T10:00:${10 + i}.000000000Z {app="dry", filename="dry.log"} 2026-01-05 10:00:${10 + i} INFO ${i}\n     at x\n`,
      ).join(''),
    );
    const found = await logboom(
      ['query', '{app="dry"}', '--from', '2026-01-05', '--to', '2026-01-07', '--fail-on-empty'],
      { env },
    );
    expect(found.code).toBe(4);
  });
});
