/** Columns of the frequent fields of lines. */
import { zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { columnName, fieldColumns } from '../../shared/server/open-data/entry-fields.ts';
import { EntryTable } from '../../shared/server/open-data/entry-table.ts';
import { parquetFile } from '../../shared/server/open-data/parquet-file.ts';
import { schemaOf } from '../http/parquet-read.ts';

function tableOf(lines: readonly string[]): EntryTable {
  const table = new EntryTable();
  for (const [i, line] of lines.entries()) table.add(BigInt(i), line, { labels: {}, metadata: {} });
  return table;
}

async function rowsOf(lines: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const { buffer } = Uint8Array.from(await parquetFile(tableOf(lines)));
  return parquetReadObjects({ file: buffer, compressors: { ZSTD: bytes => zstdDecompressSync(bytes) } });
}

test.each([
  [['{"a":1}', '{"a":2.5}'], 'DOUBLE', [1, 2.5]],
  [['{"a":1}', '{"a":null}'], 'INT64', [1n, null]],
  [['a=1', 'a=x'], 'BYTE_ARRAY STRING', ['1', 'x']],
  [['a=true', '{"a":false}', 'a=true'], 'BOOLEAN', [true, false, true]],
  [['a=007', 'a=1'], 'BYTE_ARRAY STRING', ['007', '1']],
  [['a=', 'a=1'], 'INT64', [null, 1n]],
  [['b=1 a=""', 'a=x'], 'BYTE_ARRAY STRING', ['', 'x']],
  [['{"a":-9223372036854775807}', '{"a":-12}'], 'INT64', [-9223372036854775807n, -12n]],
  [['{"a":9223372036854775808}', '{"a":1}'], 'BYTE_ARRAY STRING', ['9223372036854775808', '1']],
  [['{"a":{"b":1}}', '{"a":12345678901234567890}'], 'BYTE_ARRAY STRING', ['{"b":1}', '12345678901234567890']],
  [['{"a":1234567890123456789}', 'b'], 'INT64', [1234567890123456789n, null]],
  [
    ['a=-999999999', 'a=999999999', 'a=-1000000000', 'a=-0'],
    'INT64',
    [-999999999n, 999999999n, -1000000000n, 0n],
  ],
  [['{"a":["x",{"y":"]"}],"b":2}', '{"a":"\\u00e9\\"q"}'], 'BYTE_ARRAY STRING', ['["x",{"y":"]"}]', 'é"q']],
  // The kernel leaves these to the parser, or they have no fields.
  [['  {"a":1}', '{"\\u0061":2}', 'some words before a=3'], 'INT64', [1n, 2n, null]],
  [['{"a":1,"a":2}', '{"a":1,"a":null}', 'a=1 a=2'], 'INT64', [2n, null, 1n]],
  [['GET "x" a=1', 'a=1', 'a="q\\"r" b', 'a=1 b"'], 'BYTE_ARRAY STRING', [null, '1', 'q"r', null]],
])('%j', async (lines, type, want) => {
  expect(schemaOf(await parquetFile(tableOf(lines)))).toContainEqual(`optional field_a ${type}`);
  expect((await rowsOf(lines)).map(row => row.field_a)).toEqual(want);
});

test('numbers are those of JavaScript', async () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => `${value}`),
    fc
      .tuple(fc.constantFrom('', '-'), fc.nat(99_999), fc.nat(9_999_999))
      .map(([sign, a, b]) => `${sign}${a}.${b}`),
    fc.constantFrom(
      '-0.0',
      '0.5',
      '00.5',
      '1.',
      '.5',
      '1.2.3',
      '1-2',
      '-',
      '-.5',
      '1e5',
      '1.5E-3',
      '123456789012.345',
    ),
  );
  await fc.assert(
    fc.asyncProperty(number, async text => {
      const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,2})?$/.test(text);
      const [{ field_a: value }] = await rowsOf([`a=${text}`, 'a=0.5']);
      // Longer ones are texts.
      if (text.length < 18) expect(value).toBe(isNumber ? Number(text) : text);
    }),
  );
});

test('a field without values, or in fewer than a tenth of the rows, has no column', () => {
  const rare = Array.from({ length: 20 }, (_, i) => (i === 7 ? 'c=1 b=2' : 'b=2'));
  expect(fieldColumns(tableOf(rare)).map(({ name }) => name)).toEqual(['field_b']);
  expect(fieldColumns(tableOf(['{"a":null,"b":""}', '{"b":1}'])).map(({ name }) => name)).toEqual([
    'field_b',
  ]);
});

describe('columns of any JSON lines', () => {
  const fields = fc
    .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue())
    // The parser makes texts of such numbers.
    .filter(object => !/\d{16}/.test(JSON.stringify(object)));

  test('have the values of JSON.parse, and distinct names', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fields, { minLength: 1, maxLength: 8 }), async objects => {
        const lines = objects.map(object => JSON.stringify(object));
        const parsed = lines.map(line => JSON.parse(line) as Record<string, unknown>);
        const columns = fieldColumns(tableOf(lines));
        expect(new Set(columns.map(({ name }) => name)).size).toBe(columns.length);
        const rows = await rowsOf(lines);
        const names = new Set(parsed.flatMap(object => Object.keys(object)));
        for (const { name: column, type } of columns) {
          const sources = [...names].filter(name => columnName(name) === column);
          expect(sources).not.toEqual([]);
          if (sources.length > 1) continue;
          const want = parsed.map(object =>
            Object.hasOwn(object, sources[0]) ? jsonValueOf(type, object[sources[0]]) : null,
          );
          expect(rows.map(row => row[column])).toEqual(want);
        }
      }),
    );
  });
});

function jsonValueOf(type: string, value: unknown): unknown {
  if (value === null) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (type === 'STRING') return text.toWellFormed();
  if (text === '') return null;
  if (type === 'BOOLEAN') return text === 'true';
  return type === 'INT64' ? BigInt(text) : Number(text);
}
