import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { acceptPush, type PushContext, type PushResult } from '../../shared/write/ingest/accept.ts';
import { decodeJsonPush } from '../../shared/write/ingest/json-push.ts';
import { decodeProtobufPush } from '../../shared/write/ingest/protobuf-push.ts';
import { PushColumns } from '../../shared/write/ingest/push-columns.ts';
import { streamOf } from '../../shared/write/ingest/stream-table.ts';
import { acceptedEntries, refusal } from './entries.ts';

const NOW = 1_704_164_645_500_000_000n; // 2024-01-02T03:04:05.5Z

type Value = [ns: bigint, line: string, metadata?: Record<string, string>];
interface Stream {
  stream: Record<string, string>;
  values: Value[];
}

function accept(
  streams: Stream[],
  limits: Partial<Limits> = {},
  more: Partial<PushContext> = {},
): PushResult {
  const body = JSON.stringify({ streams }, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return atOnce(
    acceptPush(atOnce(decodeJsonPush(Buffer.from(body))), {
      tenant: 't',
      limits: { ...DEFAULT_LIMITS, ...limits },
      nowNs: NOW,
      ...more,
    }),
  );
}

const one = (values: Value[], stream: Record<string, string> = { app: 'a' }): Stream[] => [
  { stream, values },
];
const entries = (result: PushResult) => acceptedEntries(result.accepted);
const lines = (result: PushResult) => entries(result).map(({ line }) => line);
const streamsOf = (result: PushResult) => result.accepted.columns.streams.map(({ text }) => text);
const STREAM = `{app="a", service_name="a"}`;

describe('the whole request', () => {
  test('is accepted with zero streams', () => {
    expect(refusal(() => accept([]))).toEqual([
      422,
      'error at least one valid stream is required for ingestion',
    ]);
  });

  test('is accepted with streams without entries, which are ignored', () => {
    const result = accept(one([], { a: 'x'.repeat(3000) }));
    expect([lines(result), result.error]).toEqual([[], undefined]);
  });

  test.each(['__backfill__', '__backfill_shard__'])('is refused with the reserved label %s', name => {
    const [status, message] = refusal(() => accept(one([], { [name]: '1' })));
    expect([status, message]).toEqual([400, `stream '{${name}="1"}' has the reserved label '${name}'`]);
  });

  // [metadata name, message]
  const names: [string, string][] = [
    ['', 'label name is empty'],
    ['__', 'normalization for label name "__" resulted in invalid name "_"'],
  ];
  test.each(names)('sanitizes the metadata name %j', (name, message) => {
    expect(refusal(() => accept(one([[NOW, 'x', { [name]: 'v' }]])))).toEqual([400, message]);
  });

  test('accepts old entries of backfill and marks the streams', () => {
    const result = accept(one([[0n, 'x']]), {}, { backfillShard: '7' });
    expect(result.error).toBeUndefined();
    expect(streamsOf(result)).toEqual([
      '{__backfill__="true", __backfill_shard__="7", app="a", service_name="a"}',
    ]);
  });
});

describe('service_name', () => {
  // [labels, fields, canonical text]
  const rows: [Record<string, string>, string[] | undefined, string][] = [
    [{ app: 'a' }, undefined, '{app="a", service_name="a"}'],
    [{ job: 'j', container: 'c' }, undefined, '{container="c", job="j", service_name="c"}'],
    [{ zone: 'z' }, undefined, '{service_name="unknown_service", zone="z"}'],
    [{}, undefined, '{service_name="unknown_service"}'],
    [{ service_name: 's', app: 'a' }, undefined, '{app="a", service_name="s"}'],
    [{ app: 'a' }, [], '{app="a"}'],
    [{ app: 'a', zone: 'z' }, ['zone'], '{app="a", service_name="z", zone="z"}'],
    [{ __aggregated_metric__: 'm', app: 'a' }, undefined, '{__aggregated_metric__="m", app="a"}'],
    [{ __pattern__: 'm', app: 'a' }, undefined, '{__pattern__="m", app="a"}'],
  ];
  test.each(rows)('the service name of %j is discovered by fields %j', (stream, fields, want) => {
    const limits = fields === undefined ? {} : { discoverServiceName: fields };
    expect(streamsOf(accept(one([[NOW, 'x']], stream), limits))).toEqual([want]);
    expect(streamsOf(accept(one([[NOW, 'x']], stream), limits))).toEqual([want]);
  });

  test('merges streams that become equal', () => {
    const result = accept([
      { stream: { app: 'b' }, values: [[NOW, 'w']] },
      { stream: { app: 'a' }, values: [[NOW, 'x']] },
      { stream: { app: 'a', service_name: 'a' }, values: [[NOW, 'y']] },
      { stream: { app: 'c' }, values: [[NOW, 'z']] },
    ]);
    expect(streamsOf(result).map(text => text.slice(0, 8))).toEqual(['{app="b"', '{app="a"', '{app="c"']);
    expect(entries(result).map(({ stream, line }) => `${stream[6]}${line}`)).toEqual([
      'bw',
      'ax',
      'ay',
      'cz',
    ]);
  });
});

describe('validation', () => {
  const many = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`l${i + 10}`, 'v']));
  const long = 'é'.repeat(1025);

  test('counts sixteen labels with service_name as fifteen', () => {
    expect(accept(one([[NOW, 'x']], { ...many, service_name: 's' })).error).toBeUndefined();
    const result = accept(one([[NOW, 'x']], { ...many, app: 'a' }));
    expect(result.error?.status).toBe(400);
    expect(result.error?.message).toBe(
      `entry for stream '${streamsOf(result)[0]}' has 16 label names; limit 15`,
    );
  });

  test('accepts labels at their limits', () => {
    expect(accept(one([[NOW, 'x']], { ['n'.repeat(1024)]: 'é'.repeat(1024) })).error).toBeUndefined();
  });

  test('refuses a duplicate label name', () => {
    const columns = new PushColumns(Buffer.from('x'));
    columns.streams.push(
      streamOf([
        { name: 'a', value: '1' },
        { name: 'a', value: '2' },
      ]),
    );
    columns.addEntry(0, 19_724, 0, 0, 1);
    const result = atOnce(acceptPush(columns, { tenant: 't', limits: DEFAULT_LIMITS, nowNs: NOW }));
    const text = '{a="1", a="2", service_name="unknown_service"}';
    expect(result.error?.message).toBe(`stream '${text}' has duplicate label name: 'a'`);
  });

  test('skips internal streams', () => {
    expect(accept(one([[NOW, 'x']], { __pattern__: 'p', app: long })).error).toBeUndefined();
  });

  test('refuses a protobuf time beyond 64-bit nanoseconds as too old, under any limits', () => {
    // seconds = -62135596800
    const body = Buffer.from('0a10120e0a0b088092b8c398feffffff01', 'hex');
    body[1] = body.length - 2;
    body[3] = body.length - 4;
    const columns = atOnce(decodeProtobufPush(body));
    const limits = { ...DEFAULT_LIMITS, rejectOldSamples: false };
    const { error } = atOnce(acceptPush(columns, { tenant: 't', limits, nowNs: NOW }));
    expect(error?.message).toMatch(
      /too old: 0001-01-01T00:00:00Z, oldest acceptable timestamp is: 1677-09-21T00:12:43Z$/,
    );
  });

  test('counts the bytes of accepted entries', () => {
    const result = accept(
      one([
        [NOW, 'abc', { 'k.k': 'vé' }],
        [0n, 'defg', { a: 'b' }],
        [NOW, 'hi'],
      ]),
    );
    expect([result.lineBytes, result.metadataBytes]).toEqual([5, 6]);
    expect(result.discards).toEqual([
      { reason: 'greater_than_max_sample_age', policy: '', entries: 1, bytes: 6 },
    ]);
  });
});

