/** Parquet files as two readers that know nothing of each other find them, and encodings at their edges. */
import { zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { ByteSink } from '../../shared/server/open-data/parquet/bytes.ts';
import {
  type ColumnChunk,
  lineColumn,
  mapColumns,
  optionalColumn,
  timeColumn,
} from '../../shared/server/open-data/parquet/columns.ts';
import { writeRuns } from '../../shared/server/open-data/parquet/encodings.ts';
import { parquetBytes, schema } from '../../shared/server/open-data/parquet/file.ts';
import { type OpenEntry, parquetFile } from '../../shared/server/open-data/parquet-file.ts';
import { schemaOf, throughArrow } from '../http/parquet-read.ts';
import { bySuite } from '../support/suite.ts';

const COMPRESSORS = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };

async function readObjects(file: Uint8Array): Promise<Record<string, unknown>[]> {
  const { buffer } = Uint8Array.from(file);
  return parquetReadObjects({
    file: buffer,
    compressors: COMPRESSORS,
    parsers: { timestampFromMicroseconds: (micros: bigint) => micros } as never,
  });
}

/** By both readers. */
async function bothRead(file: Uint8Array): Promise<Record<string, unknown>[]> {
  const rows = await readObjects(file);
  const through = await readObjects(throughArrow(file));
  expect(through).toEqual(rows);
  return rows;
}

function fileOf(
  column: string,
  schemaOfColumn: ReturnType<typeof schema.map>,
  chunks: readonly ColumnChunk[],
  rows: number,
) {
  expect(column).not.toBe('');
  return parquetBytes({ rows, schema: [schemaOfColumn], chunks, createdBy: 'test' });
}

const texts = fc.string({ unit: 'binary', maxLength: 20 }).map(text => text.toWellFormed());
const someTexts = fc.oneof(texts, fc.constantFrom('a', 'b', 'c'));

describe('columns', () => {
  test('of times, with differences of any size and sign', async () => {
    const offsets = fc.array(
      fc.oneof(
        fc.integer({ min: -5, max: 5 }),
        fc.maxSafeInteger().map(each => Math.trunc(each / 4)),
      ),
      { minLength: 1, maxLength: 400 },
    );
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }), offsets, async (first, rest) => {
        const own = Float64Array.from([0, ...rest]);
        const file = fileOf('t', schema.required('t', 'INT64'), [timeColumn('t', first, own)], own.length);
        const rows = await bothRead(file);
        expect(rows.map(({ t }) => t)).toEqual([...own].map(each => first + BigInt(each)));
      }),
      { numRuns: bySuite({ fast: 20, full: 200 }) },
    );
  });

  test('of texts, numbers and truths that rows may lack', async () => {
    const columns = fc.oneof(
      fc.record({
        type: fc.constant('BYTE_ARRAY' as const),
        values: fc.array(fc.option(someTexts), { minLength: 1, maxLength: 60 }),
      }),
      fc.record({
        type: fc.constant('BOOLEAN' as const),
        values: fc.array(fc.option(fc.boolean()), { minLength: 1, maxLength: 60 }),
      }),
      fc.record({
        type: fc.constant('DOUBLE' as const),
        values: fc.array(fc.option(fc.double({ noNaN: true })), { minLength: 1, maxLength: 60 }),
      }),
      fc.record({
        type: fc.constant('INT64' as const),
        values: fc.array(fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })), {
          minLength: 1,
          maxLength: 60,
        }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(columns, async ({ type, values }) => {
        const file = fileOf(
          'c',
          schema.optional('c', type),
          [optionalColumn('c', type, values)],
          values.length,
        );
        expect((await bothRead(file)).map(({ c }) => c ?? null)).toEqual(values);
      }),
      { numRuns: bySuite({ fast: 40, full: 400 }) },
    );
  });

  test('of maps, shared or not, some without pairs', async () => {
    const shared = fc.sample(fc.dictionary(texts, texts, { maxKeys: 4 }), { numRuns: 5, seed: 3 });
    const rows = fc.array(fc.oneof(fc.constantFrom(...shared), fc.dictionary(texts, texts, { maxKeys: 3 })), {
      minLength: 1,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(rows, async list => {
        const file = fileOf('m', schema.map('m'), mapColumns('m', list), list.length);
        expect((await bothRead(file)).map(({ m }) => ({ ...(m as object) }))).toEqual(
          list.map(each => ({ ...each })),
        );
      }),
      { numRuns: bySuite({ fast: 30, full: 300 }) },
    );
  });

  test('that are longer than a page', async () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `line ${i} `.repeat(i % 300 === 0 ? 2000 : 1));
    const file = fileOf(
      'line',
      schema.required('line', 'BYTE_ARRAY'),
      [lineColumn('line', lines)],
      lines.length,
    );
    const rows = await bothRead(file);
    expect(rows.map(({ line }) => line)).toEqual(lines);
    const levels = lines.map((_, i) => (i % 7 === 0 ? null : `level ${i % 3}`));
    const level = fileOf(
      'l',
      schema.optional('l', 'BYTE_ARRAY'),
      [optionalColumn('l', 'BYTE_ARRAY', levels)],
      lines.length,
    );
    expect((await bothRead(level)).map(({ l }) => l ?? null)).toEqual(levels);
    // With a dictionary: a byte a row would be 40 kB.
    expect(level.length).toBeLessThan(20_000);
  });

  test.each([
    ['a run', [5, 5, 5, 5, 5, 5, 5, 5, 5], 3, [18, 5]],
    ['a group', [1, 2, 3], 2, [3, 0b00111001, 0]],
    ['a group before a run', [1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], 1, [3, 1, 16, 1]],
    ['wide numbers', [300, 300, 300, 300, 300, 300, 300, 300], 9, [16, 44, 1]],
  ])('runs and groups: %s', (_, values, width, want) => {
    const out = new ByteSink();
    writeRuns(out, Uint32Array.from(values), 0, values.length, width);
    expect([...out.written()]).toEqual(want);
  });
});

