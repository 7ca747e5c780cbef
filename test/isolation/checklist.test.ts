/**
 * The checklist of docs/dev/security-review.md, as far as no other folder tests it: each input of each
 * endpoint with its possible mistakes. No hostile input causes a defect (500, or a log line), a late
 * response, access to a prototype, or a change for other tenants.
 */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { pushBody, requestsOf } from './calls.ts';
import { NOW_MS, type Shown, startWorld, type World } from './world.ts';

const TENANT = 'x';
const JSON_TYPE = 'application/json';
/** The reference's, with a status of 500. */
const RULER = /"errorType":"server_error"/;
const RANGE = { start: `${NOW_MS / 1000 - 3600}`, end: `${NOW_MS / 1000 + 60}` };

let world: World;
beforeAll(async () => {
  world = startWorld();
  const { status } = await send('POST', '/loki/api/v1/push', { body: pushBody('word') });
  expect(status).toBe(204);
});
afterEach(() => {
  expect(world.logged).toEqual([]);
  // Nothing was added to the prototype of all objects.
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

interface Given {
  readonly body?: string | Uint8Array;
  readonly params?: Readonly<Record<string, string>>;
  readonly rawQuery?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(
  method: string,
  path: string,
  { body = '', params = {}, rawQuery, headers }: Given,
): Promise<Shown> {
  return world.send(method, path, {
    headers: { 'x-scope-orgid': TENANT, 'content-type': JSON_TYPE, ...headers },
    rawQuery: rawQuery ?? new URLSearchParams(params).toString(),
    body: Buffer.from(body as Uint8Array),
  });
}

/** Refused or taken, but no defect. */
function expectHandled({ status, text }: Shown): void {
  expect([status, text.slice(0, 300), status < 500 || RULER.test(text)]).toEqual([
    status,
    text.slice(0, 300),
    true,
  ]);
}

const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
const POLLUTING = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';

describe('bodies of pushes', () => {
  const NAMED_RECEIVERS: readonly (readonly [
    path: string,
    wrap: (value: string) => string,
    headers?: Record<string, string>,
  ])[] = [
    [
      '/loki/api/v1/push',
      value => `{"streams":[{"stream":{"app":"a"},"values":[["1","x"]],"more":${value}}]}`,
    ],
    ['/loki/api/v1/push', value => `{"streams":[{"stream":${value},"values":[]}]}`],
    ['/otlp/v1/logs', value => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${value}}]}]}]}`],
    [
      '/otlp/v1/logs',
      value => `{"resourceLogs":[{"resource":{"attributes":[{"key":"k","value":${value}}]}}]}`,
    ],
    ['/_bulk', value => `{"create":{}}\n{"message":"x","more":${value}}\n`],
    ['/_bulk', value => `{"create":${value}}\n{"message":"x"}\n`],
    ['/loki/api/v1/push/jsonline', value => `{"_msg":"x","more":${value}}\n`],
    [
      '/aws/firehose',
      value => `{"requestId":"r","timestamp":1,"records":[{"data":"eA==","more":${value}}]}`,
      { 'x-amz-firehose-request-id': 'r' },
    ],
    [
      '/aws/firehose',
      () => '{"requestId":"r","timestamp":1,"records":[]}',
      { 'x-amz-firehose-common-attributes': POLLUTING },
    ],
  ];
  const VALUES = [
    ['deep lists', deep('[', ']', 20_000)],
    ['deep objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
    ['no end', '['.repeat(20_000)],
    ['prototypes', POLLUTING],
    ['half a surrogate', '"\\ud800"'],
    ['NUL', '"\\u0000"'],
    ['a number without end', '9'.repeat(10_000)],
    ['a great exponent', '1e999999'],
    ['many keys', `{${Array.from({ length: 2000 }, (_, i) => `"k${i}":1`).join()}}`],
  ] as const;

  test.each(
    NAMED_RECEIVERS.map(([path, wrap, headers], i) => [`${i} ${path}`, path, wrap, headers] as const),
  )('%s', async (_, path, wrap, headers) => {
    for (const [, value] of VALUES) expectHandled(await send('POST', path, { body: wrap(value), headers }));
    // Text that is not UTF-8, a body that is wrongly declared as gzip, and a truncated one.
    for (const body of [Buffer.from('\xff\xfe\x80', 'latin1'), Buffer.from(wrap('"\xff"'), 'latin1')]) {
      expectHandled(await send('POST', path, { body, headers }));
    }
    const packed = gzipSync(wrap('1'));
    for (const body of [packed.subarray(0, 15), Buffer.from('plain'), packed]) {
      expectHandled(await send('POST', path, { body, headers: { ...headers, 'content-encoding': 'gzip' } }));
    }
  });

  test('a gzip bomb ends at its bound', async () => {
    const most = 512 * 1024;
    const small = startWorld({ distributor: { maxRecvMsgSize: most, maxDecompressedSize: most } });
    const body = gzipSync(Buffer.alloc(8 * most, 0x20));
    for (const path of new Set(NAMED_RECEIVERS.map(([one]) => one))) {
      const headers = {
        'x-scope-orgid': TENANT,
        'content-type': JSON_TYPE,
        'content-encoding': 'gzip',
        'x-amz-firehose-request-id': 'r',
      };
      const { status } = await small.send('POST', path, { headers, body });
      expect([path, status === 400 || status === 413]).toEqual([path, true]);
    }
  });
});

describe('queries', () => {
  const QUERIES = [
    ['size', `{app="${'x'.repeat(131_073)}"}`],
    ['depth', `${'('.repeat(10_000)}1`],
    ['depth of aggregations', `${'sum('.repeat(10_000)}1`],
    ['depth of filters', `{app="a"} | ${'('.repeat(10_000)}a="b"`],
    ['NUL', '{app="a\0"}'],
    ['half a surrogate', '{app="\ud800"}'],
    ['an expression that backtracks', '{app=~"(a+)+$"} |~ "(x+x+)+y" |~ "(a|a)*b" !~ "(.*)*c"'],
    ['an expression with large repetitions', '{app="a"} |~ "((a{1,100}){1,100}){1,100}"'],
    ['a broken expression', '{app=~"("}'],
    [
      'template that calls itself',
      '{app="a"} | line_format `{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`',
    ],
    ['template that grows', '{app="a"} | line_format `{{ repeat 1000000000 "x" }}`'],
    [
      'template that looks around',
      '{app="a"} | line_format `{{ .constructor }}{{ .__proto__ }}{{ env "HOME" }}{{ include "/etc/passwd" }}`',
    ],
    ['template without end', `{app="a"} | line_format "${'{{'.repeat(1000)}"`],
    [
      'prototypes as names',
      'sum by (__proto__, constructor) (count_over_time({app="a"} | json | label_format __proto__=app, toString="x" [1h]))',
    ],
    [
      'label that is a prototype',
      '{__proto__="a", constructor=~".+"} | json __proto__="constructor.prototype"',
    ],
    ['many instants', 'rate({app="a"}[1m])'],
  ] as const;
  const ENDPOINTS = ['query_range', 'index/volume', 'patterns', 'detected_fields', 'series'];

  test.each(QUERIES)('%s', async (what, query) => {
    for (const endpoint of ENDPOINTS) {
      const step = what === 'many instants' ? '0.001' : '60';
      const params = { ...RANGE, query, 'match[]': query, step };
      expectHandled(
        await send('POST', `/loki/api/v1/${endpoint}`, {
          body: new URLSearchParams(params).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      );
    }
  });
});

describe('rule groups', () => {
  const GROUPS = [
    ['size', `name: a\nrules: []\n# ${'x'.repeat(2_000_000)}\n`],
    ['depth', `name: ${deep('[', ']', 1000)}\n`],
    ['encoding', Buffer.from('name: "\xff\xfe"\nrules: []\n', 'latin1')],
    ['tags', 'name: !!js/function "function () {}"\nrules: []\n'],
    [
      'prototypes',
      '__proto__: {polluted: 1}\nname: a\nrules: [{record: r, expr: vector(1), labels: {__proto__: x}}]\n',
    ],
    ['merged prototypes', 'name: a\n<<: {__proto__: {polluted: 1}}\nrules: []\n'],
    [
      'a template that grows',
      'name: a\nrules: [{alert: A, expr: vector(1), annotations: {a: "{{ range $i := (printf \\"%0999999999d\\" 1) }}x{{ end }}"}}]\n',
    ],
    [
      'a template that calls itself',
      'name: a\nrules: [{alert: A, expr: vector(1), annotations: {a: "{{ define \\"x\\" }}{{ template \\"x\\" }}{{ end }}{{ template \\"x\\" }}"}}]\n',
    ],
    ['an expression that nests', `name: a\nrules: [{record: r, expr: "${'('.repeat(10_000)}1"}]\n`],
    [
      'receivers of its own',
      'name: a\nalertmanager_url: http://169.254.169.254/\nremote_write: [{url: "http://127.0.0.1/"}]\nrules: [{record: r, expr: vector(1)}]\n',
    ],
  ] as const;

  test.each(GROUPS)('%s', async (_, body) => {
    for (const root of ['/loki/api/v1/rules', '/api/prom/rules']) {
      expectHandled(
        await send('POST', `${root}/ns`, { body, headers: { 'content-type': 'application/yaml' } }),
      );
    }
    await world.run('rules');
  });
});

