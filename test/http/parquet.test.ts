import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Labels, labelsOf, labelsToObject } from '../../shared/base/model/labels.ts';
import type { MatrixResult, ScalarResult, VectorResult } from '../../shared/execution/metrics/result.ts';
import type { QueryResult } from '../../shared/read/query/engine.ts';
import type { LogStream } from '../../shared/read/query/log-query.ts';
import { encodeParquet, RESULT_ROW_GROUP_ROWS } from '../../shared/server/http/parquet.ts';
import { metadataOf, type ReadRow, readRows, schemaOf, throughArrow } from './parquet-read.ts';

const encode = (result: QueryResult) => encodeParquet({ result });

function stream(labels: Labels, entries: readonly (readonly [bigint, string])[]): LogStream {
  return {
    labels,
    text: '',
    entries: entries.map(([timeNs, line]) => ({
      timeNs,
      line,
      structuredMetadata: undefined,
      parsed: undefined,
    })),
  };
}

function matrix(...series: readonly (readonly [Labels, readonly (readonly [number, number])[]])[]) {
  return {
    kind: 'matrix',
    series: series.map(([labels, points]) => ({
      labels,
      timesMs: Float64Array.from(points, ([timeMs]) => timeMs),
      values: Float64Array.from(points, ([, value]) => value),
    })),
    warnings: ['a warning'],
  } satisfies MatrixResult;
}

/** Rows that both readers must find. */
function rowsOf(result: QueryResult): ReadRow[] {
  switch (result.kind) {
    case 'streams':
      return result.streams.flatMap(({ labels, entries }) =>
        entries.map(({ timeNs, line }) => ({
          timestamp: timeNs,
          labels: wellFormed(labels),
          line: line.toWellFormed(),
        })),
      );
    case 'scalar':
      return [{ timestamp: BigInt(result.timeMs), labels: {}, value: result.value }];
    case 'vector':
      return result.samples.map(({ labels, value }) => ({
        timestamp: BigInt(result.timeMs),
        labels: wellFormed(labels),
        value,
      }));
    case 'matrix':
      return result.series.flatMap(({ labels, timesMs, values }) =>
        [...values].map((value, i) => ({
          timestamp: BigInt(timesMs[i]),
          labels: wellFormed(labels),
          value,
        })),
      );
  }
}

function wellFormed(labels: Labels): Record<string, string> {
  return labelsToObject(labels.map(({ name, value }) => ({ name, value: value.toWellFormed() })));
}

const LABELS = [
  'required labels MAP',
  'repeated labels.key_value',
  'required labels.key_value.key BYTE_ARRAY STRING',
  'required labels.key_value.value BYTE_ARRAY STRING',
];
const STREAM_SCHEMA = [
  'required timestamp INT64 TIMESTAMP NANOS UTC',
  ...LABELS,
  'required line BYTE_ARRAY STRING',
];
const METRIC_SCHEMA = ['required timestamp INT64 TIMESTAMP MILLIS UTC', ...LABELS, 'required value DOUBLE'];

const APP = labelsOf({ app: 'web', env: 'prod' });
const ONE_STREAM: QueryResult = { kind: 'streams', streams: [stream(APP, [[1n, 'x']])] };
const NO_VECTOR: VectorResult = { kind: 'vector', timeMs: 0, samples: [], warnings: [] };
const SCALAR: ScalarResult = { kind: 'scalar', timeMs: 1_700_000_000_123, value: 2 };

describe('both readers find the schema of', () => {
  test.each<[string, QueryResult, readonly string[]]>([
    ['streams', ONE_STREAM, STREAM_SCHEMA],
    ['no streams', { kind: 'streams', streams: [] }, STREAM_SCHEMA],
    ['a matrix', matrix([APP, [[1000, 1]]]), METRIC_SCHEMA],
    ['no matrix', matrix(), METRIC_SCHEMA],
    ['no vector', NO_VECTOR, METRIC_SCHEMA],
    ['a number', SCALAR, METRIC_SCHEMA],
  ])('%s', async (_, result, want) => {
    const file = await encode(result);
    expect(schemaOf(file)).toEqual(want);
    expect(schemaOf(throughArrow(file))).toEqual(want);
  });

  test('the old types, for readers that support no others', async () => {
    const types = async (result: QueryResult) =>
      metadataOf(await encode(result)).schema.map(({ converted_type }) => converted_type);
    expect(await types(ONE_STREAM)).toEqual([undefined, undefined, 'MAP', undefined, 'UTF8', 'UTF8', 'UTF8']);
    expect(await types(SCALAR)).toEqual([
      undefined,
      'TIMESTAMP_MILLIS',
      'MAP',
      undefined,
      'UTF8',
      'UTF8',
      undefined,
    ]);
  });
});

