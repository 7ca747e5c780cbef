/**
 * Requests of a tenant to each endpoint: rows by route, each of which builds its requests from a word. The
 * word is in everything the tenant sends (labels, lines, metadata, names of rules, queries of deletes), so
 * that it identifies the owner of a response.
 */
import type { HttpRequest } from '../../shared/server/http/message.ts';
import type { Route } from '../../shared/server/http/routes.ts';
import { NOW_MS } from './world.ts';

interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly path?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const NS = `${NOW_MS - 60_000}000000`;
const SECONDS = NOW_MS / 1000;
const JSON_TYPE = { 'content-type': 'application/json' };
const RANGE = { start: `${SECONDS - 3600}`, end: `${SECONDS + 60}` };

const jsonLine = (word: string) => `{"msg":"${word} was here","${word}_field":"${word}","took":"3ms"}`;

export const pushBody = (word: string): string =>
  JSON.stringify({
    streams: [
      {
        stream: { app: 'a', service_name: 'a', [`${word}_label`]: word },
        values: Array.from({ length: 12 }, (_, i) => [
          `${BigInt(NS) + BigInt(i)}`,
          i === 0 ? jsonLine(word) : `${word} took ${i} ms for user ${i}`,
          { [`${word}_meta`]: `${word}-${i}` },
        ]),
      },
    ],
  });

const otlpBody = (word: string): string =>
  JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: word } }] },
        scopeLogs: [{ logRecords: [{ timeUnixNano: NS, body: { stringValue: word } }] }],
      },
    ],
  });

const ruleBody = (word: string): string =>
  [
    `name: ${word}`,
    'rules:',
    `  - alert: ${word}Alert`,
    `    expr: 'sum(count_over_time({app="a"} |= "${word}" [1h])) > 0'`,
    `    annotations: {summary: "{{ $value }} of ${word}"}`,
    '',
  ].join('\n');

const savedBody = (kind: string, word: string): string =>
  JSON.stringify(
    kind === 'boards'
      ? { name: word, description: word, panels: [{ title: word, queries: [{ query: `{app="${word}"}` }] }] }
      : { name: word, queries: [`{app="${word}"}`] },
  );

const firehoseBody = (word: string): string =>
  JSON.stringify({
    requestId: 'r',
    timestamp: NOW_MS,
    records: [{ data: Buffer.from(word).toString('base64') }],
  });

const queries = (word: string): Call[] =>
  [
    '{app=~".+"}',
    `{app="a"} |= "${word}" | json | logfmt | label_format x="{{ .app }}"`,
    'sum by (app) (count_over_time({app=~".+"}[1h]))',
    'count_over_time({app=~".+"} | json | __error__="" [1h])',
    '{app=',
  ].map(query => ({ params: { ...RANGE, query, explain: 'true', limit: '1000' } }));

const deleteOf = (word: string): Record<string, string> => ({
  query: `{app="a"} |= "${word} of nobody"`,
  start: `${SECONDS - 3600}`,
  end: `${SECONDS}`,
});

const plain = (): Call[] => [{}];
const ranged = (): Call[] => [{ params: RANGE }, { params: { ...RANGE, query: '{app=~".+"}', step: '60' } }];
const insight = (): Call[] => [
  { params: { ...RANGE, query: '{app=~".+"}', step: '60', targetBytesPerShard: '1MB' } },
  { params: { ...RANGE, query: '{', step: '60' } },
];

type Row = readonly [routes: RegExp, calls: (word: string) => readonly Call[]];

