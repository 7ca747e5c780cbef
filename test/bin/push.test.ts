import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { addLabel, parseBatchBytes, streamLabels, summary } from '../../bin/commands/push.ts';
import { type Recorded, type RecordingStore, type Reply, startRecordingStore } from './recording-store.ts';
import { refusedBy } from './refused-by.ts';
import { logboom } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-push-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stores: RecordingStore[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.stop()));
});

async function store(reply: (request: Recorded, number: number) => Reply | 'drop' = () => ({ status: 204 })) {
  const started = await startRecordingStore(reply);
  stores.push(started);
  return started;
}

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

interface Pushed {
  readonly streams: readonly { readonly stream: object; readonly values: readonly [string, string][] }[];
}

/** Pushes in the order of their timestamps, because several may be in flight. */
const pushesOf = ({ requests }: RecordingStore) =>
  requests
    .map(({ body }) => JSON.parse(body) as Pushed)
    .sort((a, b) => Number(BigInt(a.streams[0].values[0][0]) - BigInt(b.streams[0].values[0][0])));
const entriesOf = (recorded: RecordingStore) =>
  pushesOf(recorded).flatMap(({ streams }) => streams[0].values);
const linesOf = (recorded: RecordingStore) => entriesOf(recorded).map(([, line]) => line);

