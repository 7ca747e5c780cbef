/**
 * Fuzzes every decoder with random bytes, and with valid bodies that are changed, truncated, repeated or
 * wrapped in compressions that they do not have. Each body is decoded or refused as a client error; any other
 * error is a defect. Memory stays within the decoder's limits.
 *
 * `LOGBOOM_FUZZ_RUNS=2000` sets the runs; a failure prints the seed that repeats it.
 */
import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compress as compressLz4 } from 'lz4js';
import protobuf from 'protobufjs';
import { compress as compressSnappy } from 'snappyjs';
import { objectsOf } from '../../functions/s3-event.ts';
import { ClientError } from '../../shared/base/model/errors.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { acceptPush } from '../../shared/write/ingest/accept.ts';
import type { BodyHeaders } from '../../shared/write/ingest/body.ts';
import { lokiReceiver } from '../../shared/write/ingest/loki-receiver.ts';
import { otlpReceiver } from '../../shared/write/ingest/otlp/otlp-receiver.ts';
import type { Receiver } from '../../shared/write/ingest/receiver.ts';
import { bulkReceiver } from '../../shared/write/ingest/receivers/bulk-receiver.ts';
import { cloudWatchReceiver } from '../../shared/write/ingest/receivers/cloudwatch-logs.ts';
import { DEFAULT_FIELDS } from '../../shared/write/ingest/receivers/field-options.ts';
import { firehoseReceiver } from '../../shared/write/ingest/receivers/firehose-receiver.ts';
import { jsonLinesReceiver } from '../../shared/write/ingest/receivers/json-lines-receiver.ts';
import { objectBatches } from '../../shared/write/ingest/receivers/object-batches.ts';
import { objectReceiver } from '../../shared/write/ingest/receivers/object-receiver.ts';
import { entriesOf } from './entries.ts';
import { jsonOf, list, map, pairs, protobufOf, requestOf, text } from './otlp/otlp-schema.ts';
import { BODY_LIMITS, NOW_NS } from './receivers/support.ts';

const RUNS = Number(process.env.LOGBOOM_FUZZ_RUNS ?? 150);
const NOW_MS = Number(NOW_NS / 1_000_000n);
/** Additional memory: the window of zstd, and the first buffer of zlib. */
const SPARE_BYTES = 17 * 1024 * 1024;

interface Target {
  readonly name: string;
  readonly receiver: () => Receiver;
  readonly good: Buffer;
  readonly headers: BodyHeaders;
  /** Transfer encoding of the content. */
  readonly pack: (content: Uint8Array) => Uint8Array;
}

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
const entry = {
  timestamp: { seconds: NOW_MS / 1000, nanos: 7 },
  line: 'level=warn größe "M" ключ',
  structuredMetadata: [{ name: 'trace_id', value: 'a\u0000b' }],
};
const protobufPush = Buffer.from(
  Push.encode(
    Push.fromObject({ streams: [{ labels: '{app="shop", b="\\u00e9"}', entries: [entry, entry] }] }),
  ).finish(),
);
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const jsonPush = json({
  streams: [{ stream: { app: 'shöp' }, values: [[String(NOW_NS), 'a\u2028"\n', { k: 'v', n: 'ü' }]] }],
});
const legacyPush = json({
  streams: [
    { labels: '{a="b",c="d"}', entries: [{ ts: '2026-11-21T12:00:00.123456789+01:00', line: 'é\\n' }] },
  ],
});
const logs = requestOf(
  {
    timeUnixNano: String(NOW_NS),
    severityText: 'WARN',
    severityNumber: 13,
    body: map({ text: text('größe'), more: list(text('a'), map({ b: text('c') })) }),
    attributes: pairs({ 'http.path': '/ü', deep: map({ a: map({ b: text('c') }) }) }),
    traceId: '0102030405060708090a0b0c0d0e0f10',
    spanId: '0102030405060708',
  },
  pairs({ 'service.name': 'shop', list: list(text('x')) }),
  { name: 'scope', version: '1', attributes: pairs({ s: 't' }) },
);
const envelope = json({
  messageType: 'DATA_MESSAGE',
  owner: '111122223333',
  logGroup: '/aws/lambda/shöp',
  logStream: '[$LATEST]a',
  subscriptionFilters: ['f'],
  logEvents: [{ id: '1', timestamp: NOW_MS, message: 'START "ü"\n', extractedFields: { a: 'b' } }],
});
const firehose = json({
  requestId: 'r',
  timestamp: NOW_MS,
  records: [
    { data: gzipSync(envelope).toString('base64') },
    { data: Buffer.from('{"message":"ü"}\nno json\n').toString('base64') },
    { data: Buffer.from([0x61, 0xff, 0xc3, 0x0a, 0x80]).toString('base64') },
  ],
});
const documents = Buffer.from(
  '{"@timestamp":"2026-11-21T12:00:00Z","message":"a\\n\\u00e9ü","o":{"n":[1,{"x":"]"}]},"level":"info"}\n{"a":1e3}\n',
);
const bulk = Buffer.from(
  '{"create":{"_index":"logs-2026.11.21","_id":"ü"}}\n{"message":"m","@timestamp":"2026-11-21"}\n{"delete":{"_id":"1","_index":"b"}}\n',
);
const plain = (content: Uint8Array): Uint8Array => content;
const JSON_HEADERS: BodyHeaders = { contentType: 'application/json' };