const FILE_CASES: readonly (readonly [string, QueryResult])[] = [
  ['no streams', { kind: 'streams', streams: [] }],
  ['a stream without labels', { kind: 'streams', streams: [stream([], [[1n, '']])] }],
  [
    'streams in their order, entries newest first',
    {
      kind: 'streams',
      streams: [
        stream(labelsOf({ app: 'b' }), [
          [5n, 'five'],
          [3n, 'three'],
        ]),
        stream(labelsOf({ app: 'a' }), [[4n, 'four']]),
      ],
    },
  ],
  [
    'nanoseconds that no double holds',
    {
      kind: 'streams',
      streams: [
        stream(APP, [
          [1_700_000_000_000_000_001n, 'a'],
          [1_700_000_000_000_000_002n, 'b'],
          [-(2n ** 63n), 'first'],
          [2n ** 63n - 1n, 'last'],
        ]),
      ],
    },
  ],
  [
    'text that is no Unicode, and other text',
    {
      kind: 'streams',
      streams: [
        stream(labelsOf({ a: '\ud800', b: '\ud801', c: '' }), [
          [1n, '\ud800'],
          [2n, 'x\udc00y'],
          [3n, '\ufeffmark'],
          [4n, '\u0000'],
          [5n, '😀 ünï'],
          [6n, ''],
        ]),
      ],
    },
  ],
  ['no series', matrix()],
  ['no samples', NO_VECTOR],
  ['a number', SCALAR],
  [
    'a vector in its order',
    {
      kind: 'vector',
      timeMs: 1_700_000_000_001,
      samples: [
        { labels: labelsOf({ a: '2' }), value: 3 },
        { labels: [], value: 2 },
        { labels: labelsOf({ a: '1', b: 'x' }), value: 1 },
      ],
      warnings: [],
    },
  ],
  [
    'a matrix with every odd number',
    matrix(
      [
        [],
        [
          [0, Number.NaN],
          [1, Infinity],
          [2, -Infinity],
        ],
      ],
      [
        APP,
        [
          [-1, -0],
          [8_640_000_000_000_000, 5e-324],
          [1, Number.MAX_VALUE],
        ],
      ],
    ),
  ],
];

describe('both readers find the rows of', () => {
  test.each(FILE_CASES)('%s', async (_, result) => {
    const file = await encode(result);
    const want = rowsOf(result);
    expect(Number(metadataOf(file).num_rows)).toBe(want.length);
    expect(await readRows(file)).toEqual(want);
    expect(await readRows(throughArrow(file))).toEqual(want);
  });

  test('several row groups and pages', async () => {
    const rows = 2 * RESULT_ROW_GROUP_ROWS + 1;
    const line = 'a line of some length '.repeat(5);
    const streams = [stream(APP, []), stream(labelsOf({ app: 'x' }), [])];
    for (let i = 0; i < rows; i++) {
      const { entries } = streams[Number(i % 3 === 0)];
      entries.push({
        timeNs: BigInt(i) ** 3n,
        line: `${line}${i}`,
        structuredMetadata: undefined,
        parsed: undefined,
      });
    }
    const result: QueryResult = { kind: 'streams', streams };
    const file = await encode(result);
    const want = rowsOf(result);
    expect(metadataOf(file).row_groups.map(group => Number(group.num_rows))).toEqual([
      RESULT_ROW_GROUP_ROWS,
      RESULT_ROW_GROUP_ROWS,
      1,
    ]);
    expect(await readRows(file)).toEqual(want);
    expect(await readRows(throughArrow(file))).toEqual(want);
  });
});

test('categories beyond the labels are dropped', async () => {
  const categories = { structuredMetadata: labelsOf({ trace: '1' }), parsed: labelsOf({ b: '2' }) };
  const entries = [{ timeNs: 1n, line: 'x', ...categories }];
  const file = await encode({ kind: 'streams', streams: [{ labels: APP, text: '', entries }] });
  expect(await readRows(file)).toEqual([{ timestamp: 1n, labels: { app: 'web', env: 'prod' }, line: 'x' }]);
});

test('nothing is written after the client disconnects', async () => {
  const left = new AbortController();
  left.abort();
  const encoded = encodeParquet({ result: ONE_STREAM }, left.signal);
  await expect(encoded).rejects.toBe(left.signal.reason);
});

/** Any 16-bit units: half of a surrogate pair may occur alone. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map(units => String.fromCharCode(...units));
const text = fc.oneof(anyText, fc.string({ unit: 'grapheme', maxLength: 40 }), fc.constantFrom('', 'a', 'b'));
const anyLabels = fc
  .array(fc.tuple(fc.stringMatching(/^[a-z][a-z0-9_]{0,4}$/), text), { maxLength: 5 })
  .map(pairs => labelsOf(pairs));
const anyStreams = fc.array(
  fc
    .tuple(
      anyLabels,
      fc.array(fc.tuple(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), text), { maxLength: 40 }),
    )
    .map(([labels, entries]) => stream(labels, entries)),
  { maxLength: 6 },
);
const anyTimeMs = fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 });
const anyMatrix = fc
  .array(fc.tuple(anyLabels, fc.array(fc.tuple(anyTimeMs, fc.double()), { maxLength: 40 })), { maxLength: 6 })
  .map(series => matrix(...series));

test('both readers find the rows of any response', async () => {
  const anyResult = fc.oneof(
    anyStreams.map((streams): QueryResult => ({ kind: 'streams', streams })),
    anyMatrix,
  );
  await fc.assert(
    fc.asyncProperty(anyResult, async result => {
      const file = await encode(result);
      const want = rowsOf(result);
      expect(await readRows(file)).toEqual(want);
      expect(await readRows(throughArrow(file))).toEqual(want);
    }),
    { numRuns: 200 },
  );
});