describe('logboom push', () => {
  test('sends each line as an entry with a later timestamp, also equal lines', async () => {
    const recorded = await store();
    const path = file('app.log', 'first\nsame\r\nsame\n\nlast "quoted" größe\twithout end');
    const before = BigInt(Date.now()) * 1_000_000n;
    const args = [
      'push',
      path,
      '--label',
      'app=shop',
      '-l',
      'env=a=b',
      '--addr',
      recorded.url,
      '--tenant',
      'acme',
    ];
    const { code, stdout, stderr } = await logboom(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^pushed 5 lines, 51 bytes in [\d.]+ s \([^)]+\/s\) as \{app="shop", env="a=b", filename="app.log"\}\n$/,
    );
    expect(recorded.requests).toHaveLength(1);
    const { method, path: pushPath, headers } = recorded.requests[0];
    expect({ method, pushPath }).toEqual({ method: 'POST', pushPath: '/loki/api/v1/push' });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'x-scope-orgid': 'acme',
    });
    expect(pushesOf(recorded)[0].streams.map(({ stream }) => stream)).toEqual([
      { filename: 'app.log', app: 'shop', env: 'a=b' },
    ]);
    expect(linesOf(recorded)).toEqual(['first', 'same', 'same', '', 'last "quoted" größe\twithout end']);
    const times = entriesOf(recorded).map(([time]) => BigInt(time));
    for (let i = 1; i < times.length; i++) expect(times[i] > times[i - 1]).toBe(true);
    expect(times[0] >= before && times[4] <= BigInt(Date.now()) * 1_000_000n + 5n).toBe(true);
  });

  test('keeps the order over many batches, with increasing timestamps, and loses no line', async () => {
    const recorded = await store();
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i % 10} ${'x'.repeat(i % 97)}`);
    const path = file('many.log', `${lines.join('\n')}\n`);
    const { code } = await logboom(['push', path, '--addr', recorded.url, '--batch-bytes', '100KB']);
    expect(code).toBe(0);
    expect(recorded.requests.length).toBeGreaterThan(10);
    for (const { body } of recorded.requests) expect(body.length).toBeLessThan(105_000);
    expect(linesOf(recorded)).toEqual(lines);
    const times = entriesOf(recorded).map(([time]) => BigInt(time));
    for (let i = 1; i < times.length; i++) expect(times[i] > times[i - 1]).toBe(true);
  });

  test('sends lines of any length unchanged', async () => {
    const recorded = await store();
    const long = 'ü'.repeat(400_000);
    const { code } = await logboom(['push', file('long.log', `a\n${long}\nb`), '--addr', recorded.url]);
    expect(code).toBe(0);
    expect(linesOf(recorded)).toEqual(['a', long, 'b']);
  });

  test('sends no request for an empty file', async () => {
    const recorded = await store();
    const { code, stdout } = await logboom(['push', file('empty.log', ''), '--addr', recorded.url]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pushed 0 lines, 0 bytes /);
    expect(recorded.requests).toHaveLength(0);
  });

  test('reads standard input, which needs a label, with address and tenant of the environment', async () => {
    const recorded = await store();
    const env = { LOGBOOM_ADDR: recorded.url, LOGBOOM_TENANT: 'env-tenant' };
    const { code } = await logboom(['push', '-', '--label', 'job=x'], { env, stdin: 'one\ntwo\n' });
    expect(code).toBe(0);
    expect(pushesOf(recorded)[0].streams[0]).toMatchObject({ stream: { job: 'x' } });
    expect(linesOf(recorded)).toEqual(['one', 'two']);
    expect(recorded.requests[0].headers['x-scope-orgid']).toBe('env-tenant');

    const without = await logboom(['push', '-'], { env, stdin: 'one\n' });
    expect(without).toMatchObject({ code: 2, stdout: '' });
    expect(without.stderr).toContain('at least one label');
    expect(recorded.requests).toHaveLength(1);
  });

  test('repeats temporary failures with the same body', async () => {
    const replies: (Reply | 'drop')[] = [{ status: 429, body: 'slow down\n' }, 'drop', { status: 204 }];
    const recorded = await store((_, number) => replies[number - 1]);
    const { code, stdout, stderr } = await logboom(['push', file('r.log', 'a\nb\n'), '--addr', recorded.url]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pushed 2 lines, /);
    expect(stderr).toContain('429 Too Many Requests: slow down; retrying in 0.25 s (attempt 1 of 9)');
    expect(stderr).toContain('connection closed');
    expect(recorded.requests).toHaveLength(3);
    expect(new Set(recorded.requests.map(({ body }) => body)).size).toBe(1);
  });

  test.each([
    [
      400,
      "max entry size '262144' bytes exceeded\n",
      "400 Bad Request: max entry size '262144' bytes exceeded",
    ],
    [401, 'no org id\n', '401 Unauthorized: no org id'],
    [413, '', '413 Payload Too Large'],
    [
      400,
      'maximum active stream limit exceeded when trying to create stream {a="b"}\n',
      '400 Bad Request: maximum active stream limit exceeded when trying to create stream {a="b"} (to raise this limit, set limits_config.max_global_streams_per_user)',
    ],
    [260, 'ingestion blocked', '260 unknown: ingestion blocked'],
    [301, '', '301 Moved Permanently'],
  ])('ends with exit code 1 and the message of the store at status %i', async (status, body, shown) => {
    const recorded = await store(request =>
      request.body.includes('"a"') ? { status: 204 } : { status, body },
    );
    const path = file('refused.log', 'a\nb\nc\nd\n');
    const outcome = await logboom(['push', path, '--addr', recorded.url, '--batch-bytes', '50']);
    expect(outcome).toEqual({
      code: 1,
      stdout: '',
      stderr: `logboom: lines 1 to 2 are stored, lines 3 to 4 were refused: ${shown}\n`,
    });
    expect(recorded.requests).toHaveLength(2);
  });

  test('continues after a refusal with --skip-refused, also in other files, and ends with exit code 1', async () => {
    const recorded = await store(request =>
      request.body.includes('"b"') ? { status: 400, body: 'too long' } : { status: 204 },
    );
    const paths = [file('part-refused.log', 'a\nb\nc\n'), file('next.log', 'd\n')];
    const args = ['push', ...paths, '--addr', recorded.url, '--batch-bytes', '1', '--skip-refused'];
    const { code, stdout, stderr } = await logboom(args);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'logboom: line 2 was refused in whole or in part: 400 Bad Request: too long\n',
    });
    expect(stdout).toMatch(/^pushed 2 lines, .*\npushed 1 line, .*\n$/);
    expect(recorded.requests).toHaveLength(4);
  });

  test('ends at a refusal although standard input stays open', async () => {
    const recorded = await store(() => ({ status: 400, body: 'no\n' }));
    const args = ['push', '-', '--label', 'a=b', '--addr', recorded.url];
    const { code, stderr } = await logboom(args, { stdin: { open: 'a line\n' } });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'logboom: line 1 was refused: 400 Bad Request: no\n',
    });
  });

  test('reports lines that do not have the format, and needs a format for fields', async () => {
    const recorded = await store();
    const text = '{"ts":1767607200,"a":1}\nno object\n{"ts":1767607201}\n';
    const args = ['--addr', recorded.url, '--format', 'json'];
    const { stderr } = await logboom(['push', file('some.json', text), ...args]);
    expect(stderr).toBe(
      'logboom: entries of some.json that do not match the format json: 1\nlogboom: entries of some.json without a timestamp (set by --time-fallback previous): 1\n',
    );
    expect(entriesOf(recorded).map(([ns]) => ns)).toEqual([
      '1767607200000000000',
      '1767607200000000001',
      '1767607201000000000',
    ]);
    const plain = ['push', file('plain.log', 'a\n'), '--label-field', 'level', '--addr', recorded.url];
    const refused = await logboom(plain);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('set --format');
    expect(recorded.requests).toHaveLength(1);
  });

  test('says how to store lines that are too old', async () => {
    const recorded = await store(() => ({
      status: 400,
      body: "entry for stream '{}' has timestamp too old: x",
    }));
    const args = ['push', '-', '-l', 'a=b', '--format', 'text', '--addr', recorded.url];
    const { code, stderr } = await logboom(args, { stdin: '2020-01-05T10:00:00Z x\n' });
    expect(code).toBe(1);
    expect(stderr).toContain('or push with --format plain');
  });

  test.each([
    [['no-such-file'], 'file not found: no-such-file'],
    [['no-*-such-file'], 'no file matches no-*-such-file'],
  ])('reports that %j cannot be read', async (args, message) => {
    const { code, stdout, stderr } = await logboom(['push', ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  test.each([
    [['x.log', '--label', 'app'], 'name=value'],
    [['x.log', '--label', '1a=b'], '"1a" is invalid'],
    [['x.log', '--label', 'a='], 'Label a has no value'],
    [['x.log', '--label', 'a=1', '--label', 'a=2'], 'Label a is given twice'],
    [['x.log', '--batch-bytes', '0'], 'A size is 1 to'],
    [['x.log', '--addr', 'ftp://x'], 'An address looks like'],
    [['x.log', '--format', 'yaml'], 'Allowed choices are auto, cri'],
    [['x.log', '--time-format', '%Q'], 'Unknown directive %Q'],
    [['x.log', '--label-field', '='], 'A field is written'],
    [['x.log', '--label-field', '1a=b'], '"1a" is invalid'],
    [['x.log', '--csv-columns', 'a,a'], 'distinct names'],
    [['x.log', '--multiline', '('], 'regular expression'],
    [[], "missing required argument 'files'"],
  ])('refuses %j with a message', async (args, message) => {
    expect(await refusedBy(['push', ...args])).toContain(message);
  });
});

describe('parts of push', () => {
  test('a stream has the labels given, or the name of its file', () => {
    expect(streamLabels('/var/log/app.log', {})).toEqual({ filename: 'app.log' });
    expect(streamLabels('app.log', { filename: 'mine' })).toEqual({ filename: 'mine' });
    expect(streamLabels('-', { a: 'b' })).toEqual({ a: 'b' });
    expect(addLabel('a=1', addLabel('b==', {}))).toEqual({ a: '1', b: '=' });
    expect(JSON.stringify(addLabel('__proto__=x', {}))).toBe('{"__proto__":"x"}');
  });

  test('reads sizes of batches, and refuses others', () => {
    expect(['1', '500KB', '2MiB'].map(parseBatchBytes)).toEqual([1, 500_000, 2_097_152]);
    for (const bad of ['', '-1', '0', '1GB', 'x'])
      expect(() => parseBatchBytes(bad)).toThrow('A size is 1 to');
  });

  test('the summary has lines, bytes, time and rate', () => {
    expect(summary({ lines: 1, bytes: 10, seconds: 0.5 })).toBe('pushed 1 line, 10 bytes in 0.50 s (20B/s)');
    expect(summary({ lines: 0, bytes: 0, seconds: 0 })).toBe('pushed 0 lines, 0 bytes in 0.00 s (0B/s)');
  });
});