describe('grouping of messages', () => {
  const message = (values: Value[]) => accept(one(values)).error?.message;
  const old = (time: string) =>
    `entry for stream '${STREAM}' has timestamp too old: ${time}, oldest acceptable timestamp is: 2023-12-26T03:04:05Z`;

  test('prints one message once', () => {
    expect(message([[1n, 'x']])).toBe(old('1970-01-01T00:00:00Z'));
  });

  test('prints a message of three entries without fractions of a second', () => {
    expect(
      message([
        [1n, 'x'],
        [2n, 'y'],
        [NOW, 'z'],
        [3n, 'x'],
      ]),
    ).toBe(`3 errors like: ${old('1970-01-01T00:00:00Z')}`);
  });

  test('prints several messages', () => {
    expect(
      message([
        [1n, 'x'],
        [10n ** 9n, 'y'],
        [2n, 'z'],
      ]),
    ).toBe(`2 errors like: ${old('1970-01-01T00:00:00Z')}; 1 errors like: ${old('1970-01-01T00:00:01Z')}`);
  });

  test('counts a failed stream once', () => {
    const result = accept(
      one(
        [
          [NOW, 'x'],
          [NOW, 'y'],
        ],
        {},
      ),
      { discoverServiceName: [] },
    );
    expect(result.error?.message).toBe('error at least one label pair is required per stream');
  });

  test('counts messages beyond the maximum', () => {
    const text = message(Array.from({ length: 150 }, (_, i) => [BigInt(i) * 10n ** 9n, 'x'] as Value))!;
    expect(text.split('; ')).toHaveLength(101);
    expect(text.endsWith('; 50 more errors')).toBe(true);
  });

  test('bounds long messages', () => {
    const streams = Array.from({ length: 50 }, (_, i) => ({
      stream: { app: `${i}${'x'.repeat(100_000)}` },
      values: [[NOW, 'x']] as Value[],
    }));
    expect(accept(streams).error!.message.length).toBeLessThan(600_000);
  });
});

