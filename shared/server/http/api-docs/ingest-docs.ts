/**
 * Descriptions of the receivers, and of the endpoints that agents for Elasticsearch call before they send.
 */
import { type EndpointDoc, type EndpointDocs, JSON_BODY, type ParameterDoc } from './endpoint-doc.ts';

/** Media type of protobuf for Loki's push API and for OTLP. Agents send this one; the registered one works too. */
const PROTOBUF = 'application/x-protobuf';
const NDJSON = 'application/x-ndjson';
const REFUSED = {
  400: 'some entries are refused, for the reason in the message; the other entries are stored',
  413: 'the body is too large; send smaller batches',
  422: 'the request contains no streams',
  429: 'a rate limit of the tenant is exceeded, or merging is behind; retry later',
} as const;

const FIELDS: readonly ParameterDoc[] = [
  { name: '_stream_fields', about: 'fields that become labels, separated by commas', example: 'app' },
  { name: '_time_field', about: 'fields that may contain the timestamp, separated by commas' },
  { name: '_msg_field', about: 'fields that may contain the line, separated by commas' },
  { name: 'ignore_fields', about: 'fields to drop, separated by commas; `a.*` names a group' },
  { name: 'extra_fields', about: 'fields to add, as `name=value`, separated by commas' },
];

const PUSH: EndpointDoc = {
  tag: 'ingest',
  summary: 'Push entries in the format of Loki',
  about:
    'Accepts JSON, and protobuf with snappy. Each value is a timestamp in Unix nanoseconds, a line, and optional structured metadata. Status 204 means that every entry is on disk.',
  body: {
    about: 'streams with their entries; gzip, deflate or snappy by `Content-Encoding`',
    types: {
      [JSON_BODY]:
        '{"streams":[{"stream":{"app":"shop"},"values":[["1767225600000000000","order placed",{"trace_id":"abc"}]]}]}',
      [PROTOBUF]: undefined,
    },
  },
  status: 204,
  others: REFUSED,
};

const BULK: EndpointDoc = {
  tag: 'ingest',
  summary: 'Push documents by the bulk API of Elasticsearch',
  about: 'The actions `create` and `index` store a document. A document with another action is refused.',
  parameters: FIELDS,
  path: { index: 'web' },
  body: {
    about: 'pairs of lines, an action and its document; plain or gzip',
    types: {
      [NDJSON]: '{"create":{"_index":"web"}}\n{"message":"order placed","service":{"name":"shop"}}\n',
    },
  },
  status: 200,
  type: JSON_BODY,
  schema: 'BulkResult',
  others: { 413: REFUSED[413], 429: REFUSED[429] },
};

/** Requests that agents for Elasticsearch send first. */
function setup(summary: string, schema: EndpointDoc['schema'] = 'ElasticSetup'): EndpointDoc {
  return { tag: 'ingest', summary, path: { name: 'logs' }, status: 200, type: JSON_BODY, schema };
}

export const INGEST_DOCS: EndpointDocs = {
  'POST /svc/api/v1/push': PUSH,
  'POST /api/compat/push': {
    ...PUSH,
    tag: 'legacy',
    summary: 'Push entries in the older format of Loki',
    about: 'Labels are a string in braces. Entries are objects with `ts` and `line`.',
    body: {
      about: 'streams with their entries',
      types: {
        [JSON_BODY]:
          '{"streams":[{"labels":"{app=\\"shop\\"}","entries":[{"ts":"2026-01-01T00:00:00Z","line":"order placed"}]}]}',
      },
    },
  },
  'POST /otlp/v1/logs': {
    tag: 'ingest',
    summary: 'Push records of OpenTelemetry',
    about: 'Accepts OTLP over HTTP. The body of an error is a `google.rpc.Status` in protobuf.',
    body: {
      about: 'an ExportLogsServiceRequest; plain, gzip, zstd or lz4',
      types: {
        [JSON_BODY]:
          '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600000000000","body":{"stringValue":"order placed"}}]}]}]}',
        [PROTOBUF]: undefined,
      },
    },
    status: 204,
    others: REFUSED,
  },
  'POST /otlp/v1/logs/v1/logs': {
    tag: 'ingest',
    summary: 'Report that the path `/v1/logs` occurs twice',
    about:
      'A Collector calls this path if its endpoint already ends in `/v1/logs`. The message says how to correct it.',
    body: { about: 'is not read', types: { [JSON_BODY]: '{}' } },
    status: 400,
    type: 'application/octet-stream',
  },
  'POST /svc/api/v1/push/jsonline': {
    tag: 'ingest',
    summary: 'Push JSON documents, one on each line',
    parameters: FIELDS,
    body: {
      about: 'one JSON document on each line; plain or compressed',
      types: { [NDJSON]: '{"message":"order placed","app":"shop"}\n' },
    },
    status: 204,
    others: REFUSED,
  },
  'POST,PUT /_bulk': BULK,
  'POST,PUT /{index}/_bulk': {
    ...BULK,
    summary: 'Push documents to an index by the bulk API of Elasticsearch',
  },
  'POST /aws/firehose': {
    tag: 'ingest',
    summary: 'Push records of Amazon Data Firehose',
    about:
      'Entries that fail validation are dropped, and the status is 200, because Firehose repeats a request with any other status.',
    parameters: [
      {
        name: 'X-Amz-Firehose-Request-Id',
        in: 'header',
        required: true,
        about: 'ID of the request',
        example: 'r-1',
      },
      { name: 'X-Amz-Firehose-Access-Key', in: 'header', about: 'access token, or `TENANT:TOKEN`' },
      {
        name: 'X-Amz-Firehose-Common-Attributes',
        in: 'header',
        about: 'JSON object with common attributes, which become labels',
        example: '{"commonAttributes":{"app":"shop"}}',
      },
    ],
    body: {
      about: 'records with their data in base64',
      types: {
        [JSON_BODY]: '{"requestId":"r-1","timestamp":1767225600000,"records":[{"data":"b3JkZXIgcGxhY2Vk"}]}',
      },
    },
    status: 200,
    type: JSON_BODY,
    schema: 'FirehoseResult',
    others: { 400: 'the body cannot be read', 413: REFUSED[413] },
  },
  'GET,HEAD /elasticsearch': setup('Show the version that clients of Elasticsearch expect', 'ElasticVersion'),
  'GET /elasticsearch/_license': setup('Show the license that Logstash expects', 'ElasticLicense'),
  'GET /elasticsearch/_cluster/health': setup(
    'Show the health that clients of Elasticsearch expect',
    'ElasticHealth',
  ),
  'GET /elasticsearch/_xpack': setup('Show the features that Beats check: none exist'),
  'GET /elasticsearch/_nodes/http': setup('Show the nodes that Logstash checks: none exist'),
  'GET /elasticsearch/_ingest/pipeline': setup('List ingest pipelines: none exist'),
  'GET,PUT /elasticsearch/_ilm/policy/{name}': setup('Accept a lifecycle policy, without effect'),
  'GET,PUT /elasticsearch/_index_template/{name}': setup('Accept an index template, without effect'),
  'GET,PUT /elasticsearch/_ingest/pipeline/{name}': setup('Accept an ingest pipeline, without effect'),
};
