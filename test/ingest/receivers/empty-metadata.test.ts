/**
 * An empty value of structured metadata is equivalent to none, in every protocol: each receiver decodes a
 * body with such a value, and the entries to store have none.
 */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import protobuf from 'protobufjs';
import { DEFAULT_LIMITS, type Limits } from '../../../shared/base/model/limits.ts';
import { atOnce } from '../../../shared/base/model/steps.ts';
import { acceptPush } from '../../../shared/write/ingest/accept.ts';
import { lokiReceiver } from '../../../shared/write/ingest/loki-receiver.ts';
import { otlpReceiver } from '../../../shared/write/ingest/otlp/otlp-receiver.ts';
import type { Receiver } from '../../../shared/write/ingest/receiver.ts';
import { bulkReceiver } from '../../../shared/write/ingest/receivers/bulk-receiver.ts';
import { cloudWatchReceiver } from '../../../shared/write/ingest/receivers/cloudwatch-logs.ts';
import { DEFAULT_FIELDS } from '../../../shared/write/ingest/receivers/field-options.ts';
import { firehoseReceiver } from '../../../shared/write/ingest/receivers/firehose-receiver.ts';
import { jsonLinesReceiver } from '../../../shared/write/ingest/receivers/json-lines-receiver.ts';
import { acceptedEntries } from '../entries.ts';
import { jsonOf, pairs, protobufOf, requestOf, text } from '../otlp/otlp-schema.ts';
import { columnsOf, NOW_NS } from './support.ts';

const { root } = protobuf.parse(
  `syntax = "proto3";
  message Timestamp { int64 seconds = 1; int32 nanos = 2; }
  message Pair { string name = 1; string value = 2; }
  message Entry { Timestamp timestamp = 1; string line = 2; repeated Pair structuredMetadata = 3; }
  message Stream { string labels = 1; repeated Entry entries = 2; }
  message Push { repeated Stream streams = 1; }`,
  { keepCase: true },
);
const Push = root.lookupType('Push');

const JSON_HEADERS = { contentType: 'application/json' };
const NOW_MS = Number(NOW_NS / 1_000_000n);
const ISO = new Date(NOW_MS).toISOString();

const otlp = requestOf(
  {
    timeUnixNano: String(NOW_NS),
    body: text('m'),
    attributes: pairs({ empty: '', kept: 'v', 'some.empty': '' }),
  },
  pairs({ 'of.resource': '' }),
  { attributes: pairs({ 'of.scope': '' }) },
);
const lokiProtobuf = Push.encode(
  Push.fromObject({
    streams: [
      {
        labels: '{app="a"}',
        entries: [
          {
            timestamp: { seconds: Number(NOW_NS / 1_000_000_000n), nanos: 0 },
            line: 'm',
            structuredMetadata: [
              { name: 'empty', value: '' },
              { name: 'kept', value: 'v' },
              { name: 'unset' },
            ],
          },
        ],
      },
    ],
  }),
).finish();
const lokiJson = {
  streams: [
    { stream: { app: 'a' }, values: [[String(NOW_NS), 'm', { empty: '', kept: 'v', 'some.empty': '' }]] },
  ],
};
const document = { '@timestamp': ISO, message: 'm', empty: '', kept: 'v', nested: { empty: '' } };
const firehose = {
  requestId: 'r',
  timestamp: NOW_MS,
  records: [{ data: Buffer.from(JSON.stringify(document)).toString('base64') }],
};
const envelope = {
  messageType: 'DATA_MESSAGE',
  owner: '1',
  logGroup: 'g',
  logStream: '',
  logEvents: [{ id: '1', timestamp: NOW_MS, message: 'm' }],
};

// [name, receiver, body, metadata that stays]
const rows: [string, Receiver, string | Uint8Array, Record<string, string>][] = [
  ['Loki JSON', lokiReceiver('application/json', false), JSON.stringify(lokiJson), { kept: 'v' }],
  [
    'Loki protobuf',
    { ...lokiReceiver('application/x-protobuf', false), unpack: bytes => Buffer.from(bytes) },
    lokiProtobuf,
    { kept: 'v' },
  ],
  ['OTLP JSON', otlpReceiver('application/json'), jsonOf(otlp), { kept: 'v' }],
  ['OTLP protobuf', otlpReceiver('application/x-protobuf'), protobufOf(otlp), { kept: 'v' }],
  [
    'bulk',
    bulkReceiver({ fields: DEFAULT_FIELDS, index: 'i' }),
    `{"create":{}}\n${JSON.stringify(document)}\n`,
    { kept: 'v' },
  ],
  ['JSON lines', jsonLinesReceiver(DEFAULT_FIELDS), JSON.stringify(document), { kept: 'v' }],
  [
    'Firehose',
    firehoseReceiver({ fields: DEFAULT_FIELDS, labels: [] }),
    JSON.stringify(firehose),
    { kept: 'v' },
  ],
  ['CloudWatch Logs', cloudWatchReceiver([]), gzipSync(JSON.stringify(envelope)), {}],
];

async function stored(receiver: Receiver, body: string | Uint8Array, limits: Limits) {
  const columns = await columnsOf(receiver, body, JSON_HEADERS, limits);
  const { accepted } = atOnce(acceptPush(columns, { tenant: 't', limits, nowNs: NOW_NS }));
  return acceptedEntries(accepted);
}

describe('an empty metadata value is not stored', () => {
  test.each(rows)('%s', async (_, receiver, body, want) => {
    const entries = await stored(receiver, body, { ...DEFAULT_LIMITS, discoverLogLevels: false });
    expect(entries.map(({ line, metadata }) => [line, Object.fromEntries(metadata)])).toEqual([['m', want]]);
  });

  test.each<[string, Record<string, string>, string]>([
    ['an empty level is none', { level: '' }, 'error'],
    ['an empty detected level is none', { detected_level: '' }, 'error'],
    ['an empty severity number is none', { severity_number: '' }, 'error'],
    ['a level that is there', { level: 'warn' }, 'warn'],
  ])('%s, so detection continues', async (_, metadata, want) => {
    const body = { streams: [{ stream: { app: 'a' }, values: [[String(NOW_NS), 'level=error', metadata]] }] };
    const [entry] = await stored(
      lokiReceiver('application/json', false),
      JSON.stringify(body),
      DEFAULT_LIMITS,
    );
    expect(Object.fromEntries(entry.metadata).detected_level).toBe(want);
  });

  test('limits count the sent bytes, like the reference', async () => {
    const limits = { ...DEFAULT_LIMITS, maxStructuredMetadataEntriesCount: 2 };
    const columns = await columnsOf(
      lokiReceiver('application/json', false),
      JSON.stringify(lokiJson),
      JSON_HEADERS,
      limits,
    );
    const { error } = atOnce(acceptPush(columns, { tenant: 't', limits, nowNs: NOW_NS }));
    expect(error?.message).toContain("has too many structured metadata labels: '3', limit: '2'");
  });
});
