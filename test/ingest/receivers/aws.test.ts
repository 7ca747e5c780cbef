import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bulkReceiver } from '../../../shared/write/ingest/receivers/bulk-receiver.ts';
import { cloudWatchReceiver } from '../../../shared/write/ingest/receivers/cloudwatch-logs.ts';
import { DEFAULT_FIELDS } from '../../../shared/write/ingest/receivers/field-options.ts';
import { firehoseReceiver } from '../../../shared/write/ingest/receivers/firehose-receiver.ts';
import { objectBatches } from '../../../shared/write/ingest/receivers/object-batches.ts';
import { objectReceiver } from '../../../shared/write/ingest/receivers/object-receiver.ts';
import { decoded, holds, NOW_NS, refusalOf } from './support.ts';

const NOW_MS = Number(NOW_NS / 1_000_000n);

/** The shape that CloudWatch Logs sends, as its user guide shows it. */
const envelope = (type = 'DATA_MESSAGE') => ({
  messageType: type,
  owner: '111122223333',
  logGroup: '/aws/lambda/shop',
  logStream: '2026/11/21/[$LATEST]abc',
  subscriptionFilters: ['all'],
  logEvents: [
    { id: '1', timestamp: NOW_MS, message: 'START "x"\n' },
    { id: '2', timestamp: NOW_MS, message: 'START "x"\n' },
    { id: '3', timestamp: NOW_MS + 1, message: 'END' },
  ],
});
const packed = (value: unknown) => gzipSync(JSON.stringify(value));

describe('CloudWatch Logs', () => {
  const receiver = cloudWatchReceiver([{ name: 'env', value: 'prod' }]);

  test('groups events by log group and owner, and keeps equal events separate', async () => {
    const entries = await decoded(receiver, packed(envelope()));
    const stream = '{env="prod", log_group="/aws/lambda/shop", owner="111122223333"}';
    const metadata = [['log_stream', '2026/11/21/[$LATEST]abc']];
    expect(entries.map(({ ns, ...rest }) => ({ ...rest, after: Number(ns - NOW_NS) }))).toEqual([
      { stream, line: 'START "x"', metadata, after: 0 },
      { stream, line: 'START "x"', metadata, after: 1 },
      { stream, line: 'END', metadata, after: 1_000_000 },
    ]);
  });

  test('ignores a control message, wherever its type is', async () => {
    const { messageType, ...rest } = envelope('CONTROL_MESSAGE');
    expect(await decoded(receiver, packed(envelope('CONTROL_MESSAGE')))).toEqual([]);
    expect(await decoded(receiver, packed({ ...rest, messageType }))).toEqual([]);
  });

  test.each([
    ['no gzip', Buffer.from('x'), 'gzip: invalid header'],
    [
      'no time',
      packed({ messageType: 'DATA_MESSAGE', logEvents: [{ message: 'm' }] }),
      'needs a timestamp and a message',
    ],
    [
      'a time that is none',
      packed({ logEvents: [{ timestamp: 1.5, message: 'm' }] }),
      'is not a time in milliseconds',
    ],
    ['two envelopes', gzipSync('{}{}'), 'followed by other data'],
  ])('refuses %s', async (_, body, want) => {
    expect(await refusalOf(receiver, body)).toContain(want);
  });
});

