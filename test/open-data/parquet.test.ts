/** Parquet files of entries, read by two independent readers: hyparquet and arrow-rs. */
import { isDeepStrictEqual } from 'node:util';
import { zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import type { EntryLabels } from '../../shared/server/open-data/entry-columns.ts';
import { EntryTable } from '../../shared/server/open-data/entry-table.ts';
import { parquetFile } from '../../shared/server/open-data/parquet-file.ts';
import { metadataOf, schemaOf, throughArrow } from '../http/parquet-read.ts';
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

interface OpenEntry extends EntryLabels {
  readonly timeNs: bigint;
  readonly line: string;
}

function fileOf(entries: readonly OpenEntry[]): Promise<Uint8Array> {
  const table = new EntryTable();
  for (const { timeNs, line, ...set } of entries) table.add(timeNs, line, set);
  return parquetFile(table);
}

/** Reads the file with both readers. */
async function bothRead(file: Uint8Array): Promise<Record<string, unknown>[]> {
  const rows = await readObjects(file);
  const through = await readObjects(throughArrow(file));
  expect(through).toEqual(rows);
  return rows;
}

const texts = fc.string({ unit: 'binary', maxLength: 20 }).map(text => text.toWellFormed());

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
    const file = await fileOf(entries);
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

  test('has the bounds of its times, by which readers skip it', async () => {
    const { row_groups: groups, created_by: writer, num_rows: rows } = metadataOf(await fileOf(entries));
    expect(writer).toMatch(/^logboom version /);
    expect(rows).toBe(2n);
    expect(groups[0].columns[1].meta_data!.statistics).toMatchObject({
      min_value: entries[0].timeNs,
      max_value: entries[1].timeNs,
      null_count: 0n,
    });
  });

  test('has row groups and pages that readers join', async () => {
    const many = Array.from(
      { length: 70_000 },
      (_, i): OpenEntry => ({
        timeNs: entries[0].timeNs + BigInt(i),
        labels: i % 7 === 0 ? {} : { level: `level ${i % 3}` },
        metadata: i % 2 === 0 ? { trace: `t${i}` } : {},
        line: `line ${i} `.repeat(i % 3000 === 0 ? 20_000 : 1),
      }),
    );
    const file = await fileOf(many);
    expect(metadataOf(file).row_groups.map(({ num_rows: rows }) => rows)).toEqual([65_536n, 4464n]);
    const rows = await bothRead(file);
    expect(rows).toHaveLength(many.length);
    // Compares without a printed difference, which would take minutes.
    const isRead = ({ timeNs, labels, metadata, line }: OpenEntry, i: number) =>
      rows[i].timestamp_ns === timeNs &&
      rows[i].line === line &&
      rows[i].level === (labels.level ?? null) &&
      isDeepStrictEqual({ ...(rows[i].labels as object) }, labels) &&
      isDeepStrictEqual({ ...(rows[i].metadata as object) }, metadata);
    expect(many.findIndex((entry, i) => !isRead(entry, i))).toBe(-1);
  });

  test('has row groups without a value of a field', async () => {
    const [without, count] = [67_000, 75_000];
    const many = Array.from(
      { length: count },
      (_, i): OpenEntry => ({
        timeNs: entries[0].timeNs + BigInt(i),
        labels: {},
        metadata: {},
        line: i < without ? 'text' : `n=${i} half=${i / 2} even=${i % 2 === 0} id=x${i} kind=k${i % 3}`,
      }),
    );
    const rows = await bothRead(await fileOf(many));
    const none = { field_n: null, field_half: null, field_even: null, field_id: null, field_kind: null };
    expect(rows[0]).toMatchObject({ level: null, ...none });
    expect(rows[without - 1]).toMatchObject(none);
    expect(rows[count - 2]).toMatchObject({
      field_n: BigInt(count - 2),
      field_half: (count - 2) / 2,
      field_even: true,
      field_id: `x${count - 2}`,
      field_kind: `k${(count - 2) % 3}`,
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
        const rows = await bothRead(await fileOf(list));
        expect(rows.map(row => [row.timestamp_ns, row.line, { ...(row.labels as object) }])).toEqual(
          list.map(each => [each.timeNs, each.line.toWellFormed(), { ...each.labels }]),
        );
      }),
      { numRuns: bySuite({ fast: 20, full: 200 }) },
    );
  });
});