describe('a file of entries', () => {
  const entries: readonly OpenEntry[] = [
    {
      timeNs: 1_767_600_000_123_456_789n,
      labels: { app: 'shop' },
      metadata: { trace: 'é' },
      line: '{"n":1,"took":1.5,"ok":true,"msg":"x"}',
    },
    {
      timeNs: 1_767_600_001_000_000_001n,
      labels: { app: 'shop', level: 'warn' },
      metadata: {},
      line: 'n=2 ok=false',
    },
  ];

  test('has columns that readers know by their types', async () => {
    const file = parquetFile(entries);
    expect(schemaOf(file)).toEqual([
      'required timestamp INT64 TIMESTAMP MICROS UTC',
      'required timestamp_ns INT64',
      'optional level BYTE_ARRAY STRING',
      'required line BYTE_ARRAY STRING',
      'required labels MAP',
      'repeated labels.key_value',
      'required labels.key_value.key BYTE_ARRAY STRING',
      'required labels.key_value.value BYTE_ARRAY STRING',
      'required metadata MAP',
      'repeated metadata.key_value',
      'required metadata.key_value.key BYTE_ARRAY STRING',
      'required metadata.key_value.value BYTE_ARRAY STRING',
      'optional field_msg BYTE_ARRAY STRING',
      'optional field_n INT64',
      'optional field_ok BOOLEAN',
      'optional field_took DOUBLE',
    ]);
    const [first, second] = await bothRead(file);
    expect(first).toEqual({
      timestamp: 1_767_600_000_123_456n,
      timestamp_ns: 1_767_600_000_123_456_789n,
      level: null,
      line: entries[0].line,
      labels: { app: 'shop' },
      metadata: { trace: 'é' },
      field_msg: 'x',
      field_n: 1n,
      field_ok: true,
      field_took: 1.5,
    });
    expect(second).toMatchObject({
      level: 'warn',
      field_n: 2n,
      field_ok: false,
      field_took: null,
      metadata: {},
    });
  });

  test('tells the bounds of its times, by which readers skip it', () => {
    const { buffer } = Uint8Array.from(parquetFile(entries));
    const { row_groups: groups, created_by: writer, num_rows: rows } = parquetMetadata(buffer);
    expect(writer).toMatch(/^logboom version /);
    expect(rows).toBe(2n);
    expect(groups[0].columns[1].meta_data!.statistics).toMatchObject({
      min_value: entries[0].timeNs,
      max_value: entries[1].timeNs,
      null_count: 0n,
    });
  });

  test('holds any entries', async () => {
    const entry = fc.record({
      timeNs: fc.bigInt({ min: 1_700_000_000n * 1_000_000_000n, max: 1_700_086_400n * 1_000_000_000n }),
      labels: fc.dictionary(texts, texts, { maxKeys: 3 }),
      metadata: fc.dictionary(texts, texts, { maxKeys: 3 }),
      line: fc.oneof(texts, fc.json(), fc.string({ unit: 'binary' })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 20 }), async list => {
        const rows = await bothRead(parquetFile(list));
        expect(rows.map(row => [row.timestamp_ns, row.line, { ...(row.labels as object) }])).toEqual(
          list.map(each => [each.timeNs, each.line.toWellFormed(), { ...each.labels }]),
        );
      }),
      { numRuns: bySuite({ fast: 20, full: 200 }) },
    );
  });
});