describe('deletes', () => {
  const PARAMS: readonly (readonly [string, Record<string, string>])[] = [
    ['size', { query: `{app="${'x'.repeat(200_000)}"}`, start: '1', end: '2' }],
    ['depth', { query: `{app="a"} | ${'('.repeat(10_000)}a="b"`, start: '1', end: '2' }],
    ['encoding', { query: '{app="\ud800\0"}', start: '1', end: '2' }],
    ['an expression that backtracks', { query: '{app="a"} |~ "(x+x+)+y"', start: '1', end: '2' }],
    ['times', { query: '{app="a"}', start: '-1e400', end: 'NaN' }],
    ['intervals', { query: '{app="a"}', start: '1', end: '2', max_interval: '-1h' }],
    ['an id of another', { request_id: '../x/00000000', force: 'true' }],
    ['an id without end', { request_id: '0'.repeat(100_000) }],
  ];
  test.each(PARAMS)('%s', async (_, params) => {
    for (const method of ['POST', 'GET', 'DELETE'])
      expectHandled(await send(method, '/loki/api/v1/delete', { params }));
  });
});

describe('paths and parameters', () => {
  const PIECES = [
    '%zz',
    '%',
    '%00',
    '%ff',
    '%2e%2e',
    '..%2f',
    '%5c',
    '%0d%0aset-cookie:a=b',
    '__proto__',
    '\ud800',
    'y'.repeat(20_000),
  ];
  const QUERY_STRINGS = [
    '%zz=1',
    'query=%ff%fe&limit=%00',
    '__proto__=1&__proto__[polluted]=1&constructor.prototype.polluted=1',
    'limit=1e99&start=-1&end=1e30&step=0',
    'limit=-1&interval=-5s&direction=sideways',
    'limit=9223372036854775808&start=9223372036854775808',
    Array.from({ length: 5000 }, (_, i) => `p${i}=x`).join('&'),
    `${'match[]=%7Ba%3D%22b%22%7D&'.repeat(2000)}`,
    'a&&=&==&;',
  ];

  test('each route handles each part as its parameters and after it', async () => {
    for (const route of ROUTES.filter(({ path }) => !path.startsWith('/ingester'))) {
      for (const piece of PIECES) {
        const path = route.path.replaceAll(/\{\w+\}/g, piece);
        for (const one of path === route.path ? [`${path}/${piece}`] : [path]) {
          const answer = await send(route.methods[0], one, {});
          expectHandled(answer);
          expect(Object.keys(answer.headers)).not.toContain('set-cookie');
        }
      }
    }
  });

  test.each(QUERY_STRINGS.map(rawQuery => [rawQuery.slice(0, 60), rawQuery]))('%s', async (_, rawQuery) => {
    for (const route of ROUTES.filter(({ path }) => !path.startsWith('/ingester'))) {
      const [{ method, path }] = requestsOf(route, 'word', TENANT);
      expectHandled(await send(method, path, { rawQuery }));
    }
  });

  test.each([
    ['//evil.example/..//x', ''],
    ['/\\evil.example//x', ''],
    ['/x//\r\nset-cookie: a=b', ''],
    ['/x//\u00e9\u2028', 'a=\r\nb'],
    ['/./%2e%2e//evil.example', 'a=b'],
  ])('a redirect stays here: %j', async (path, rawQuery) => {
    const { status, headers } = await send('GET', path, { rawQuery });
    expect(status).toBe(301);
    // One slash, then what no browser takes for another one, and nothing that ends a header.
    expect(headers.location).toMatch(/^\/(?![/\\])[!-[\]-~]*$/);
  });
});
