import { afterEach, describe, expect, test } from '@jest/globals';
import { type Recorded, type RecordingStore, type Reply, startRecordingStore } from './recording-store.ts';
import { refusedBy } from './refused-by.ts';
import { logboom } from './run-command.ts';

const stores: RecordingStore[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.stop()));
});

async function store(reply: (request: Recorded, number: number) => Reply): Promise<RecordingStore> {
  const started = await startRecordingStore(reply);
  stores.push(started);
  return started;
}

const answer = (resultType: string, result: unknown, more: object = {}): Reply => ({
  status: 200,
  body: JSON.stringify({ status: 'success', data: { resultType, result, stats: {} }, ...more }),
});

const T = 1_767_607_200_000_000_000n; // 2026-01-05T10:00:00Z
const LOGS = answer('streams', [
  {
    stream: { app: 'shop', level: 'info', pod: 'a' },
    values: [
      [`${T + 1_500_000_009n}`, 'newest'],
      [`${T}`, 'oldest'],
    ],
  },
  {
    stream: { app: 'shop', level: 'info', pod: 'b "x"' },
    values: [[`${T + 1_000_000_000n}`, 'tab\tand größe']],
  },
]);
const MATRIX = answer('matrix', [
  {
    metric: { app: 'shop' },
    values: [
      [1_767_607_200, '1.5'],
      [1_767_607_200.25, 'NaN'],
    ],
  },
  { metric: {}, values: [[1_767_607_200, '+Inf']] },
]);

