/** Commands that users of logcli type, against a store that records its requests. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { commandFirst } from '../../bin/cli/command-first.ts';
import { type RecordingStore, type Reply, startRecordingStore } from './recording-store.ts';
import { refusedBy } from './refused-by.ts';
import { logboom } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-habits-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const stores: RecordingStore[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.stop()));
});

async function store(reply: Reply): Promise<RecordingStore> {
  const started = await startRecordingStore(() => reply);
  stores.push(started);
  return started;
}

const T = 1_767_607_200_000_000_000n; // 2026-01-05T10:00:00Z
const STATS = {
  summary: { totalLinesProcessed: 40, linesProcessedPerSecond: 1, execTime: 0.5, totalEntriesReturned: 2 },
};
const LOGS: Reply = {
  status: 200,
  body: JSON.stringify({
    status: 'success',
    data: {
      resultType: 'streams',
      result: [
        { stream: { app: 'shop', pod: 'a' }, values: [[`${T + 1n}`, 'one']] },
        { stream: { app: 'shop', pod: 'b' }, values: [[`${T}`, 'two']] },
      ],
      stats: STATS,
    },
  }),
};

describe('logboom query as logcli', () => {
  const at = '2026-01-05T10:00:00.000Z';
  test.each<[string[], string[], string]>([
    [[], [`${at} {pod="a"} one`, `${at} {pod="b"} two`], 'Common labels: {app="shop"}\n'],
    [['-q'], [`${at} {pod="a"} one`, `${at} {pod="b"} two`], ''],
    [['--no-labels'], [`${at} one`, `${at} two`], ''],
    [['--include-label', 'app'], [`${at} {app="shop"} one`, `${at} {app="shop"} two`], ''],
    [['--exclude-label', 'pod', '--quiet'], [`${at} {} one`, `${at} {} two`], ''],
    [['--include-common-labels'], [`${at} {app="shop", pod="a"} one`, `${at} {app="shop", pod="b"} two`], ''],
    [['-q', '--labels-length', '12'], [`${at} {pod="a"}    one`, `${at} {pod="b"}    two`], ''],
    [
      ['-q', '-z', 'Asia/Kolkata'],
      ['2026-01-05T15:30:00.000+05:30 {pod="a"} one', '2026-01-05T15:30:00.000+05:30 {pod="b"} two'],
      '',
    ],
    [
      ['-o', 'jsonl', '--exclude-label', 'app', '-z', 'America/New_York'],
      [
        '{"timestamp":"2026-01-05T05:00:00.000000001-05:00","labels":{"pod":"a"},"line":"one"}',
        '{"timestamp":"2026-01-05T05:00:00.000000000-05:00","labels":{"pod":"b"},"line":"two"}',
      ],
      '',
    ],
    [
      ['-o', 'raw', '--stats'],
      ['one', 'two'],
      'requests                                  1\n' +
        'total lines processed                     40\n' +
        'lines processed per second                80\n' +
        'exec time                                 0.500000 s\n' +
        'total entries returned                    2\n',
    ],
  ])('%j', async (args, lines, stderr) => {
    const { url } = await store(LOGS);
    const outcome = await logboom(['query', '{app="shop"}', '--addr', url, ...args]);
    expect(outcome).toEqual({ code: 0, stdout: lines.map(line => `${line}\n`).join(''), stderr });
  });

  test('accepts global flags before the command; --org-id, --forward, --interval and local times reach the store', async () => {
    const { url, requests } = await store(LOGS);
    const range = ['--from', '2026-01-05', '--to', '2026-01-05 12:00', '--timezone', 'Europe/Berlin'];
    const { code, stdout } = await logboom(
      [
        '--addr',
        url,
        '--org-id',
        'acme',
        '-q',
        '-o',
        'raw',
        'query',
        '{a="b"}',
        ...range,
        '--forward',
        '--interval',
        '5s',
      ],
      { env: { TZ: 'America/New_York' } },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'two\none\n' });
    const [{ params, headers }] = requests;
    expect(headers['x-scope-orgid']).toBe('acme');
    expect([params.get('start'), params.get('end'), params.get('direction'), params.get('interval')]).toEqual(
      [`${T - 39_600_000_000_000n}`, `${T + 3_600_000_000_000n}`, 'forward', '5s'],
    );
  });

  test('reads a time without an offset as local', async () => {
    const { url, requests } = await store(LOGS);
    const args = ['query', '{a="b"}', '--addr', url, '--from', '2026-01-05 05:00'];
    await logboom(args, { env: { TZ: 'America/New_York' } });
    await logboom([...args, '-z', 'UTC'], { env: { TZ: 'America/New_York' } });
    expect(requests.map(({ params }) => params.get('start'))).toEqual([`${T}`, `${T - 18_000_000_000_000n}`]);
  });

  test.each([
    ['rfc3339', '2026-01-05T15:30:00+05:30'],
    ['rfc3339nano', '2026-01-05T15:30:00.000000001+05:30'],
    ['rfc822z', '05 Jan 26 15:30 +0530'],
    ['rfc1123z', 'Mon, 05 Jan 2026 15:30:00 +0530'],
    ['stampmilli', 'Jan  5 15:30:00.000'],
    ['stampmicro', 'Jan  5 15:30:00.000000'],
    ['stampnano', 'Jan  5 15:30:00.000000001'],
    ['unixdate', 'Mon Jan  5 15:30:00 GMT+5:30 2026'],
  ])('--output-timestamp-format %s', async (format, time) => {
    const { url } = await store(LOGS);
    const args = ['query', '{a="b"}', '--addr', url, '-q', '--no-labels', '-z', 'Asia/Kolkata'];
    const { code, stdout } = await logboom([...args, '--output-timestamp-format', format]);
    expect({ code, first: stdout.split('\n')[0] }).toEqual({ code: 0, first: `${time} one` });
  });

  test('prints colors in a pipe with --colored-output', async () => {
    const { url } = await store(LOGS);
    const { stdout } = await logboom(['query', '{a="b"}', '--addr', url, '--colored-output']);
    expect(stdout).toContain(`\u001b[34m${at}\u001b[39m`);
  });

  test('repeats a failed query with --retries; sends --nocache and --compress', async () => {
    const started = await startRecordingStore((_, number) =>
      number === 1 ? { status: 503 } : number === 2 ? 'drop' : LOGS,
    );
    stores.push(started);
    const args = ['query', '{a="b"}', '--addr', started.url, '-o', 'raw', '--max-backoff', '0'];
    const { code, stdout } = await logboom([...args, '--retries', '2', '--nocache', '--compress']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'one\ntwo\n' });
    expect(started.requests.length).toBe(3);
    expect(started.requests[2].headers).toMatchObject({
      'cache-control': 'no-cache',
      'accept-encoding': 'gzip',
    });
    const refused = await store({ status: 503, body: 'busy' });
    const outcome = await logboom(['labels', '--addr', refused.url]);
    expect([outcome.code, refused.requests.length]).toEqual([1, 1]);
  });

  test.each([
    ['--parallel-duration=1h', '--part'],
    ['--parallel-max-workers=4', '--parallel'],
    ['--part-path-prefix=/tmp/x', '--parts-dir'],
    ['--merge-parts', 'without --parts-dir'],
    ['--keep-parts', '--parts-dir'],
    ['--overwrite-completed-parts', '_export.jsonl'],
  ])('%s names the command that does it', async (flag, instead) => {
    const { code, stderr } = await logboom(['query', '{a="b"}', flag]);
    expect(code).toBe(2);
    expect(stderr).toContain('logboom export');
    expect(stderr).toContain(instead);
  });

  test('lists names of labels with volume --aggregateByLabels', async () => {
    const series = [
      { metric: { pod: '' }, value: [1767607200, '7'] },
      { metric: { app: '' }, value: [1767607200, '9'] },
    ];
    const { url } = await store({
      status: 200,
      body: JSON.stringify({ data: { resultType: 'vector', result: series } }),
    });
    const { stdout } = await logboom(['volume', '{}', '--aggregateByLabels', '-o', 'csv', '--addr', url]);
    expect(stdout).toBe('label,bytes\napp,9\npod,7\n');
  });

  test('accepts flags of other commands: series --match, volume_range, --targetLabels, instant-query --now', async () => {
    const { url, requests } = await store({
      status: 200,
      body: '{"data":{"resultType":"vector","result":[]}}',
    });
    await logboom(['volume_range', '{a="b"}', '--targetLabels', 'app', '--aggregateByLabels', '--addr', url]);
    await logboom(['instant-query', 'vector(1)', '--now', '2026-01-05T10:00:00Z', '--addr', url]);
    expect(requests.map(({ path }) => path)).toEqual([
      '/loki/api/v1/index/volume_range',
      '/loki/api/v1/query',
    ]);
    expect(requests[0].params.get('targetLabels')).toBe('app');
    expect(requests[0].params.get('aggregateBy')).toBe('labels');
    expect(requests[1].params.get('time')).toBe(`${T}`);
    const listed = await store({ status: 200, body: '{"data":[]}' });
    await logboom(['series', '{a="1"}', '--match', '{b="2"}', '--addr', listed.url]);
    expect(listed.requests[0].params.getAll('match[]')).toEqual(['{a="1"}', '{b="2"}']);
  });

  test('explains refusals that are in the words of Go', async () => {
    const { url } = await store({ status: 400, body: 'strconv.ParseInt: parsing "x": invalid syntax' });
    const { code, stderr } = await logboom(['query', '{a="b"}', '--addr', url]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'logboom: 400 Bad Request: "x" is not a number\n' });
  });

  test('explains https to an http address without words of OpenSSL', async () => {
    const { url } = await store(LOGS);
    const { code, stderr } = await logboom(['labels', '--addr', url.replace('http:', 'https:')]);
    expect(code).toBe(3);
    expect(stderr).toContain('(no TLS at this address; is it http?)');
  });

  test.each([
    [['query', '{a="b"}', '--from', 'x']],
    [['query', '{a="b"}', '--since', 'x']],
    [['query', '{a="b"}', '--step', 'x']],
    [['query', '{a="b"}', '-z', 'Nowhere/City']],
    [['instant', 'vector(1)', '--at', 'x']],
    [['delete', 'create', '{a="b"}', '--from', 'x']],
  ])('refuses %j without internals', async args => {
    const said = await refusedBy(args);
    expect(said).toMatch(/is written like|A time zone is/);
    expect(said).not.toMatch(/strconv|parsing|at .*\.ts/);
  });
});

test('moves options before a command behind it', () => {
  expect(commandFirst(['--help', 'query'])).toEqual(['query', '--help']);
  expect(commandFirst(['-o', 'raw', 'query', '{}'])).toEqual(['query', '-o', 'raw', '{}']);
  for (const args of [['query', '-q'], ['--help'], ['--version'], ['-q'], []])
    expect(commandFirst(args)).toBe(args);
});

describe('a proxy', () => {
  test('is used with --proxy-url and HTTP_PROXY, and not with NO_PROXY or for this machine', async () => {
    const paths: string[] = [];
    const proxy = createServer((request, response) => {
      paths.push(request.url!);
      response.end('{"data":["through the proxy"]}');
    });
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { url, requests } = await store({ status: 200, body: '{"data":["direct"]}' });
    try {
      const elsewhere = ['labels', '--addr', 'http://logs.invalid'];
      const runs = await Promise.all([
        logboom(elsewhere, { env: { LOKI_HTTP_PROXY_URL: proxyUrl } }),
        logboom(elsewhere, { env: { HTTP_PROXY: proxyUrl } }),
        logboom(elsewhere, { env: { HTTP_PROXY: proxyUrl, NO_PROXY: 'logs.invalid' } }),
        logboom(['labels', '--addr', url], { env: { HTTP_PROXY: proxyUrl } }),
      ]);
      expect(runs.map(({ code, stdout }) => [code, stdout])).toEqual([
        [0, 'through the proxy\n'],
        [0, 'through the proxy\n'],
        [3, ''],
        [0, 'direct\n'],
      ]);
      expect(paths.map(path => path.split('?')[0])).toEqual(
        Array(2).fill('http://logs.invalid/loki/api/v1/labels'),
      );
      expect(requests).toHaveLength(1);
    } finally {
      proxy.closeAllConnections();
      await new Promise(resolve => proxy.close(resolve));
    }
  });
});

describe('logboom fmt', () => {
  test.each([
    [['fmt', 'sum by(level)(rate({app="shop"}|json[5m]))'], ''],
    [['fmt'], 'sum by(level)(rate({app="shop"}|json[5m]))\n'],
  ])('%j', async (args, stdin) => {
    const outcome = await logboom(args, { stdin });
    expect(outcome).toEqual({
      code: 0,
      stdout: 'sum by (level)(rate({app="shop"} | json[5m]))\n',
      stderr: '',
    });
  });

  test('says what is wrong with a query', async () => {
    const { code, stdout, stderr } = await logboom(['fmt', '{app=']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^logboom: parse error at line 1, col \d+: [^\n]*\n$/);
  });
});

describe('logboom query --stdin', () => {
  const stdin = '{"level":"error","n":1}\n{"level":"info","n":2}\r\nno json\n{"level":"error","n":4}';
  test.each<[string, string[], string]>([
    ['|= "error"', [], '{"level":"error","n":1}\n{"level":"error","n":4}\n'],
    ['!= "level"', [], 'no json\n'],
    ['{app="shop"} | json | n > 1 | line_format "{{.app}} {{.n}}"', [], 'shop 2\nshop 4\n'],
    ['|= "error"', ['--limit', '1'], '{"level":"error","n":1}\n'],
    ['sum by (level) (count_over_time({app="shop"} | json | __error__="" [1h]))', [], '2\n1\n'],
  ])('%s %j', async (query, args, stdout) => {
    const outcome = await logboom(['--stdin', '-o', 'raw', 'query', query, ...args], { stdin });
    expect({ ...outcome, stdout: outcome.stdout.split('\n').sort() }).toEqual({
      code: 0,
      stdout: stdout.split('\n').sort(),
      stderr: '',
    });
  });

  test('keeps the order of the input over many chunks, and ends at --limit although the input stays open', async () => {
    const lines = Array.from({ length: 30_000 }, (_, i) => `line ${i}`);
    const all = await logboom(['query', '--stdin', '-o', 'raw', '|= "line"'], {
      stdin: `${lines.join('\n')}\n`,
    });
    expect(all.stdout.split('\n').slice(0, -1)).toEqual(lines);
    const first = await logboom(['query', '--stdin', '-o', 'raw', '|= "line"', '--limit', '1'], {
      stdin: { open: 'line a\nline b\n' },
    });
    expect(first).toEqual({ code: 0, stdout: 'line a\n', stderr: '' });
  });

  test.each([
    ['{app=~"a|b"}', 'logboom: with --stdin, the selector defines the one stream'],
    ['| json | |', 'parse error'],
  ])('refuses %s', async (query, message) => {
    const { code, stdout, stderr } = await logboom(['query', '--stdin', query], { stdin });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('logboom context', () => {
  test('sets, uses, overrides, lists, shows and deletes contexts', async () => {
    const { url, requests } = await store({ status: 200, body: '{"data":[]}' });
    const file = join(folder, 'below', 'contexts.json');
    const run = (args: string[], env = {}) => logboom(args, { env: { LOGBOOM_CONTEXTS_FILE: file, ...env } });
    expect(
      (await run(['context', 'set', 'prod', '--addr', url, '--tenant', 'shop', '--password', 'secret'])).code,
    ).toBe(0);
    expect((await run(['context', 'set', 'dev', '--addr', url, '--tenant', 'dev'])).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await run(['context', 'use', 'prod'])).code).toBe(0);
    await run(['labels']);
    await run(['labels', '--context', 'dev']);
    await run(['labels'], { LOGBOOM_CONTEXT: 'dev' });
    await run(['labels', '--tenant', 'option']);
    await run(['labels'], { LOKI_ORG_ID: 'variable' });
    expect(requests.map(({ headers }) => headers['x-scope-orgid'])).toEqual([
      'shop',
      'dev',
      'dev',
      'option',
      'variable',
    ]);
    expect((await run(['context', 'list'])).stdout).toBe(
      `in use  name  addr                     tenant\n        dev   ${url}/   dev\n*       prod  ${url}/   shop\n`
        .replace('addr                     tenant', `addr${' '.repeat(`${url}/`.length - 2)}tenant`)
        .replaceAll('/   ', '/  '),
    );
    expect(JSON.parse((await run(['context', 'show'])).stdout)).toEqual({
      addr: `${url}/`,
      tenant: 'shop',
      password: '(hidden)',
    });
    expect((await run(['context', 'delete', 'prod'])).code).toBe(0);
    expect((await run(['labels', '--context', 'prod'])).stderr).toContain(
      'context prod does not exist (known: dev)',
    );
    expect((await run(['context', 'use', '-'])).code).toBe(0);
    expect((await run(['context', 'use', 'prod'])).code).toBe(1);
    expect((await run(['context', 'set', 'empty'])).code).toBe(2);
  });

  test('names a file that is not a contexts file', async () => {
    const file = join(folder, 'other.json');
    writeFileSync(file, '[]');
    const { code, stderr } = await logboom(['labels'], { env: { LOGBOOM_CONTEXTS_FILE: file } });
    expect(code).toBe(2);
    expect(stderr).toContain(`${file} is not a contexts file`);
  });
});