describe('truncated lines', () => {
  const cut = (line: string, identifier: string, maxLineSize = 8) =>
    accept(
      one([
        [NOW, line],
        [NOW, 'next line'],
      ]),
      {
        maxLineSize,
        maxLineSizeTruncate: true,
        maxLineSizeTruncateIdentifier: identifier,
      },
    );

  // [line, identifier, want]
  const rows: [string, string, string][] = [
    ['12345678', '..', '12345678'],
    ['123456789', '', '12345678'],
    ['123456789', '..', '123456..'],
    ['1234567890123', '12345678', '12345678'],
    ['abcdefghij', 'longer than the line', 'abcdefgh'],
  ];
  test.each(rows)('%j, %j', (line, identifier, want) => {
    const result = cut(line, identifier);
    expect(result.error).toBeUndefined();
    expect(lines(result)[0]).toBe(want);
  });
});

describe('increment_duplicate_timestamp', () => {
  const times = (values: Value[], on = true) =>
    entries(accept(one(values), { incrementDuplicateTimestamp: on })).map(({ ns }) => ns - NOW);

  // [case, values, offsets from now]
  const rows: [string, Value[], bigint[]][] = [
    [
      'different lines',
      [
        [NOW, 'a'],
        [NOW, 'b'],
        [NOW, 'c'],
      ],
      [0n, 1n, 2n],
    ],
    [
      'the same line',
      [
        [NOW, 'a'],
        [NOW, 'a'],
        [NOW, 'b'],
        [NOW, 'b'],
      ],
      [0n, 0n, 1n, 1n],
    ],
    [
      'different times',
      [
        [NOW, 'a'],
        [NOW + 1n, 'b'],
        [NOW, 'c'],
      ],
      [0n, 1n, 0n],
    ],
    [
      'refused ones do not count',
      [
        [NOW, 'a'],
        [0n, 'b'],
        [NOW, 'c'],
      ],
      [0n, 1n],
    ],
  ];
  test.each(rows)('%s', (_, values, want) => {
    expect(times(values)).toEqual(want);
  });

  test('does nothing if disabled', () => {
    expect(
      times(
        [
          [NOW, 'a'],
          [NOW, 'b'],
        ],
        false,
      ),
    ).toEqual([0n, 0n]);
  });

  test('continues over midnight', () => {
    const last = (NOW / NS_PER_DAY) * NS_PER_DAY - 1n;
    expect(
      times([
        [last, 'a'],
        [last, 'b'],
        [last, 'c'],
      ]),
    ).toEqual([last - NOW, last + 1n - NOW, last + 2n - NOW]);
  });

  test('is separate per stream', () => {
    const result = accept(
      [
        { stream: { app: 'a' }, values: [[NOW, 'x']] },
        { stream: { app: 'b' }, values: [[NOW, 'y']] },
      ],
      { incrementDuplicateTimestamp: true },
    );
    expect(entries(result).map(({ ns }) => ns)).toEqual([NOW, NOW]);
  });
});