describe('logboom query', () => {
  test.each([
    [
      'default',
      LOGS,
      [
        '2026-01-05T10:00:01.500Z {pod="a"} newest',
        '2026-01-05T10:00:01.000Z {pod="b \\"x\\""} tab\tand größe',
        '2026-01-05T10:00:00.000Z {pod="a"} oldest',
      ],
      'Common labels: {app="shop", level="info"}\n',
    ],
    ['raw', LOGS, ['newest', 'tab\tand größe', 'oldest'], ''],
    [
      'jsonl',
      LOGS,
      [
        '{"timestamp":"2026-01-05T10:00:01.500000009Z","labels":{"app":"shop","level":"info","pod":"a"},"line":"newest"}',
        '{"timestamp":"2026-01-05T10:00:01.000000000Z","labels":{"app":"shop","level":"info","pod":"b \\"x\\""},"line":"tab\\tand größe"}',
        '{"timestamp":"2026-01-05T10:00:00.000000000Z","labels":{"app":"shop","level":"info","pod":"a"},"line":"oldest"}',
      ],
      '',
    ],
    [
      'default',
      MATRIX,
      [
        '2026-01-05T10:00:00.000Z {app="shop"} 1.5',
        '2026-01-05T10:00:00.250Z {app="shop"} NaN',
        '2026-01-05T10:00:00.000Z {} +Inf',
      ],
      '',
    ],
    ['raw', MATRIX, ['1.5', 'NaN', '+Inf'], ''],
    [
      'jsonl',
      MATRIX,
      [
        '{"timestamp":"2026-01-05T10:00:00.000000000Z","labels":{"app":"shop"},"value":"1.5"}',
        '{"timestamp":"2026-01-05T10:00:00.250000000Z","labels":{"app":"shop"},"value":"NaN"}',
        '{"timestamp":"2026-01-05T10:00:00.000000000Z","labels":{},"value":"+Inf"}',
      ],
      '',
    ],
  ])('--output %s', async (output, reply, lines, stderr) => {
    const { url } = await store(() => reply);
    const outcome = await logboom(['query', '{app="shop"}', '--addr', url, '--output', output]);
    expect(outcome).toEqual({ code: 0, stdout: lines.map(line => `${line}\n`).join(''), stderr });
  });

  test('sends the parameters of its options', async () => {
    const recorded = await store(() => answer('streams', []));
    const from = ['--from', '2026-01-05T10:00:00Z', '--to', '1767610800'];
    const args = [
      'query',
      '{a="b"} |= "c&d"',
      ...from,
      '--limit',
      '7',
      '--direction',
      'forward',
      '--step',
      '5m',
    ];
    const { code } = await logboom([...args, '--addr', `${recorded.url}/below/`, '--tenant', 't1']);
    expect(code).toBe(0);
    expect(recorded.requests).toHaveLength(1);
    const [{ method, path, params, headers }] = recorded.requests;
    expect({ method, path, tenant: headers['x-scope-orgid'], ...Object.fromEntries(params) }).toEqual({
      method: 'GET',
      path: '/below/loki/api/v1/query_range',
      tenant: 't1',
      query: '{a="b"} |= "c&d"',
      start: `${T}`,
      end: `${T + 3_600_000_000_000n}`,
      limit: '7',
      direction: 'forward',
      step: '5m',
    });
  });

  test('prints what the store read with --explain', async () => {
    const explain = { pages: { considered: 1200, prunedByText: 1100 }, bytes: { read: 7 }, ranIn: 'query-0' };
    const recorded = await store(() => ({
      status: 200,
      body: JSON.stringify({ status: 'success', data: { resultType: 'streams', result: [], explain } }),
    }));
    const outcome = await logboom(['query', '{a="b"}', '--explain', '--addr', recorded.url]);
    expect(recorded.requests[0].params.get('explain')).toBe('true');
    const stderr =
      'pages        considered 1,200, pruned by text 1,100\nbytes        read 7\nran in       query-0\n';
    expect(outcome).toEqual({ code: 0, stdout: '', stderr });

    const silent = await store(() => answer('streams', []));
    const { stderr: said } = await logboom(['query', '{a="b"}', '--explain', '--addr', silent.url]);
    expect(said).toBe('the store sent no explanation; only Logboom explains queries, so check --addr\n');
  });

  test('looks back an hour from now, or as long as --since says from --to', async () => {
    const recorded = await store(() => answer('streams', []));
    const before = BigInt(Date.now()) * 1_000_000n;
    await logboom(['query', '{a="b"}'], { env: { LOGBOOM_ADDR: recorded.url } });
    await logboom(['query', '{a="b"}', '--addr', recorded.url, '--since', '1d12h', '--to', `${T}`]);
    const [first, second] = recorded.requests.map(({ params }) => ({
      start: BigInt(params.get('start')!),
      end: BigInt(params.get('end')!),
    }));
    expect(first.end >= before && first.end <= BigInt(Date.now()) * 1_000_000n).toBe(true);
    expect(first.end - first.start).toBe(3_600_000_000_000n);
    expect(second).toEqual({ start: T - 36n * 3_600_000_000_000n, end: T });
  });

  test('sends a long query as a form', async () => {
    const recorded = await store(() => answer('streams', []));
    const query = `{a="b"} |= "${'x'.repeat(3000)}ü&"`;
    const { code } = await logboom(['query', query, '--addr', recorded.url]);
    expect(code).toBe(0);
    const [{ method, params, headers }] = recorded.requests;
    expect({ method, type: headers['content-type'] }).toEqual({
      method: 'POST',
      type: 'application/x-www-form-urlencoded',
    });
    expect(params.get('query')).toBe(query);
  });

  test('pages, and shows where a later page lacks a common label', async () => {
    const pages = [
      answer('streams', [
        {
          stream: { a: '1', b: '1' },
          values: [
            [`${T}`, 'x'],
            [`${T - 1n}`, 'y'],
          ],
        },
      ]),
      answer('streams', [
        { stream: { a: '1', b: '1' }, values: [[`${T - 1n}`, 'y']] },
        { stream: { a: '2' }, values: [[`${T - 2n}`, 'z']] },
      ]),
    ];
    const recorded = await store((_, number) => pages[number - 1]);
    const args = ['query', '{a=~".+"}', '--addr', recorded.url, '--batch', '2', '--limit', '3'];
    const outcome = await logboom(args);
    expect(outcome).toEqual({
      code: 0,
      stdout:
        '2026-01-05T10:00:00.000Z {} x\n' +
        '2026-01-05T09:59:59.999Z {} y\n' +
        '2026-01-05T09:59:59.999Z {a="2", b=""} z\n',
      stderr: 'Common labels: {a="1", b="1"}\n',
    });
    expect(recorded.requests.map(({ params }) => [params.get('limit'), params.get('end')]).slice(1)).toEqual([
      ['2', `${T}`],
    ]);
  });

  test('prints colors only if requested, and none in a pipe', async () => {
    const { url } = await store(() => LOGS);
    const color = '\u001b[';
    const plain = await logboom(['query', '{a="b"}', '--addr', url]);
    expect(plain.stdout + plain.stderr).not.toContain(color);
    const forced = await logboom(['query', '{a="b"}', '--addr', url], { env: { FORCE_COLOR: '1' } });
    expect(forced.stdout).toContain(color);
    const refused = await logboom(['query', '{a="b"}', '--addr', url], { env: { NO_COLOR: '1' } });
    expect(refused.stdout).toBe(plain.stdout);
  });

  test('passes on warnings of the store', async () => {
    const { url } = await store(() => answer('matrix', [], { warnings: ['only a part'] }));
    const outcome = await logboom(['query', 'vector(1)', '--addr', url]);
    expect(outcome).toEqual({
      code: 0,
      stdout: '',
      stderr: 'logboom: warning from the store: only a part\n',
    });
  });

  test.each([
    [
      { status: 400, body: 'parse error at line 1, col 1: x' },
      '400 Bad Request: parse error at line 1, col 1: x',
    ],
    [{ status: 500, body: '' }, '500 Internal Server Error'],
    [
      { status: 200, body: '<html>' },
      'unexpected response, not JSON; check that --addr points to a Logboom or Loki server. It begins: <html>',
    ],
    [
      { status: 200, body: 'null' },
      'the response is not a query result; check that --addr points to a Logboom or Loki server',
    ],
    [
      answer('streams', [{ stream: {}, values: [['x', 'y']] }]),
      'unexpected response; check that --addr points to a Logboom or Loki server: ',
    ],
    [
      answer('graph', []),
      'unexpected result type graph; check that --addr points to a Logboom or Loki server',
    ],
  ])('ends with exit code 1 and a message: %j', async (reply, message) => {
    const { url } = await store(() => reply);
    const { code, stdout, stderr } = await logboom(['query', '{', '--addr', url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`logboom: ${message}`);
  });

  test('says how to start a store that cannot be reached', async () => {
    const gone = await store(() => LOGS);
    await stores.pop()?.stop();
    const { code, stdout, stderr } = await logboom(['query', '{a="b"}', '--addr', gone.url]);
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: '',
      stderr:
        `logboom: cannot reach the store at ${gone.url} (connection refused); start it with "npm start" or ` +
        '"logboom start", or set --addr or LOGBOOM_ADDR\n',
    });
  });

  test.each([
    [['--since', '1 hour'], 'A duration is written like'],
    [['--from', 'yesterday'], 'A time is written like'],
    [['--from', '10', '--since', '1h'], 'cannot be used with'],
    [['--limit', '-1'], 'Expected a whole number from 0'],
    [['--batch', '0'], 'Expected a whole number from 1'],
    [['--direction', 'up'], 'Allowed choices are forward, backward'],
    [['--output', 'xml'], 'Allowed choices are default, raw, jsonl'],
    [['--instant', '--step', '1m'], 'cannot be used with'],
  ])('refuses %j with a message', async (args, message) => {
    expect(await refusedBy(['query', '{a="b"}', ...args])).toContain(message);
  });

  test('treats a range that ends before it starts as a usage error', async () => {
    const outcome = await logboom(['query', '{a="b"}', '--from', '20', '--to', '10']);
    const stderr = 'logboom: the end of the range is before its start\n';
    expect(outcome).toEqual({ code: 2, stdout: '', stderr });
  });
});
