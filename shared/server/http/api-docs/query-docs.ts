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
  about: 'interval between points: a duration or seconds; default: about 250 points',
  example: '1m',
};
const VOLUME: readonly ParameterDoc[] = [
  { name: 'limit', about: 'maximum number of series (default 100)', type: 'integer', example: '10' },
  { name: 'targetLabels', about: 'labels to sum by, separated by commas', example: 'app' },
  { name: 'aggregateBy', about: '`series` (default) or `labels`', example: 'series' },
];
const CANNOT = {
  400: 'the query is invalid or exceeds a limit; the message says which',
  429: 'too many concurrent queries, or their memory limit is exceeded; retry',
  504: 'the query exceeded `query_timeout`',
} as const;

function query(
  schema: SchemaName,
  summary: string,
  parameters: readonly ParameterDoc[],
  more: Partial<EndpointDoc> = {},
): EndpointDoc {
  return { tag: 'query', summary, parameters, status: 200, type: JSON_BODY, schema, others: CANNOT, ...more };
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
      LIMIT,
      DIRECTION,
    ],
    { about: 'Returns a vector, or a scalar. A log query is refused.' },
  ),
  'GET,POST /svc/api/v1/export': {
    tag: 'query',
    summary: 'Read all entries of a log query, as bytes of a file',
    about:
      'Returns entries in the order of time from the start of the range on, never some of the entries with a timestamp. The header ' +
      '`x-logboom-entries` counts them. If the range has more, the header `x-logboom-next` is the `start` of the next request. ' +
      '`max_entries_limit_per_query` does not apply. Loki does not have this endpoint.',
    parameters: [
      QUERY,
      ...RANGE,
      { name: 'format', about: '`jsonl` (default), `text` (lines alone) or `csv`', example: 'jsonl' },
      {
        name: 'bytes',
        about: 'bytes of lines in the response, about (default 16 MiB, maximum 64 MiB)',
        type: 'integer',
        example: '1000000',
      },
    ],
    status: 200,
    type: 'application/x-ndjson',
    others: CANNOT,
  },
  'GET,POST /svc/api/v1/labels': query(
    'Names',
    'List label names',
    [...RANGE, { ...SELECTOR, required: false }],
    {
      about: 'Without `start`, the range is the last 6 hours.',
    },
  ),
  'GET,POST /svc/api/v1/label/{name}/values': query(
    'Names',
    'List values of a label',
    [...RANGE, { ...SELECTOR, required: false }],
    {
      path: { name: 'app' },
      about: 'Without `start`, the range is the last 6 hours.',
    },
  ),
  'GET,POST /svc/api/v1/series': query('Series', 'List streams by their labels', [
    { name: 'match[]', about: 'stream selector', repeated: true, example: '{app="shop"}' },
    ...RANGE,
  ]),
  'GET,POST /svc/api/v1/index/stats': query('IndexStats', 'Count streams, chunks, entries and bytes', [
    SELECTOR,
    ...RANGE,
  ]),
  'GET,POST /svc/api/v1/index/shards': query('Shards', 'Divide a query into shards (always one)', [
    SELECTOR,
    ...RANGE,
    {
      name: 'targetBytesPerShard',
      about: 'size of a shard',
      type: 'integer',
      required: true,
      example: '1000000',
    },
  ]),
  'GET,POST /svc/api/v1/index/volume': query('Volume', 'Bytes by series, as one value', [
    SELECTOR,
    ...RANGE,
    ...VOLUME,
  ]),
  'GET,POST /svc/api/v1/index/volume_range': query('Volume', 'Bytes by series over time', [
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
    others: { ...CANNOT, 404: '`pattern_ingester.enabled` is off' },
  }),
  'GET /svc/api/v1/drilldown-limits': query(
    'DrilldownLimits',
    'Show the limits that Logs Drilldown requests',
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
  'GET /svc/api/v1/usage': query('Usage', 'Usage and estimated cost of the tenant by UTC day', RANGE, {
    about: 'Without a range, the last 30 days; at most 400.',
    others: { 400: CANNOT[400] },
  }),
  'GET /svc/api/v1/tail': {
    tag: 'query',
    summary: 'Follow entries as they are pushed, over a WebSocket',
    about:
      'A request without an upgrade is refused with 400. Frames are JSON with `streams` and `dropped_entries`.',
    parameters: [
      { ...QUERY, about: 'log query' },
      { ...LIMIT, about: 'number of earlier entries (default 100)' },
      START,
      SINCE,
      { name: 'delay_for', about: 'seconds to hold entries, up to 5', type: 'integer', example: '0' },
      { name: 'ticket', about: 'for browsers, if tokens are required' },
    ],
    status: 101,
    others: { 400: 'no upgrade, or the query is invalid' },
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

/** Describes pages that list members. */
export function ringDoc(summary: string): EndpointDoc {
  return {
    tag: 'status',
    summary,
    about: 'A page, or JSON with `Accept: application/json`. By POST, `forget=ID` removes a member.',
    status: 200,
    type: HTML_BODY,
    schema: 'Members',
  };
}