describe('Firehose', () => {
  const receiver = () => firehoseReceiver({ fields: DEFAULT_FIELDS, labels: [{ name: 'app', value: 'a' }] });
  const request = (...records: (string | Uint8Array)[]) =>
    JSON.stringify({
      requestId: 'r',
      timestamp: NOW_MS,
      records: records.map(record => ({ data: Buffer.from(record as string).toString('base64') })),
    });

  test.each(['!!!!', 'aGk*', 'aGk=!', 'aGk=aGk=', 'a', 'aGk==='])(
    'refuses data that is not base64: %s',
    async data => {
      const body = JSON.stringify({
        requestId: 'r',
        timestamp: NOW_MS,
        records: [{ data: 'aGk=' }, { data }],
      });
      expect(await refusalOf(receiver(), body)).toBe('400 record data is not valid base64');
    },
  );

  test('decodes text, documents and envelopes, compressed or not', async () => {
    const body = request(
      'one\ntwo\r\n',
      '{"msg":"m","a":1}',
      packed(envelope()),
      JSON.stringify(envelope()),
      '{no json',
    );
    const entries = await decoded(receiver(), body);
    const streams = { a: '{app="a"}', cw: '{app="a", log_group="/aws/lambda/shop", owner="111122223333"}' };
    expect(entries.map(({ stream, line }) => [stream, line])).toEqual([
      [streams.a, 'one'],
      [streams.a, 'two'],
      [streams.a, 'm'],
      ...Array.from({ length: 2 }, () => [
        [streams.cw, 'START "x"'],
        [streams.cw, 'START "x"'],
        [streams.cw, 'END'],
      ]).flat(),
      [streams.a, '{no json'],
    ]);
    expect(entries.slice(0, 2).map(({ ns }) => Number(ns - NOW_NS))).toEqual([0, 1]);
  });

  test.each([
    ['no records', '{}', '400 the request has no records'],
    ['no JSON', 'x', '400 Value looks like object'],
    [
      'data that is no UTF-8',
      Buffer.from('{"records":[{"data":"\xff"}]}', 'latin1'),
      '400 record data is not valid base64',
    ],
    ['broken gzip', request(Buffer.from('1f8b0800', 'hex')), '400 a gzip record cannot be decompressed'],
    ['a bomb', request(gzipSync(Buffer.alloc(3_000_000))), '413 request body too large'],
    [
      'bombs',
      request(...Array.from({ length: 3 }, () => gzipSync(Buffer.alloc(900_000)))),
      '413 request body too large',
    ],
  ])('refuses %s', async (_, body, want) => {
    expect(await refusalOf(receiver(), body)).toContain(want);
  });
});

describe('objects', () => {
  async function linesOf(body: Uint8Array | string, batchBytes = 1000, pieceBytes = 7) {
    const bytes = Buffer.from(body as string);
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
    }
    const found: [type: string, line: string, after: number][] = [];
    for await (const batch of objectBatches(pieces(), { batchBytes })) {
      expect(batch.bytes.length).toBeLessThanOrEqual(batchBytes);
      const metadata = [{ name: 's3_key', value: 'k' }];
      const receiver = objectReceiver({ batch, labels: [], metadata, lastModifiedMs: NOW_MS });
      for (const { stream, line, ns, metadata: pairs } of await decoded(receiver, batch.bytes)) {
        expect(pairs.at(-1)).toEqual(['s3_key', 'k']);
        found.push([/log_type="(\w+)"/.exec(stream)![1], line, Number(ns - NOW_NS)]);
      }
    }
    return found;
  }

  test('are split into complete batches that fit their metadata, independent of how bytes arrive', async () => {
    const options = fc.record({ batchBytes: fc.integer({ min: 1, max: 60 }), lineBytes: fc.nat(20) });
    const text = fc
      .array(fc.constantFrom('a', 'bc', '\n', 'defghijk'), { maxLength: 80 })
      .map(parts => parts.join(''));
    const cut = async (
      body: string,
      pieceBytes: number,
      given: { batchBytes: number; lineBytes: number },
    ) => {
      async function* pieces() {
        for (let at = 0; at < body.length; at += pieceBytes)
          yield Buffer.from(body.slice(at, at + pieceBytes));
      }
      const batches: [lines: string, firstLine: number][] = [];
      for await (const { bytes, firstLine } of objectBatches(pieces(), given)) {
        batches.push([bytes.toString(), firstLine]);
      }
      return batches;
    };
    await fc.assert(
      fc.asyncProperty(text, options, fc.integer({ min: 1, max: 90 }), async (body, given, pieceBytes) => {
        const batches = await cut(body, pieceBytes, given);
        expect(batches.map(([lines]) => lines).join('')).toBe(body);
        let before = '';
        for (const [lines, firstLine] of batches) {
          expect(lines).not.toBe('');
          expect(firstLine).toBe(before.split('\n').length - 1);
          const count = lines.split('\n').filter(line => line !== '').length;
          const fits = lines.length + count * given.lineBytes <= given.batchBytes;
          expect(fits || lines.trimEnd().split('\n').length === 1).toBe(true);
          before += lines;
        }
        expect(await cut(body, body.length + 1, given)).toEqual(batches);
      }),
    );
  });

  const alb = 'https 2026-11-21T12:00:01.000000Z app/lb/1 10.0.0.1:1 - 0.1 "GET / HTTP/1.1"';
  const vpc = '2 111 eni-1 10.0.0.1 10.0.0.2 1 2 6 1 40 1795262401 1795262402 ACCEPT OK';
  const cloudfront = '2026-11-21\t12:00:01\tFRA1\t100\t10.0.0.1\tGET';
  const trail = { eventTime: '2026-11-21T12:00:01Z', eventName: 'PutObject', s: 'a]}"{\\' };
  const vpcNames =
    'version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status';
  // [case, object, want]
  const rows: [string, string | Uint8Array, [string, string, number][]][] = [
    [
      'text',
      'a\n\nb\r\n',
      [
        ['text', 'a', 0],
        ['text', 'b', 2],
      ],
    ],
    [
      'text in gzip',
      gzipSync('a\nb'),
      [
        ['text', 'a', 0],
        ['text', 'b', 1],
      ],
    ],
    [
      'text with times',
      '2026-11-21 12:00:01 x\ny',
      [
        ['text', '2026-11-21 12:00:01 x', 1e9],
        ['text', 'y', 1],
      ],
    ],
    ['a load balancer', `${alb}\n`, [['elb', alb, 1e9]]],
    ['flow logs', `${vpcNames}\n${vpc}\n`, [['vpc_flow', vpc, 1e9]]],
    ['CloudFront', `#Version: 1.0\n#Fields: date time\n${cloudfront}\n`, [['cloudfront', cloudfront, 1e9]]],
    [
      'documents',
      '{"time":1795262401,"msg":"m"}\n{"msg":"n"}',
      [
        ['json', 'm', 1e9],
        ['json', 'n', 0],
      ],
    ],
    [
      'CloudTrail',
      gzipSync(JSON.stringify({ Records: [trail, trail, { ...trail, eventName: 'x' }] })),
      [trail, trail, { ...trail, eventName: 'x' }].map(record => ['cloudtrail', JSON.stringify(record), 1e9]),
    ],
    [
      'CloudTrail over lines',
      JSON.stringify({ Records: [{ a: 1 }] }, null, 1),
      [['cloudtrail', '{    "a": 1   }', 0]],
    ],
    ['nothing', '', []],
  ];
  test.each(rows)('%s', async (_, body, want) => {
    expect(await linesOf(body)).toEqual(want);
  });

  test('are split equally however they arrive', async () => {
    const body = Array.from({ length: 200 }, (_, i) => `line ${i}`).join('\n');
    const whole = await linesOf(body, 1_000_000, 1_000_000);
    expect(whole).toHaveLength(200);
    expect(await linesOf(body, 64, 13)).toEqual(whole);
    expect(await linesOf(gzipSync(body), 64, 1)).toEqual(whole);
  });

  test('fail with invalid gzip or too much data', async () => {
    await expect(linesOf(gzipSync('x'.repeat(10_000)).subarray(0, -9))).rejects.toThrow(
      'unexpected end of file',
    );
    async function* one() {
      yield gzipSync(Buffer.alloc(100_000));
    }
    const read = async () => {
      for await (const _ of objectBatches(one(), { maxBytes: 99_999 }));
    };
    await expect(read()).rejects.toThrow('decompresses to more than 99999 bytes');
  });
});