const TARGETS: readonly Target[] = [
  ...(['', 'gzip', 'deflate'] as const).map(contentEncoding => ({
    name: `protobuf push ${contentEncoding}`,
    receiver: () => lokiReceiver('application/x-protobuf', false),
    good: protobufPush,
    headers: { contentEncoding },
    pack: (content: Uint8Array) => around(contentEncoding, compressSnappy(content)),
  })),
  ...(['', 'gzip', 'deflate'] as const).map(contentEncoding => ({
    name: `JSON push ${contentEncoding}`,
    receiver: () => lokiReceiver('application/json', false),
    good: jsonPush,
    headers: { ...JSON_HEADERS, contentEncoding },
    pack: (content: Uint8Array) => around(contentEncoding, content),
  })),
  {
    name: 'legacy JSON push',
    receiver: () => lokiReceiver('application/json', true),
    good: legacyPush,
    headers: JSON_HEADERS,
    pack: plain,
  },
  ...(['', 'gzip', 'zstd', 'lz4'] as const).flatMap(contentEncoding => [
    {
      name: `OTLP protobuf ${contentEncoding}`,
      receiver: () => otlpReceiver('application/x-protobuf'),
      good: protobufOf(logs),
      headers: { contentEncoding },
      pack: (content: Uint8Array) => around(contentEncoding, content),
    },
    {
      name: `OTLP JSON ${contentEncoding}`,
      receiver: () => otlpReceiver('application/json'),
      good: jsonOf(logs),
      headers: { contentEncoding },
      pack: (content: Uint8Array) => around(contentEncoding, content),
    },
  ]),
  {
    name: 'JSON lines',
    receiver: () => jsonLinesReceiver(DEFAULT_FIELDS),
    good: documents,
    headers: {},
    pack: plain,
  },
  {
    name: 'bulk',
    receiver: () => bulkReceiver({ fields: DEFAULT_FIELDS, index: '' }),
    good: bulk,
    headers: { contentEncoding: 'gzip' },
    pack: gzipSync,
  },
  {
    name: 'Firehose',
    receiver: () => firehoseReceiver({ fields: DEFAULT_FIELDS, labels: [{ name: 'a', value: 'b' }] }),
    good: firehose,
    headers: {},
    pack: plain,
  },
  {
    name: 'CloudWatch Logs',
    receiver: () => cloudWatchReceiver([{ name: 'a', value: 'b' }]),
    good: envelope,
    headers: {},
    pack: gzipSync,
  },
];

