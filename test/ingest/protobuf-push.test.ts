import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { decodeProtobufPush } from '../../shared/write/ingest/protobuf-push.ts';
import { entriesOf, holds, refusal } from './entries.ts';

const { root } = protobuf.parse(
  `syntax = "proto3";
  message Timestamp { int64 seconds = 1; int32 nanos = 2; }
  message Pair { string name = 1; string value = 2; }
  message Entry { Timestamp timestamp = 1; string line = 2; repeated Pair structuredMetadata = 3; repeated Pair parsed = 4; }
  message Stream { string labels = 1; repeated Entry entries = 2; uint64 hash = 3; }
  message Push { repeated Stream streams = 1; string format = 2; }`,
  { keepCase: true },
);
const Push = root.lookupType('Push');
const encode = (push: object): Buffer => Buffer.from(Push.encode(Push.fromObject(push)).finish());
const decode = (bytes: Uint8Array) => entriesOf(atOnce(decodeProtobufPush(Buffer.from(bytes))));
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

const text = fc.string({ maxLength: 40, unit: 'grapheme' });
const pair = fc.record({ name: text, value: text });
const entry = fc.record({
  timestamp: fc.record({
    seconds: fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
    nanos: fc.integer({ min: 0, max: 999_999_999 }),
  }),
  line: fc.oneof(
    text,
    fc.nat(40_000).map(length => 'x'.repeat(length)),
  ),
  structuredMetadata: fc.array(pair, { maxLength: 4 }),
  parsed: fc.array(pair, { maxLength: 1 }),
});
const labels = fc.dictionary(fc.stringMatching(/^[a-c_]{1,3}$/), fc.string({ minLength: 1, maxLength: 9 }), {
  maxKeys: 4,
});
const push = fc.record({
  streams: fc.array(
    fc.record({
      labels: labels.map(pairs => formatLabels(labelsOf(pairs))),
      entries: fc.array(entry, { maxLength: 6 }),
      hash: fc.nat(),
    }),
    { maxLength: 4 },
  ),
  format: text,
});

