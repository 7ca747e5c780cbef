/** Bytes that are not UTF-8, from a push to the response. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { compress } from 'snappyjs';
import { PROTOBUF_TYPE, protobufPush } from '../end-to-end/support/push.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';
import { openTail } from '../end-to-end/support/tail-client.ts';

const START_NS = 1_700_000_000_000_000_000n;
const RANGE = { start: `${START_NS}`, end: `${START_NS + 60_000_000_000n}`, direction: 'forward' };
const TENANT = { 'x-scope-orgid': 'acme' };
const CONFIG = `
auth_enabled: true
limits_config:
  reject_old_samples: false
  discover_log_levels: false
  discover_service_name: []
  max_query_length: 0s
`;
/** Replacements of the bytes ff and fe in a line. */
const BYTES = new Map([
  [0x23, 0xff],
  [0x24, 0xfe],
]);

let store: TestStore;

beforeAll(async () => {
  store = await startStore(CONFIG);
  const lines = ['a#b', 'a$b', 'a\ufffdb', '#'];
  const entries = lines.map((line, i) => ({ ns: START_NS + BigInt(i), line }));
  const body = Buffer.from(protobufPush([{ labels: { app: 'd' }, entries }]));
  for (const [at, byte] of body.entries()) body[at] = BYTES.get(byte) ?? byte;
  const { status, text } = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { ...TENANT, 'content-type': PROTOBUF_TYPE },
    body: compress(body),
  });
  if (status !== 204) throw new Error(text);
});

afterAll(async () => {
  await store?.stop();
});

async function ask(query: string, headers: Record<string, string> = {}): Promise<unknown> {
  const path = '/loki/api/v1/query_range';
  const { status, text } = await store.client.send({
    path,
    query: { ...RANGE, query, step: '60' },
    headers: { ...TENANT, ...headers },
  });
  expect([status, text]).toEqual([200, text]);
  return JSON.parse(text).data.result;
}

const stream = (labels: Record<string, string>, ...values: [place: number, line: string][]) => ({
  stream: { app: 'd', ...labels },
  values: values.map(([place, line]) => [`${START_NS + BigInt(place)}`, line]),
});

describe('a log query', () => {
  test('shows an invalid byte of a line as U+FFFD', async () => {
    expect(await ask('{app="d"} |= "\\xff"')).toEqual([stream({}, [0, 'a\ufffdb'], [3, '\ufffd'])]);
    expect(await ask('{app="d"} | line_format "<{{trunc 2 __line__}}>" |= "\\xff"')).toEqual([
      stream({}, [0, '<a\ufffd>'], [3, '<\ufffd>']),
    ]);
  });

  test('shows an invalid byte of a label as U+FFFD, and U+FFFD of a label as a space', async () => {
    const answer = await ask('{app="d"} | regexp "a(?P<x>.)b" |= "b"');
    expect(answer).toEqual(
      expect.arrayContaining([
        stream({ x: '\ufffd' }, [0, 'a\ufffdb']),
        stream({ x: '\ufffd' }, [1, 'a\ufffdb']),
        stream({ x: ' ' }, [2, 'a\ufffdb']),
      ]),
    );
    expect(answer).toHaveLength(3);
    expect(await ask('{app="d"} |= "a\\ufffdb" | pattern "a<x>b"')).toEqual([
      stream({ x: ' ' }, [2, 'a\ufffdb']),
    ]);
    expect(await ask('{app="d"} |= "\\xfe" | label_format x="{{upper __line__}}"')).toEqual([
      stream({ x: 'A B' }, [1, 'a\ufffdb']),
    ]);
  });

  test('leaves U+FFFD of a parsed label unchanged', async () => {
    const flags = { 'x-loki-response-encoding-flags': 'categorize-labels' };
    expect(await ask('{app="d"} |= "a\\ufffdb" | pattern "a<x>b"', flags)).toEqual([
      { stream: { app: 'd' }, values: [[`${START_NS + 2n}`, 'a\ufffdb', { parsed: { x: '\ufffd' } }]] },
    ]);
  });
});

// The reference cannot read label texts with U+FFFD back.
test('a metric query has a series for each value, and none for U+FFFD itself', async () => {
  const answer = await ask('sum by (x) (count_over_time({app="d"} | regexp "a(?P<x>.)b" | x!="" [1m]))');
  const metrics = (answer as { metric: object }[]).map(({ metric }) => metric);
  expect(metrics).toEqual([{ x: '\ufffd' }, { x: '\ufffd' }]);
  expect(
    await ask('sum(bytes_over_time({app="d"} |= "\\xff" | line_format "{{__line__}}" [1m]))'),
  ).toMatchObject([{ values: expect.arrayContaining([expect.arrayContaining(['4'])]) }]);
});

test('detected fields show their values', async () => {
  const path = '/loki/api/v1/detected_field/x/values';
  const query = { ...RANGE, query: '{app="d"} |= "\\xff" | regexp "a(?P<x>.)b"' };
  const { text } = await store.client.send({ path, query, headers: TENANT });
  expect(JSON.parse(text).values).toEqual(['\ufffd']);
});

test('a tail shows an invalid byte as U+FFFD', async () => {
  const query = '{app="d"} |= "\\xff" | regexp "a(?P<x>.)b"';
  const tail = await openTail(store, { query, start: RANGE.start, limit: '10' });
  await tail.atLeast(2);
  expect(tail.frames.flatMap(({ streams }) => streams)).toEqual([
    stream({ x: '\ufffd' }, [0, 'a\ufffdb']),
    stream({}, [3, '\ufffd']),
  ]);
  await tail.close();
});