test('any bytes are decoded or refused', async () => {
  const firehose = JSON.stringify({
    requestId: 'r',
    records: [{ data: packed(envelope()).toString('base64') }, { data: 'eA==' }],
  });
  const bulk =
    '{"create":{"_index":"a"}}\n{"message":"m","@timestamp":"2026-11-21"}\n{"delete":{"_id":"1","_index":"b"}}\n';
  const targets = [
    { receiver: () => firehoseReceiver({ fields: DEFAULT_FIELDS, labels: [] }), good: firehose, gzip: false },
    { receiver: () => bulkReceiver({ fields: DEFAULT_FIELDS, index: '' }), good: bulk, gzip: false },
    { receiver: () => cloudWatchReceiver([]), good: JSON.stringify(envelope()), gzip: true },
  ];
  const changed = fc.record({
    target: fc.constantFrom(...targets),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    byte: fc.nat(255),
    cut: fc.boolean(),
    random: fc.option(fc.uint8Array({ maxLength: 100 })),
  });
  await fc.assert(
    fc.asyncProperty(changed, async ({ target: { receiver, good, gzip }, at, byte, cut, random }) => {
      const bytes = Buffer.from(random ?? good);
      const offset = Math.floor(at * bytes.length);
      if (bytes.length > 0) bytes[offset] = byte;
      const body = cut ? bytes.subarray(0, offset) : bytes;
      await holds(receiver(), gzip ? gzipSync(body) : body);
    }),
    { numRuns: 3000 },
  );
});