describe('detected_level', () => {
  const level = (
    line: string,
    metadata: Record<string, string> = {},
    labels: Record<string, string> = { app: 'a' },
    limits: Partial<Limits> = {},
  ) =>
    entries(accept(one([[NOW, line, metadata]], labels), limits))[0]
      .metadata.filter(([name]) => name === 'detected_level')
      .map(([, value]) => value);

  // [case, line, metadata, labels, want]
  const rows: [string, string, Record<string, string>, Record<string, string>, string][] = [
    ['line', 'level=warn', {}, {}, 'warn'],
    ['nothing', 'x', {}, {}, 'unknown'],
    ['own, known', 'level=warn', { detected_level: 'info' }, { level: 'error' }, 'info'],
    ['own, normalized', 'level=warn', { detected_level: 'INFORMATION' }, { level: 'error' }, 'info'],
    ['own, kept', 'level=warn', { detected_level: 'Notice' }, { level: 'error' }, 'Notice'],
    ['own, by another name', 'level=warn', { 'detected.level': 'WRN' }, {}, 'warn'],
    ['label', 'level=warn', { level: 'debug' }, { level: 'ERR' }, 'error'],
    ['label, kept', 'level=warn', {}, { level: 'Notice' }, 'Notice'],
    ['label, first of the list', 'x', {}, { severity: 'info', level: 'warn', lvl: 'error' }, 'warn'],
    ['label, exact name', 'level=warn', {}, { LeVeL: 'error' }, 'warn'],
    ['metadata', 'level=warn', { level: 'FATAL' }, {}, 'fatal'],
    ['metadata, first of the list', 'x', { lvl: 'info', severity: 'warn', a: 'error' }, {}, 'warn'],
    ['metadata, kept', 'level=warn', { severity_text: 'loud' }, {}, 'loud'],
    ['severity number', 'level=warn', { severity_number: '17' }, {}, 'error'],
    ['severity number after a field', 'x', { severity_number: '17', severity_text: 'info' }, {}, 'info'],
    ['severity number after a label', 'x', { severity_number: '17' }, { level: 'info' }, 'info'],
    ['other metadata', 'level=warn', { a: 'error' }, {}, 'warn'],
  ];
  test.each(rows)('%s', (_, line, metadata, labels, want) => {
    expect(level(line, metadata, labels)).toEqual([want]);
  });

  test('is not set if disabled', () => {
    expect(level('level=warn', {}, {}, { discoverLogLevels: false })).toEqual([]);
    expect(level('level=warn', {}, {}, { allowStructuredMetadata: false })).toEqual([]);
  });

  test('uses configured fields and depth', () => {
    const limits = { logLevelFields: ['prio'], logLevelFromJsonMaxDepth: 1 };
    expect(level('{"prio":"dbg","level":"info"}', {}, {}, limits)).toEqual(['debug']);
    expect(level('{"a":{"prio":"dbg"}}', {}, {}, limits)).toEqual(['unknown']);
  });

  test('is right for many entries in sequence', () => {
    const values = Array.from(
      { length: 5000 },
      (_, i): Value => [
        NOW + BigInt(i),
        `level=${i % 2 ? 'info' : 'error'}`,
        i % 3 ? {} : { detected_level: 'WRN' },
      ],
    );
    const got = entries(accept(one(values))).map(({ metadata }) => metadata[0][1]);
    expect(got).toEqual(values.map((_, i) => (i % 3 === 0 ? 'warn' : i % 2 ? 'info' : 'error')));
  });

  test('becomes unknown beyond the number of levels that a code can represent', () => {
    const values = Array.from({ length: 65_600 }, (_, i): Value => [NOW, 'x', { level: `own ${i}` }]);
    const got = entries(accept(one(values)));
    expect(got[65_526].metadata[1][1]).toBe('own 65526');
    expect(got[65_599].metadata[1][1]).toBe('unknown');
  });
});