/** Exactly one row for each route: a new endpoint needs one. */
const ROWS: readonly Row[] = [
  [
    / (\/svc\/api\/v1|\/api\/compat)\/push$/,
    word => [
      { headers: JSON_TYPE, body: pushBody(word) },
      { headers: JSON_TYPE, body: '{' },
    ],
  ],
  [
    / \/otlp\/\S+$/,
    word => [
      { headers: JSON_TYPE, body: otlpBody(word) },
      { headers: JSON_TYPE, body: '[' },
    ],
  ],
  [
    / \/svc\/api\/v1\/push\/jsonline$/,
    word => [
      {
        params: { _stream_fields: 'app', _msg_field: 'm', _time_field: 't' },
        body: `${JSON.stringify({ app: 'a', m: word, t: NS })}\n`,
      },
    ],
  ],
  [
    /^POST,PUT \S*\/_bulk$/,
    word => [
      {
        path: { index: 'logs' },
        body: `{"create":{"_index":"logs"}}\n${JSON.stringify({ '@timestamp': NOW_MS, message: word })}\n`,
      },
    ],
  ],
  [/ \/elasticsearch(|\/_\S*)$/, word => [{ path: { name: word } }]],
  [
    / \/aws\/firehose$/,
    word => [
      { headers: { ...JSON_TYPE, 'x-amz-firehose-request-id': 'r' }, body: firehoseBody(word) },
      { headers: JSON_TYPE, body: '{' },
    ],
  ],
  [/ (\/svc\/api\/v1\/query|\/svc\/api\/v1\/query_range|\/api\/compat\/query)$/, queries],
  [/ (\/svc\/api\/v1|\/api\/compat)\/(labels?|series)$/, ranged],
  [
    / (\/svc\/api\/v1|\/api\/compat)\/label\/\{name\}\/values$/,
    word => ['app', `${word}_label`, '__proto__'].map(name => ({ path: { name }, params: RANGE })),
  ],
  [/ \/svc\/api\/v1\/(export|index\/\S+|detected_labels|detected_fields|patterns)$/, insight],
  [
    / \/svc\/api\/v1\/detected_field\/\{name\}\/values$/,
    word =>
      ['app', `${word}_field`].map(name => ({ path: { name }, params: { ...RANGE, query: '{app="a"}' } })),
  ],
  [/ \/svc\/api\/v1\/(drilldown-limits|usage)$/, ranged],
  [/ \/svc\/api\/v1\/tail$/, () => [{ params: { query: '{app="a"}' } }]],
  [/ \/svc\/api\/v1\/format_query$/, () => [{ params: { query: '{app="a"}' } }, { params: { query: '{' } }]],
  [/^GET \/svc\/api\/v1\/(delete|status\/deletes)$/, plain],
  [/^POST,PUT \/svc\/api\/v1\/delete$/, word => [{ params: deleteOf(word) }, { params: { query: '{' } }]],
  [/^DELETE \/svc\/api\/v1\/delete$/, () => [{ params: { request_id: 'none' } }]],
  [/ \/svc\/api\/v1\/cache\/\S+$/, plain],
  [/^GET (\/svc\/api\/v1|\/api\/compat)\/rules$/, plain],
  [
    /^POST (\/svc\/api\/v1|\/api\/compat)\/rules\/\S+$/,
    word => [
      { path: { namespace: word }, body: ruleBody(word) },
      { path: { namespace: word }, body: 'name: [' },
    ],
  ],
  [
    /^(GET|DELETE) (\/svc\/api\/v1|\/api\/compat)\/rules\/\S+$/,
    word => ['other', word].map(name => ({ path: { namespace: name, group: name } })),
  ],
  [/^GET \/compat\/api\/v1\/(rules|alerts)$/, plain],
  [
    / \/svc\/api\/v1\/ui\/boards\S*$/,
    word => [{ path: { id: 'f'.repeat(16) }, params: { version: '1' }, body: savedBody('boards', word) }],
  ],
  [
    / \/svc\/api\/v1\/ui\/queries\S*$/,
    word => [{ path: { id: 'f'.repeat(16) }, params: { version: '1' }, body: savedBody('queries', word) }],
  ],
  [
    / (\/flush|\/flush\/tenant|\/sync-indexes|\/ingester\/\S+|\/svc\/api\/v1\/(status\/(maintenance|buildinfo)|openapi\.json))$/,
    plain,
  ],
  [
    / (\/ring|\/partition-ring|\/memberlist|\/\S+\/ring|\/ready|\/metrics|\/services|\/log_level|\/config)$/,
    plain,
  ],
  [/ \/config\/tenant\/v1\/limits$/, plain],
  [/ \/svc\/api\/v1\/auth\/\S+$/, plain],
  [
    / \/svc\/api\/v1\/tokens(\/\S+)?$/,
    word => [{ path: { id: word }, headers: JSON_TYPE, body: '{"name":"x"}' }],
  ],
];

export function nameOf({ methods, path }: Pick<Route<unknown>, 'methods' | 'path'>): string {
  return `${methods.join()} ${path}`;
}

export function rowsOf(name: string): readonly Row[] {
  return ROWS.filter(([routes]) => routes.test(name));
}

export interface Asked {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly given: Partial<HttpRequest>;
}

/** Every request of a route, by each of its methods. */
export function requestsOf<Context>(route: Route<Context>, word: string, tenant: string): readonly Asked[] {
  const name = nameOf(route);
  const [[, calls]] = rowsOf(name);
  return route.methods.flatMap(method =>
    calls(word).map(({ params = {}, path = {}, headers = {}, body = '' }) => ({
      name,
      method,
      path: route.path.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(path[part] ?? 'x')),
      given: {
        rawQuery: new URLSearchParams(params).toString(),
        headers: { ...headers, 'x-scope-orgid': tenant },
        body: Buffer.from(body),
      },
    })),
  );
}
