import { afterEach, describe, expect, test } from '@jest/globals';
import { type DeleteProgress, watchDelete } from '../../bin/cli/delete-client.ts';
import { deleteProgressText } from '../../bin/cli/delete-text.ts';
import { type Recorded, type RecordingStore, type Reply, startRecordingStore } from './recording-store.ts';
import { refusedBy } from './refused-by.ts';
import { logboom } from './run-command.ts';

const stores: RecordingStore[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.stop()));
});

async function store(reply: (request: Recorded, number: number) => Reply | 'drop'): Promise<RecordingStore> {
  const started = await startRecordingStore(reply);
  stores.push(started);
  return started;
}

const T = 1_767_607_200; // 2026-01-05T10:00:00Z
const WAITING: DeleteProgress = {
  request_id: '5a3c1b2d',
  status: 'received',
  parts: 4,
  parts_done: 0,
  bytes_done: 0,
  bytes_total: 0,
  picked_up_at: null,
  processed_at: null,
};
const WORKING: DeleteProgress = {
  ...WAITING,
  status: '25% Complete',
  parts_done: 1,
  bytes_done: 1_500_000,
  bytes_total: 6_000_000,
  picked_up_at: T,
};
const DONE: DeleteProgress = { ...WORKING, status: 'processed', parts_done: 4, processed_at: T + 0.25 };
const ok = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body) });

describe('logboom delete create', () => {
  const made: Reply = { status: 204, headers: { 'X-Delete-Request-ID': '5a3c1b2d' } };

  test('sends the request in the URL, and prints only the ID', async () => {
    const { url, requests } = await store(() => made);
    const query = '{app="é"} |= "a&b"';
    const options = ['--to', `${T}`, '--max-interval', '1h', '--tenant', 'acme', '--addr', `${url}/below`];
    const outcome = await logboom([
      'delete',
      'create',
      query,
      '--from',
      '2026-01-05T09:00:00.5Z',
      ...options,
    ]);
    expect(outcome).toEqual({
      code: 0,
      stdout: '5a3c1b2d\n',
      stderr: 'entries are hidden from queries; to follow their deletion: logboom delete watch 5a3c1b2d\n',
    });
    expect(requests).toHaveLength(1);
    const [{ method, path, params, headers, body }] = requests;
    expect([method, path, body, headers['x-scope-orgid']]).toEqual([
      'POST',
      '/below/loki/api/v1/delete',
      '',
      'acme',
    ]);
    expect(Object.fromEntries(params)).toEqual({
      query,
      start: '2026-01-05T09:00:00.500000000Z',
      end: '2026-01-05T10:00:00.000000000Z',
      max_interval: '1h',
    });
  });

  test('sends only the given parameters', async () => {
    const { url, requests } = await store(() => made);
    await logboom(['delete', 'create', '{app="x"}', '--from', '0'], { env: { LOGBOOM_ADDR: url } });
    expect([...requests[0].params.keys()]).toEqual(['query', 'start']);
  });

  test.each<[string, string[], RegExp]>([
    ['no start', ['{app="x"}'], /required option '--from <time>' not specified/],
    ['a start that is no time', ['{app="x"}', '--from', 'yesterday'], /A time is written like/],
    ['no query', ['--from', '0'], /missing required argument 'query'/],
  ])('refuses %s before it sends a request', async (_, args, message) => {
    expect(await refusedBy(['delete', 'create', ...args])).toMatch(message);
  });

  test.each<[Reply, string]>([
    [{ status: 400, body: 'start time not set\n' }, '400 Bad Request: start time not set'],
    [
      { status: 403, body: 'deletion is not available for this tenant\n' },
      '403 Forbidden: deletion is not available for this tenant',
    ],
    [{ status: 204 }, 'the store accepted the request without returning its ID; run logboom delete list'],
  ])('%j', async (reply, message) => {
    const { url } = await store(() => reply);
    const outcome = await logboom(['delete', 'create', '{app="x"}', '--from', '0', '--addr', url]);
    expect(outcome).toEqual({ code: 1, stdout: '', stderr: `logboom: ${message}\n` });
  });
});

