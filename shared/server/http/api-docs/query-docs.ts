/** Descriptions of queries, labels, series and statistics. */
import {
  type EndpointDoc,
  type EndpointDocs,
  HTML_BODY,
  JSON_BODY,
  type ParameterDoc,
} from './endpoint-doc.ts';
import type { SchemaName } from './schemas.ts';

const TIME = 'RFC 3339, Unix seconds or Unix nanoseconds';
const START: ParameterDoc = {
  name: 'start',
  about: `start of the range: ${TIME}; default: one hour before the end`,
};
const END: ParameterDoc = { name: 'end', about: `end of the range: ${TIME}; default: now` };
const SINCE: ParameterDoc = {
  name: 'since',
  about: 'length of the range before `end`, instead of `start`',
  example: '1h',
};
const RANGE = [START, END, SINCE] as const;
const LABEL_RANGE = [
  { ...START, about: `start of the range: ${TIME}; default: 6 hours before the end` },
  END,
  SINCE,
] as const;
const QUERY: ParameterDoc = { name: 'query', about: 'LogQL', required: true, example: '{app="shop"}' };
const SELECTOR: ParameterDoc = { ...QUERY, about: 'stream selector' };
const LIMIT: ParameterDoc = {
  name: 'limit',
  about: 'maximum number of entries (default 100)',
  type: 'integer',
  example: '10',
};
const DIRECTION: ParameterDoc = {
  name: 'direction',
  about: '`backward` (default, newest first) or `forward`',
  example: 'forward',
};
const STEP: ParameterDoc = {
  name: 'step',
  about: 'interval between points, as a duration or in seconds; default: a 250th of the range, at least 1 s',
  example: '1m',
};
const VOLUME: readonly ParameterDoc[] = [
  { name: 'limit', about: 'maximum number of series (default 100)', type: 'integer', example: '10' },
  { name: 'targetLabels', about: 'labels to sum by, separated by commas', example: 'app' },
  { name: 'aggregateBy', about: '`series` (default) or `labels`', example: 'series' },
];
const QUERY_ERRORS = {
  400: 'the query is invalid, or it exceeds a limit that the message names',
  429: 'there are too many concurrent queries, or their memory limit is exceeded; retry later',
  504: 'the query exceeded `query_timeout`',
} as const;

function query(
  schema: SchemaName,
  summary: string,
  parameters: readonly ParameterDoc[],
  more: Partial<EndpointDoc> = {},
): EndpointDoc {
  return {
    tag: 'query',
    summary,
    parameters,
    status: 200,
    type: JSON_BODY,
    schema,
    others: QUERY_ERRORS,
    ...more,
  };
}

