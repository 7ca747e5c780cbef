/**
 * Work of a decoder per step, in which its thread serves nothing else. Streams, resources and pairs of shared
 * metadata cost far more than their bytes, and white space costs as much as other bytes. Counted, not timed.
 */
import { expect, test } from '@jest/globals';
import { ClientError } from '../../shared/base/model/errors.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { lokiReceiver } from '../../shared/write/ingest/loki-receiver.ts';
import { otlpReceiver } from '../../shared/write/ingest/otlp/otlp-receiver.ts';
import type { Receiver } from '../../shared/write/ingest/receiver.ts';
import { bulkReceiver } from '../../shared/write/ingest/receivers/bulk-receiver.ts';
import { cloudWatchReceiver } from '../../shared/write/ingest/receivers/cloudwatch-logs.ts';
import { DEFAULT_FIELDS } from '../../shared/write/ingest/receivers/field-options.ts';
import { firehoseReceiver } from '../../shared/write/ingest/receivers/firehose-receiver.ts';
import { jsonLinesReceiver } from '../../shared/write/ingest/receivers/json-lines-receiver.ts';
import { field } from '../adversarial/support/packed.ts';

const COUNT = 5_000;
/** Streams of one step: about 20 us each. */
const MAX_IN_STEP = 40;

const numbers = Array.from({ length: COUNT }, (_, i) => i);
const labels = (i: number) => `{job="${i}"}`;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

test.each([
  [
    'Loki protobuf',
    lokiReceiver('application/x-protobuf', false),
    Buffer.concat(numbers.map(i => field(1, Buffer.concat([field(1, labels(i)), field(2, field(2, 'x'))])))),
  ],
  [
    'Loki JSON',
    lokiReceiver('application/json', false),
    json({ streams: numbers.map(i => ({ stream: { job: `${i}` }, values: [['1', 'x']] })) }),
  ],
  [
    'legacy JSON',
    lokiReceiver('application/json', true),
    json({
      streams: numbers.map(i => ({
        labels: labels(i),
        entries: [{ ts: '2026-01-01T00:00:00Z', line: 'x' }],
      })),
    }),
  ],
  ['OTLP protobuf', otlpReceiver('application/x-protobuf'), Buffer.concat(numbers.map(() => field(1, '')))],
  [
    'OTLP protobuf scopes',
    otlpReceiver('application/x-protobuf'),
    field(1, Buffer.concat(numbers.map(() => field(2, '')))),
  ],
  ['OTLP JSON', otlpReceiver('application/json'), json({ resourceLogs: numbers.map(() => ({})) })],
  [
    'OTLP JSON scopes',
    otlpReceiver('application/json'),
    json({ resourceLogs: [{ scopeLogs: numbers.map(() => ({})) }] }),
  ],
] as const)('%s: a decoding step processes few streams', (_, receiver, body) => {
  expect(COUNT / stepsOf(receiver, body)).toBeLessThanOrEqual(MAX_IN_STEP);
});

/** Number of steps until the body is decoded or refused. */
function stepsOf(receiver: Receiver, body: Buffer): number {
  const steps = receiver.decode(Buffer.from(body), { limits: DEFAULT_LIMITS, nowNs: 0n });
  let count = 1;
  try {
    while (!steps.next().done) count++;
  } catch (error) {
    expect(error).toBeInstanceOf(ClientError);
  }
  return count;
}

const SPACES = Buffer.alloc(16 * 1024 * 1024, ' ');
const ENVELOPE = Buffer.from('{"messageType":"DATA_MESSAGE","owner":"1","logGroup":"g","logEvents":[]}');
const fields = DEFAULT_FIELDS;
const JSON_LINES = jsonLinesReceiver(fields);
const BULK = bulkReceiver({ fields, index: '' });
const FIREHOSE = firehoseReceiver({ fields, labels: [] });
const CLOUDWATCH = cloudWatchReceiver([]);
/** 1 MiB is searched for a line feed, or checked for UTF-8 in a pass before, in 0.1 ms. */
const MAX_BYTES_IN_STEP = 1024 * 1024;

test.each<[string, Receiver, Buffer, number?]>([
  ['Loki JSON', lokiReceiver('application/json', false), SPACES],
  ['legacy JSON', lokiReceiver('application/json', true), SPACES],
  ['OTLP JSON', otlpReceiver('application/json'), SPACES],
  ['JSON lines', JSON_LINES, SPACES, 2],
  ['bulk action', BULK, SPACES, 2],
  ['bulk document', BULK, Buffer.concat([Buffer.from('{"create":{"_index":"a"}}\n'), SPACES]), 2],
  ['Firehose', FIREHOSE, SPACES],
  ['Firehose, behind an envelope', FIREHOSE, Buffer.concat([ENVELOPE, SPACES])],
  ['CloudWatch', CLOUDWATCH, SPACES],
  ['CloudWatch, behind an envelope', CLOUDWATCH, Buffer.concat([ENVELOPE, SPACES])],
])('%s: a decoding step skips little white space', (_, receiver, body, passes = 1) => {
  expect((passes * body.length) / stepsOf(receiver, body)).toBeLessThanOrEqual(MAX_BYTES_IN_STEP);
});

const SHARED = 1_000;
const RECORDS = 3_000;
/** Pairs of one step: about 10 ns each. */
const MAX_PAIRS_IN_STEP = 10_000;
const keys = Array.from({ length: SHARED }, (_, i) => `k${i}`);
const anyText = (text: string) => field(1, text);

test.each<[string, Receiver, Buffer]>([
  [
    'OTLP protobuf',
    otlpReceiver('application/x-protobuf'),
    field(
      1,
      Buffer.concat([
        field(
          1,
          Buffer.concat(keys.map(key => field(1, Buffer.concat([field(1, key), field(2, anyText('v'))])))),
        ),
        field(2, Buffer.concat(Array.from({ length: RECORDS }, () => field(2, field(5, anyText('x')))))),
      ]),
    ),
  ],
  [
    'OTLP JSON',
    otlpReceiver('application/json'),
    json({
      resourceLogs: [
        {
          resource: { attributes: keys.map(key => ({ key, value: { stringValue: 'v' } })) },
          scopeLogs: [
            { logRecords: Array.from({ length: RECORDS }, () => ({ body: { stringValue: 'x' } })) },
          ],
        },
      ],
    }),
  ],
])('%s: a decoding step copies few pairs of a resource', (_, receiver, body) => {
  expect((SHARED * RECORDS) / stepsOf(receiver, body)).toBeLessThanOrEqual(MAX_PAIRS_IN_STEP);
});