describe('decodeProtobufPush', () => {
  test('decodes the output of an independent encoder', () => {
    fc.assert(
      fc.property(push, sent => {
        const want = sent.streams.flatMap(stream =>
          stream.entries.map(({ timestamp, line, structuredMetadata }) => ({
            stream: stream.labels,
            ns: BigInt(timestamp.seconds) * 1_000_000_000n + BigInt(timestamp.nanos),
            line,
            metadata: structuredMetadata.map(({ name, value }) => [name, value]),
          })),
        );
        expect(decode(encode(sent))).toEqual(want);
      }),
    );
  });

  test('fails on a changed push only with a client error', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(push, fc.array(change, { minLength: 1, maxLength: 3 }), (sent, changes) => {
        const bytes = encode(sent);
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
        return holds(() => decode(bytes));
      }),
      { numRuns: 1000 },
    );
  });

  test('fails on random bytes only with a client error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), bytes => holds(() => decode(bytes))),
      { numRuns: 1000 },
    );
  });

  // [case, bytes, entries as stream, ns, line]
  const accepted: [string, string, [string, bigint, string][]][] = [
    ['nothing', '', []],
    ['a stream of nothing', '0a00', []],
    ['an empty entry', '0a02 1200', [['{}', 0n, '']]],
    ['an empty timestamp', '0a04 1202 0a00', [['{}', 0n, '']]],
    ['labels behind the entries', '0a0f 1203 120178 0a08 7b613d2262227d20', [['{a="b"}', 0n, 'x']]],
    ['the last of two lines', '0a08 1206 120178 120179', [['{}', 0n, 'y']]],
    ['line before timestamp', '0a09 1207 120178 0a02 0801', [['{}', 1_000_000_000n, 'x']]],
    ['seconds in 10 bytes', '0a11 120f 0a0d 08ffffffffffffffffff01 1001', [['{}', -999_999_999n, '']]],
    [
      'unknown fields of every type',
      '0a1b 1803 2005 2a0161 3500000000 390000000000000000 4308 0144 1200',
      [['{}', 0n, '']],
    ],
    ['an unknown field of the push', '1a0161 0a02 1200', [['{}', 0n, '']]],
    ['nested groups', '1b23080124 1c 0a02 1200', [['{}', 0n, '']]],
  ];
  test.each(accepted)('%s', (_, bytes, want) => {
    expect(decode(hex(bytes)).map(({ stream, ns, line }) => [stream, ns, line])).toEqual(want);
  });

  // [case, bytes, message]
  const refused: [string, string, string][] = [
    ['a length past the end', '0a05 00', 'unexpected EOF'],
    ['a tag cut off', '8a', 'unexpected EOF'],
    ['an entry past its stream', '0a02 1201', 'unexpected EOF'],
    ['a line past its entry', '0a05 1202 1202 61', 'unexpected EOF'],
    ['a fixed number cut off', '1900', 'unexpected EOF'],
    ['a varint of 11 bytes', '18 ffffffffffffffffffff01', 'proto: integer overflow'],
    ['a negative length', '0a ffffffffffffffffff01', 'proto: negative length found during unmarshaling'],
    ['field 0', '00', 'proto: PushRequest: illegal tag 0 (wire type 0)'],
    ['the end of no group', '1c', 'proto: PushRequest: illegal tag 3 (wire type 4)'],
    ['wire type 7', '1f', 'proto: illegal wireType 7'],
    ['groups without end', '1b'.repeat(200), 'proto: groups nested too deeply'],
    ['streams as a number', '0801', 'proto: wrong wireType = 0 for field Streams'],
    ['labels as a number', '0a02 0801', 'proto: wrong wireType = 0 for field Labels'],
    ['entries as a number', '0a02 1001', 'proto: wrong wireType = 0 for field Entries'],
    ['line as a number', '0a04 1202 1001', 'proto: wrong wireType = 0 for field Line'],
    ['timestamp as a number', '0a04 1202 0801', 'proto: wrong wireType = 0 for field Timestamp'],
    ['metadata as a number', '0a04 1202 1801', 'proto: wrong wireType = 0 for field StructuredMetadata'],
    ['seconds as bytes', '0a06 1204 0a02 0a00', 'proto: wrong wireType = 2 for field Seconds'],
    ['name as a number', '0a06 1204 1a02 0801', 'proto: wrong wireType = 0 for field Name'],
    ['negative nanos', '0a0f 120d 0a0b 10ffffffffffffffffff01', 'timestamp: nanos -1 not in range [0, 1e9)'],
    ['nanos of a second', '0a0a 1208 0a06 108094ebdc03', 'timestamp: nanos 1000000000 not in range [0, 1e9)'],
    [
      'seconds after the year 9999',
      '0a0b 1209 0a07 088083d1ffaf07',
      'timestamp: seconds 253402300800 after 10000-01-01',
    ],
    [
      'bad labels',
      '0a03 0a017b',
      "couldn't parse labels: 1:2: parse error: unexpected end of input inside braces",
    ],
  ];
  test.each(refused)('refuses %s', (_, bytes, message) => {
    expect(refusal(() => decode(hex(bytes)))).toEqual([400, message]);
  });

  test('keeps bytes of a line that are not UTF-8', () => {
    const columns = atOnce(decodeProtobufPush(hex('0a06 1204 1202 ff61')));
    expect(columns.bytes.subarray(columns.lineStart[0], columns.lineEnd[0])).toEqual(hex('ff61'));
  });

  test('merges streams with equal text, which need not be canonical', () => {
    const columns = atOnce(
      decodeProtobufPush(
        encode({
          streams: [
            { labels: '{a="1", b="2"}', entries: [{ line: 'x' }] },
            { labels: "{b='2',a='1'}", entries: [{ line: 'y' }] },
          ],
        }),
      ),
    );
    expect(columns.streams.map(stream => stream.text)).toEqual(['{a="1", b="2"}']);
    expect(entriesOf(columns).map(({ line }) => line)).toEqual(['x', 'y']);
  });

  test('does not copy lines', () => {
    const bytes = encode({ streams: [{ labels: '{a="b"}', entries: [{ line: 'x' }] }] });
    expect(atOnce(decodeProtobufPush(bytes)).bytes).toBe(bytes);
  });

  // [case, bytes]
  const large: [string, () => Buffer, string][] = [
    ['entries', () => lengthDelimited(0x0a, Buffer.from('1200'.repeat(1_000_001), 'hex')), '1000000 entries'],
    [
      'metadata pairs',
      () => {
        const entry = lengthDelimited(0x12, Buffer.from('1a00'.repeat(100_000), 'hex'));
        return lengthDelimited(0x0a, Buffer.concat(Array.from({ length: 41 }, () => entry)));
      },
      '4000000 metadata pairs',
    ],
    [
      'fields of an entry',
      () => lengthDelimited(0x0a, lengthDelimited(0x12, Buffer.from('1200'.repeat(300_001), 'hex'))),
      '300000 fields of one entry',
    ],
    [
      'fields of a time',
      () =>
        lengthDelimited(
          0x0a,
          lengthDelimited(0x12, lengthDelimited(0x0a, Buffer.from('0800'.repeat(300_001), 'hex'))),
        ),
      '300000 fields of one entry',
    ],
    [
      'fields of a group that nobody knows',
      () => Buffer.from(`7b${'7800'.repeat(300_001)}`, 'hex'),
      '300000 fields of one entry',
    ],
    [
      'bytes of the names of an entry',
      () => {
        const name = lengthDelimited(0x0a, Buffer.alloc(60_000, 'n'));
        const pair = lengthDelimited(0x1a, name);
        return lengthDelimited(
          0x0a,
          lengthDelimited(0x12, Buffer.concat(Array.from({ length: 170 }, () => pair))),
        );
      },
      '300000 fields of one entry',
    ],
    [
      'bytes of a name',
      () => {
        const name = lengthDelimited(0x0a, Buffer.alloc(65_537, 'n'));
        return lengthDelimited(0x0a, lengthDelimited(0x12, lengthDelimited(0x1a, name)));
      },
      '65536 bytes of one metadata name',
    ],
    [
      'characters of all names',
      () =>
        encode({
          streams: Array.from({ length: 257 }, (_, i) => ({
            entries: [{ structuredMetadata: [{ name: `${i}`.padStart(65_536, 'n') }] }],
          })),
        }),
      '16777216 characters of metadata names',
    ],
    ['parts', () => Buffer.from('0a00'.repeat(1_000_001), 'hex'), '1000000 parts that name a stream'],
    [
      'streams',
      () => encode({ streams: Array.from({ length: 100_001 }, (_, i) => ({ labels: `{a="${i}"}` })) }),
      '100000 streams',
    ],
    [
      'metadata names',
      () =>
        encode({
          streams: Array.from({ length: 11 }, (_, j) => ({
            entries: [
              { structuredMetadata: Array.from({ length: 10_000 }, (_, i) => ({ name: `n${j}_${i}` })) },
            ],
          })),
        }),
      '100000 metadata names',
    ],
  ];
  test.each(large)('bounds the number of %s', (_, bytes, what) => {
    expect(refusal(() => decode(bytes()))).toEqual([413, `request body too large: more than ${what}`]);
  });
});

function lengthDelimited(tag: number, content: Buffer): Buffer {
  const head = [tag];
  let rest = content.length;
  for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...head, rest]), content]);
}