function around(encoding: '' | 'gzip' | 'deflate' | 'zstd' | 'lz4', content: Uint8Array): Uint8Array {
  switch (encoding) {
    case '':
      return content;
    case 'gzip':
      return gzipSync(content);
    case 'deflate':
      return deflateRawSync(content);
    case 'zstd':
      return zstdCompressSync(content);
    case 'lz4':
      return compressLz4(content);
  }
}

/** Changes to valid bytes. `at` and `end` are fractions of their length. */
const part = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
/** Bytes that mean something to one of the formats, or that end a UTF-8 sequence early. */
const byte = fc.oneof(
  fc.nat(255),
  fc.constantFrom(...Buffer.from('"\\{}[],:\n0-'), 0, 0x7f, 0x80, 0xc3, 0xe2, 0xf0, 0xff),
);
const change = fc.record({
  at: part,
  bytes: fc.array(byte, { minLength: 1, maxLength: 4 }),
  insert: fc.boolean(),
});
const damage = fc.record({
  changes: fc.array(change, { maxLength: 4 }),
  end: fc.option(part),
  twice: fc.boolean(),
});
const random = fc.oneof(
  fc.uint8Array({ maxLength: 120 }),
  fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0a1\n -.eE'), maxLength: 80 }).map(one => Buffer.from(one)),
  fc.json().map(one => Buffer.from(one)),
);

function damaged(good: Uint8Array, { changes, end, twice }: DamageOf<typeof damage>): Buffer {
  let bytes = twice ? Buffer.concat([good, good]) : Buffer.from(good);
  for (const { at, bytes: given, insert } of changes) {
    const offset = Math.floor(at * bytes.length);
    const rest = bytes.subarray(insert ? offset : offset + given.length);
    bytes = Buffer.concat([bytes.subarray(0, offset), Buffer.from(given), rest]);
  }
  return end === null ? bytes : bytes.subarray(0, Math.floor(end * bytes.length));
}

type DamageOf<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** Decodes and accepts, or refuses with a ClientError; counts the granted memory. */
async function feed(receiver: Receiver, body: Uint8Array, headers: BodyHeaders): Promise<void> {
  let taken = 0;
  const held = { take: (bytes: number) => void (taken += bytes), release: () => {} };
  try {
    const bytes = await receiver.unpack(Buffer.from(body), headers, BODY_LIMITS, held);
    expect(bytes.length).toBeLessThanOrEqual(Math.max(BODY_LIMITS.maxDecompressedBytes, body.length));
    const columns = atOnce(receiver.decode(bytes, { limits: DEFAULT_LIMITS, nowNs: NOW_NS }));
    // Columns double as they grow, so declared sizes allocate nothing.
    expect(columns.streamOf.length).toBeLessThanOrEqual(Math.max(1024, 2 * columns.count));
    expect(columns.pairName.length).toBeLessThanOrEqual(Math.max(256, 2 * columns.pairCount));
    entriesOf(columns);
    atOnce(acceptPush(columns, { tenant: 'fuzz', limits: DEFAULT_LIMITS, nowNs: NOW_NS }));
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
  }
  expect(taken).toBeLessThanOrEqual(2 * BODY_LIMITS.maxDecompressedBytes + SPARE_BYTES);
}