export const QUERY_DOCS: EndpointDocs = {
  'GET,POST /svc/api/v1/query_range': query(
    'QueryResult',
    'Run a query over a range',
    [
      QUERY,
      ...RANGE,
      LIMIT,
      DIRECTION,
      STEP,
      {
        name: 'interval',
        about: 'minimum interval between entries of a stream; closer ones are omitted',
        example: '1s',
      },
    ],
    { about: 'Returns streams with entries for a log query, and a matrix for a metric query.' },
  ),
  'GET,POST /svc/api/v1/query': query(
    'QueryResult',
    'Run a metric query at one time',
    [
      { ...QUERY, example: 'sum by (app) (count_over_time({app="shop"}[1h]))' },
      { name: 'time', about: `${TIME}; default: now` },
      { ...LIMIT, about: 'verified, but without effect on a metric query' },
      { ...DIRECTION, about: 'verified, but without effect on a metric query' },
    ],
    { about: 'Returns a vector or a scalar. Log queries are refused with 400.' },
  ),
  'GET,POST /svc/api/v1/export': {
    tag: 'query',
    summary: 'Export all entries of a log query as a file',
    about:
      'Returns entries by time, oldest first. A response contains all entries with a timestamp, or none of them. The header ' +
      '`x-logboom-entries` is their number. If the range has more entries, the header `x-logboom-next` is the `start` of the next request. ' +
      '`max_entries_limit_per_query` does not apply. Loki does not have this endpoint.',
    parameters: [
      QUERY,
      ...RANGE,
      {
        name: 'format',
        about: '`jsonl` (default), `text` (only the lines), `csv`, or `columns`, a binary form for programs',
        example: 'jsonl',
      },
      {
        name: 'bytes',
        about: 'approximate bytes of lines in a response (default 16 MiB, maximum 64 MiB)',
        type: 'integer',
        example: '1000000',
      },
    ],
    status: 200,
    type: 'application/x-ndjson',
    others: QUERY_ERRORS,
  },
  'GET,POST /svc/api/v1/labels': query('Names', 'List label names', [
    ...LABEL_RANGE,
    { ...SELECTOR, required: false },
  ]),
  'GET,POST /svc/api/v1/label/{name}/values': query(
    'Names',
    'List values of a label',
    [...LABEL_RANGE, { ...SELECTOR, required: false }],
    { path: { name: 'app' } },
  ),
  'GET,POST /svc/api/v1/series': query('Series', 'List streams by their labels', [
    { name: 'match[]', about: 'stream selector', repeated: true, example: '{app="shop"}' },
    ...RANGE,
  ]),
  'GET,POST /svc/api/v1/index/stats': query('IndexStats', 'Count streams, chunks, entries and bytes', [
    SELECTOR,
    ...RANGE,
  ]),
  'GET,POST /svc/api/v1/index/shards': query('Shards', 'Show the shards of a query: always one', [
    SELECTOR,
    ...RANGE,
    {
      name: 'targetBytesPerShard',
      about: 'wanted size of a shard in bytes; has no effect',
      type: 'integer',
      required: true,
      example: '1000000',
    },
  ]),
  'GET,POST /svc/api/v1/index/volume': query('Volume', 'Show bytes by series as one value each', [
    SELECTOR,
    ...RANGE,
    ...VOLUME,
  ]),
  'GET,POST /svc/api/v1/index/volume_range': query('Volume', 'Show bytes by series over time', [
    SELECTOR,
    ...RANGE,
    STEP,
    ...VOLUME,
  ]),
  'GET,POST /svc/api/v1/detected_labels': query(
    'DetectedLabels',
    'List labels with the number of their values',
    [{ ...SELECTOR, required: false }, ...RANGE],
  ),
  'GET,POST /svc/api/v1/patterns': query('Patterns', 'List patterns of lines', [SELECTOR, ...RANGE, STEP], {
    others: { ...QUERY_ERRORS, 404: 'pattern mining is disabled; set `pattern_ingester.enabled`' },
  }),
  'GET /svc/api/v1/drilldown-limits': query(
    'DrilldownLimits',
    'Show limits of the tenant to Logs Drilldown',
    [],
  ),
  'GET,POST /svc/api/v1/detected_fields': query('DetectedFields', 'List fields of the newest lines', [
    QUERY,
    ...RANGE,
    {
      name: 'line_limit',
      about: 'number of lines to parse (default 100)',
      type: 'integer',
      example: '100',
    },
    { name: 'limit', about: 'maximum number of fields (default 1,000)', type: 'integer', example: '10' },
  ]),
  'GET,POST /svc/api/v1/detected_field/{name}/values': query(
    'DetectedValues',
    'List values of a field in the newest lines',
    [
      QUERY,
      ...RANGE,
      {
        name: 'line_limit',
        about: 'number of lines to parse (default 100)',
        type: 'integer',
        example: '100',
      },
      { name: 'limit', about: 'maximum number of values (default 1,000)', type: 'integer', example: '10' },
    ],
    { path: { name: 'order' } },
  ),
  'GET,POST /svc/api/v1/format_query': query('FormattedQuery', 'Format a query', [QUERY], {
    others: { 400: 'the query is invalid' },
  }),
  'GET /svc/api/v1/usage': query('Usage', 'Show usage and estimated cost of the tenant by UTC day', RANGE, {
    about: 'Without a range, the response has the last 30 days. A range can have up to 400 days.',
    others: { 400: QUERY_ERRORS[400] },
  }),
  'GET /svc/api/v1/tail': {
    tag: 'query',
    summary: 'Follow entries as they are pushed, over a WebSocket',
    about:
      'A request that is not a WebSocket upgrade is refused with 400. Frames are JSON objects with `streams` and `dropped_entries`.',
    parameters: [
      { ...QUERY, about: 'log query' },
      { ...LIMIT, about: 'maximum number of earlier entries (default 100)' },
      START,
      SINCE,
      {
        name: 'delay_for',
        about: 'seconds to hold entries (0 to 5), so that entries of several senders arrive in order',
        type: 'integer',
        example: '0',
      },
      {
        name: 'ticket',
        about: 'ticket of `POST /svc/api/v1/auth/ticket`, for browsers if the store requires tokens',
      },
    ],
    status: 101,
    others: { 400: 'the request is not an upgrade, or the query is invalid' },
  },
  'GET /api/compat/query': query(
    'LegacyResult',
    'Run a log query in the format of older clients',
    [QUERY, START, END, LIMIT, DIRECTION],
    {
      tag: 'legacy',
    },
  ),
  'GET /api/compat/label': query(
    'LegacyNames',
    'List label names in the format of older clients',
    [START, END],
    {
      tag: 'legacy',
    },
  ),
  'GET /api/compat/label/{name}/values': query(
    'LegacyNames',
    'List values of a label in the format of older clients',
    [START, END],
    {
      tag: 'legacy',
      path: { name: 'app' },
    },
  ),
  'GET,POST /api/compat/series': query(
    'Series',
    'List streams, for older clients',
    [{ name: 'match[]', about: 'stream selector', repeated: true, example: '{app="shop"}' }, START, END],
    { tag: 'legacy' },
  ),
};

/** Describes a page that lists members of a ring. */
export function ringDoc(summary: string): EndpointDoc {
  return {
    tag: 'status',
    summary,
    about:
      'Returns an HTML page, or JSON with `Accept: application/json`. A POST with `forget=ID` removes a member.',
    status: 200,
    type: HTML_BODY,
    schema: 'Members',
  };
}