describe('logboom delete list', () => {
  const listed = {
    request_id: '5a3c1b2d',
    start_time: T,
    end_time: T + 0.5,
    query: '{app="x"} |= "y"',
    status: '33% Complete',
    created_at: T + 9,
    user_id: '',
  };
  const other = { ...listed, request_id: '00000001', status: 'received' };

  test.each([
    [
      'default',
      '5a3c1b2d  33% Complete   2026-01-05T10:00:00.000Z to 2026-01-05T10:00:00.500Z  {app="x"} |= "y"\n' +
        '00000001  received       2026-01-05T10:00:00.000Z to 2026-01-05T10:00:00.500Z  {app="x"} |= "y"\n',
    ],
    ['jsonl', `${JSON.stringify(listed)}\n${JSON.stringify(other)}\n`],
  ])('--output %s', async (output, want) => {
    const { url, requests } = await store(() => ok([listed, other]));
    const outcome = await logboom(['delete', 'list', '--output', output, '--addr', url]);
    expect(outcome).toEqual({ code: 0, stdout: want, stderr: '' });
    expect(requests.map(({ method, path }) => [method, path])).toEqual([['GET', '/loki/api/v1/delete']]);
  });

  test.each([
    ['null', 0, ''],
    ['[]', 0, ''],
    ['{}', 1, 'logboom: unexpected response; check that --addr points to a Logboom or Loki server\n'],
    ['<html>', 1, 'logboom: unexpected response; check that --addr points to a Logboom or Loki server\n'],
  ])('handles a response of %s', async (body, code, stderr) => {
    const { url } = await store(() => ({ status: 200, body }));
    expect(await logboom(['delete', 'list', '--addr', url])).toEqual({ code, stdout: '', stderr });
  });
});

describe('logboom delete cancel', () => {
  test.each([
    [[], { request_id: '5a3c1b2d' }],
    [['--force'], { request_id: '5a3c1b2d', force: 'true' }],
  ])('%j', async (flags, want) => {
    const { url, requests } = await store(() => ({ status: 204 }));
    const outcome = await logboom(['delete', 'cancel', '5a3c1b2d', ...flags, '--addr', url]);
    expect(outcome).toEqual({ code: 0, stdout: '5a3c1b2d  canceled\n', stderr: '' });
    expect(requests.map(({ method, params }) => [method, Object.fromEntries(params)])).toEqual([
      ['DELETE', want],
    ]);
  });

  test('reports refusals of the store', async () => {
    const { url } = await store(() => ({
      status: 404,
      body: 'could not find delete request with given id\n',
    }));
    const outcome = await logboom(['delete', 'cancel', 'x', '--addr', url]);
    expect(outcome).toMatchObject({
      code: 1,
      stderr: 'logboom: 404 Not Found: could not find delete request with given id\n',
    });
  });
});

describe('logboom delete watch', () => {
  const watch = (url: string) =>
    logboom(['delete', 'watch', '5a3c1b2d', '--interval', '100ms', '--addr', url]);

  test('prints every change until the request is processed', async () => {
    const replies: (Reply | 'drop')[] = [
      ok([WAITING]),
      ok([WAITING]),
      'drop',
      { status: 503 },
      ok([{ ...WAITING, request_id: '00000001' }, WORKING]),
      ok([DONE]),
    ];
    const { url, requests } = await store((_, number) => replies[number - 1]);
    expect(await watch(url)).toEqual({
      code: 0,
      stdout:
        '5a3c1b2d  received: its entries are hidden, none is deleted yet\n' +
        '5a3c1b2d  deleting: 1 of 4 parts, 1.5MB of 6.0MB processed\n' +
        '5a3c1b2d  processed at 2026-01-05T10:00:00.250Z\n',
      stderr: '',
    });
    expect(requests).toHaveLength(replies.length);
    expect(requests[0].path).toBe('/loki/api/v1/status/deletes');
  });

  test('ends if the request no longer exists, or the store refuses', async () => {
    const { url } = await store((_, number) => ok(number === 1 ? [WAITING] : []));
    expect(await watch(url)).toMatchObject({
      code: 1,
      stderr:
        'logboom: delete request 5a3c1b2d does not exist, or it was canceled; run logboom delete list\n',
    });
    const refusing = await store(() => ({ status: 403, body: 'no\n' }));
    expect(await watch(refusing.url)).toMatchObject({ code: 1, stderr: 'logboom: 403 Forbidden: no\n' });
  });

  test.each<[string, Reply | 'drop']>([
    ['does not answer', 'drop'],
    ['cannot answer', { status: 500 }],
  ])('gives up on a store that %s, and restarts the count after a response', async (_, failure) => {
    const { url, requests } = await store((_, number) => (number === 5 ? ok([WORKING]) : failure));
    const seen: DeleteProgress[] = [];
    const watching = async () => {
      const flags = { addr: new URL(url) };
      for await (const progress of watchDelete(flags, '5a3c1b2d', async () => {})) seen.push(progress);
    };
    await expect(watching()).rejects.toThrow(failure === 'drop' ? /^cannot reach the store/ : /^500/);
    expect(seen).toEqual([WORKING]);
    expect(requests).toHaveLength(10);
  });

  test.each(['99ms', '2h', 'x', '5'])('refuses an interval of %s', async interval => {
    expect(await refusedBy(['delete', 'watch', 'x', '--interval', interval])).toMatch(
      /A duration from 100ms to 1h/,
    );
  });

  test('shows no parts if there is one', () => {
    expect(deleteProgressText({ ...WORKING, parts: 1 })).toMatch(/1 of 1 part, /);
  });
});