describe.each(TARGETS)('$name', ({ receiver, good, headers, pack }) => {
  test('decodes valid bodies', async () => {
    const bytes = await receiver().unpack(Buffer.from(pack(good)), headers, BODY_LIMITS, {
      take: () => undefined,
      release: () => {},
    });
    const columns = atOnce(receiver().decode(bytes, { limits: DEFAULT_LIMITS, nowNs: NOW_NS }));
    expect(columns.count).toBeGreaterThan(0);
  });

  test('decodes or refuses bodies damaged inside their compression', async () => {
    await fc.assert(
      fc.asyncProperty(damage, async how => feed(receiver(), pack(damaged(good, how)), headers)),
      { numRuns: RUNS },
    );
  });

  test('decodes or refuses damaged compression', async () => {
    const packed = pack(good);
    await fc.assert(
      fc.asyncProperty(damage, async how => feed(receiver(), damaged(packed, how), headers)),
      { numRuns: RUNS },
    );
  });

  test('decodes or refuses random bytes, compressed or not', async () => {
    await fc.assert(
      fc.asyncProperty(random, fc.boolean(), async (bytes, isPacked) =>
        feed(receiver(), isPacked ? pack(bytes) : bytes, headers),
      ),
      { numRuns: RUNS },
    );
  });

  test('stops at its memory limit, however small the body is', async () => {
    await feed(receiver(), pack(Buffer.alloc(20_000_000, 0x20)), headers);
  });
});

test('object events name objects or are refused', () => {
  const location = { bucket: { name: 'b' }, object: { key: 'a%2Fb+%C3%BC', versionId: 'v' } };
  const notification = {
    Records: [{ eventSource: 'aws:s3', eventName: 'ObjectCreated:Put', s3: location }],
  };
  const bridge = { source: 'aws.s3', 'detail-type': 'Object Created', detail: location };
  const queued = { Records: [{ eventSource: 'aws:sqs', body: JSON.stringify(notification) }] };
  const good = fc.constantFrom(notification, bridge, queued).map(event => JSON.stringify(event));
  const event = fc.oneof(
    fc.jsonValue(),
    fc.tuple(good, damage).map(([one, how]) => {
      try {
        return JSON.parse(damaged(Buffer.from(one), how).toString()) as unknown;
      } catch {
        return undefined;
      }
    }),
  );
  fc.assert(
    fc.property(event, given => {
      try {
        for (const { bucket, key } of objectsOf(given)) expect(bucket.length * key.length).toBeGreaterThan(0);
      } catch (error) {
        if (!(error instanceof ClientError))
          expect((error as Error).message).toContain('this function accepts events of S3');
      }
    }),
    { numRuns: 3 * RUNS },
  );
});

test('a damaged log file is read, or its gzip is invalid', async () => {
  const files = [
    documents,
    Buffer.from('{"Records":[{"eventTime":"2026-11-21T12:00:00Z","a":"}"},{"eventTime":"x"}]}'),
    Buffer.from('#Version: 1.0\n#Fields: date time\n2026-11-21\t12:00:00\ta\n'),
    Buffer.from('version account-id interface-id\n2 1 eni-1 1795262400 1795262460 ACCEPT OK\n'),
    Buffer.from('https 2026-11-21T12:00:00.123456Z app/my-lb/50 192.0.2.1:2817 "GET / HTTP/1.1"\nü\n'),
  ];
  const file = fc.tuple(fc.constantFrom(...files), damage, fc.boolean(), fc.boolean());
  await fc.assert(
    fc.asyncProperty(file, fc.integer({ min: 1, max: 50 }), async ([good, how, isGzip, isInside], size) => {
      const inside = isInside ? damaged(good, how) : good;
      const packed = isGzip ? gzipSync(inside) : inside;
      const bytes = isInside ? packed : damaged(packed, how);
      const pieces = (async function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      })();
      try {
        for await (const batch of objectBatches(pieces, { batchBytes: 64, maxBytes: 10_000 })) {
          expect(batch.bytes.length).toBeLessThanOrEqual(64);
          await feed(
            objectReceiver({ batch, labels: [], metadata: [], lastModifiedMs: NOW_MS }),
            batch.bytes,
            {},
          );
        }
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException;
        if (!(error instanceof ClientError || code.startsWith('Z_'))) throw error;
      }
    }),
    { numRuns: 2 * RUNS },
  );
});
