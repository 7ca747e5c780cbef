/** Contents of columns: cells of lines, their bytes, and which columns are chosen. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import type { FieldColumnWriter } from '../../shared/execution/fields/field-column-writer.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import type { ColumnCells } from '../../shared/storage/columns/column-cells.ts';
import { decodeColumn, FALLBACK_ID } from '../../shared/storage/columns/column-decoder.ts';
import { encodeColumn } from '../../shared/storage/columns/column-encoder.ts';
import { fieldKey, fieldOfKey } from '../../shared/storage/columns/column-field.ts';
import {
  MAX_NUMBER_BYTES,
  mantissaOfNumber,
  ShapeTable,
  valueOfNumber,
  writeNumber,
} from '../../shared/storage/columns/number-text.ts';
import { textAt, textListOf } from '../../shared/storage/columns/text-list.ts';
import { makePage } from '../pipeline/support.ts';
import { blocksOf, cellsOfColumn, fieldColumnsOfPage } from './support.ts';

const pageOf = (lines: readonly string[]) => makePage(lines.map(line => ({ line })));

describe('cells of a field', () => {
  const P = 'parse';
  // Lines, parser, label name, cells.
  const table: [string, string[], 'json' | 'logfmt', string, (string | undefined)[]][] = [
    [
      'values as written',
      ['{"a":"x"}', '{"a":1.50}', '{"a":true}', '{"a":""}'],
      'json',
      'a',
      ['x', '1.50', 'true', ''],
    ],
    [
      'absent and null',
      ['{"b":1}', '{"a":null}', '{"a":1}', '{}'],
      'json',
      'a',
      [undefined, undefined, '1', undefined],
    ],
    ['escapes', ['{"a":"x\\n\\u00e9"}', '{"a":"\\ud800"}', '{"a":"\\q"}'], 'json', 'a', ['x\né', P, P]],
    ['twice', ['{"a":1,"a":2}', '{"a":null,"a":2}', '{"a":1}'], 'json', 'a', [P, P, '1']],
    ['objects and arrays', ['{"a":{"b":1}}', '{"a":[1]}', '{"a":1}'], 'json', 'a', [P, P, '1']],
    ['nested', ['{"n":{"k":1}}', '{"n":{"k":2},"x":1}', '{"n":1}'], 'json', 'n_k', ['1', '2', undefined]],
    [
      'one name of two keys',
      ['{"a.b":1}', '{"a":{"b":1}}', '{"a.b":2}', '{"a.b":3,"a_b":4}'],
      'json',
      'a_b',
      ['1', P, '2', P],
    ],
    [
      'lines that are not strict',
      ['{"a":1}', '{"a":1} x', '{"a":1,}', ' {"a":1}', '{"a":1', 'a=1', ''],
      'json',
      'a',
      ['1', P, P, P, P, P, P],
    ],
    ['keys with escapes', ['{"a":1}', '{"\\u0061":1}'], 'json', 'a', ['1', P]],
    ['labels of errors', ['{"a":1}', '{"a":1,"__error__":"x"}'], 'json', 'a', ['1', P]],
    ['arrays', ['{"t":[{"a":"]"}],"a":1}', '{"t":[}],"a":1}', '{"t":[{]}],"a":1}'], 'json', 'a', ['1', P, P]],
    [
      'pairs',
      ['a=1 b=2', 'b=2 a="x y"', 'b=2', 'b=1 a=', 'a="q\\"" b=1'],
      'logfmt',
      'a',
      ['1', 'x y', undefined, '', 'q"'],
    ],
    ['pairs twice', ['a=1 a=2', 'a=1', 'a-b=1 a=2'], 'logfmt', 'a', [P, '1', '2']],
    [
      'faults',
      ['a=1', 'a=1 b="', 'a=1 =x', 'free text a=1', '{"a":1}', ''],
      'logfmt',
      'a',
      ['1', P, P, P, P, P],
    ],
  ];
  test.each(table)('%s', (_, lines, parser, name, cells) => {
    const page = pageOf(lines);
    expect(cellsOfColumn(page, fieldColumnsOfPage(page).column(parser, name))).toEqual(cells);
  });

  test("bytes that are not UTF-8 are the parser's", () => {
    const page = makePage([{ line: Buffer.from('a=\xff b=1', 'latin1') }, { line: 'a=1 b=1' }]);
    expect(cellsOfColumn(page, fieldColumnsOfPage(page).column('logfmt', 'a'))).toEqual(['parse', '1']);
  });
});

const mantissa = fc.oneof(
  fc.integer({ min: -(10 ** 15) + 1, max: 10 ** 15 - 1 }),
  fc.integer({ min: 10_000, max: 70_000 }),
  fc.integer({ min: -3, max: 3 }),
);

describe('numbers', () => {
  const texts: [string, boolean][] = [
    ['0', true],
    ['200', true],
    ['-7', true],
    ['1.50', true],
    ['0.05', true],
    ['0.00', true],
    ['12.345ms', true],
    ['7µs', true],
    ['3KiB', true],
    ['1e3', true],
    ['123456789012345', true],
    ['-0.001', true],
    ['5x', true],
    ['', false],
    ['-', false],
    ['-0', false],
    ['-0.0', false],
    ['007', false],
    ['00', false],
    ['+1', false],
    ['.5', false],
    ['1.', false],
    ['1.2.3', false],
    ['1234567890123456', false],
    ['12345678.12345678', false],
    ['1 minute', false],
    ['10.1.2.3', false],
    ['x', false],
  ];
  test.each(texts)('%j', (text, isNumber) => {
    const shapes = new ShapeTable();
    const bytes = Buffer.from(text);
    const shape = shapes.read(bytes, 0, bytes.length);
    expect(shape >= 0).toBe(isNumber);
    if (shape < 0) return;
    const target = Buffer.alloc(MAX_NUMBER_BYTES);
    const end = writeNumber(target, 0, shapes.mantissa, shapes.shapes[shape]);
    expect(target.toString('utf8', 0, end)).toBe(text);
  });

  test('any decimal is restored with its text and its value', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.nat(9), fc.constantFrom('', 'ms', 's'), (whole, places, unit) => {
        const digits = String(Math.abs(whole) % 1e15).padStart(places + 1, '0');
        const sign = whole < 0 ? '-' : '';
        const number = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
        const bytes = Buffer.from(`${sign}${number}${unit}`);
        const shapes = new ShapeTable();
        const shape = shapes.read(bytes, 0, bytes.length);
        fc.pre(shape >= 0);
        const target = Buffer.alloc(MAX_NUMBER_BYTES);
        const end = writeNumber(target, 0, shapes.mantissa, shapes.shapes[shape]);
        expect(target.subarray(0, end)).toEqual(bytes);
        expect(valueOfNumber(shapes.mantissa, places)).toBe(Number(`${sign}${number}`));
      }),
    );
  });

  test('the digits of a number follow from its value', () => {
    fc.assert(
      fc.property(mantissa, fc.nat(15), (digits, places) => {
        expect(mantissaOfNumber(valueOfNumber(digits, places), places)).toBe(digits);
      }),
    );
    for (let places = 0; places <= 15; places++) {
      for (const digits of [10 ** 15 - 1, 1 - 10 ** 15, 10 ** 14 + 1, 1, 0])
        expect(mantissaOfNumber(valueOfNumber(digits, places), places)).toBe(digits);
    }
  });
});

const unit = fc.constantFrom('', 'ms', 'µs').map(text => Buffer.from(text));
const dictionaries: fc.Arbitrary<ColumnCells> = fc
  .uniqueArray(fc.string({ unit: 'grapheme', maxLength: 12 }), { minLength: 0, maxLength: 400 })
  .chain(values =>
    fc.array(fc.nat(values.length + 1), { maxLength: 600 }).map(
      (codes): ColumnCells => ({
        kind: 'dictionary',
        codes: Uint32Array.from(codes),
        values: textListOf(values.map(value => Buffer.from(value))),
        fallbackRows: codes.filter(code => code === 1).length,
      }),
    ),
  );
const numbers: fc.Arbitrary<ColumnCells> = fc
  .tuple(
    fc.array(fc.record({ places: fc.nat(15), unit }), { minLength: 1, maxLength: 5 }),
    fc.array(fc.record({ code: fc.nat(7), mantissa }), { maxLength: 300 }),
    fc.boolean(),
  )
  .map(([shapes, rows, isSorted]): ColumnCells => {
    const texts: Buffer[] = [];
    const sorted = isSorted ? rows.toSorted((a, b) => a.mantissa - b.mantissa) : rows;
    const codes = sorted.map(({ code }) => (code < 3 + shapes.length ? code : 0));
    const mantissas = sorted.map((row, i) => {
      if (codes[i] === 2) return texts.push(Buffer.from(`text ${i}`)) - 1;
      return codes[i] > 2 ? row.mantissa : 0;
    });
    return {
      kind: 'number',
      codes: Uint32Array.from(codes),
      mantissas: Float64Array.from(mantissas),
      shapes,
      texts: textListOf(texts),
      fallbackRows: codes.filter(code => code === 1).length,
    };
  });

/** Each row's value, by the cells themselves. */
function plainCells(cells: ColumnCells): (string | undefined | 'parse')[] {
  return Array.from(cells.codes, (code, row) => {
    if (code === 0) return undefined;
    if (code === 1) return 'parse';
    if (cells.kind === 'dictionary') return textAt(cells.values, code - 2).toString();
    if (code === 2) return textAt(cells.texts, cells.mantissas[row]).toString();
    const { places, unit: suffix } = cells.shapes[code - 3];
    const whole = cells.mantissas[row];
    const digits = String(Math.abs(whole)).padStart(places + 1, '0');
    const number = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
    return `${whole < 0 ? '-' : ''}${number}${suffix}`;
  });
}

/** A number in each row, all of one shape. */
const plainNumbers = fc.tuple(fc.array(mantissa, { maxLength: 300 }), fc.nat(15)).map(
  ([digits, places]): ColumnCells => ({
    kind: 'number',
    codes: new Uint32Array(digits.length).fill(3),
    mantissas: Float64Array.from(digits),
    shapes: [{ places, unit: Buffer.alloc(0) }],
    texts: textListOf([]),
    fallbackRows: 0,
  }),
);

describe('bytes of a column', () => {
  test('columns whose rows all have their own number share the IDs and hold only the numbers', () => {
    const cells: ColumnCells = {
      kind: 'number',
      codes: new Uint32Array(1000).fill(3),
      mantissas: Float64Array.from({ length: 1000 }, (_, row) => 7 * row),
      shapes: [{ places: 2, unit: Buffer.alloc(0) }],
      texts: textListOf([]),
      fallbackRows: 0,
    };
    const [column, another] = [1, 2].map(() =>
      decodeColumn(encodeColumn(cells, QUICK_COMPRESSION), 1000, 'test'),
    );
    expect(column.ids.buffer).toBe(another.ids.buffer);
    expect(column.heldBytes).toBe(8000);
    const { source, start, end } = column.bytesAt(15);
    expect(source.toString('utf8', start, end)).toBe('1.05');
    expect([column.valueAt(999), column.heldBytes]).toEqual(['69.93', 8000]);
  });

  test.each([
    ['dictionary', dictionaries],
    ['numbers', numbers],
    ['numbers of one shape', plainNumbers],
  ] as const)('%s: what was written is read', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, cells => {
        const rows = cells.codes.length;
        const column = decodeColumn(encodeColumn(cells, QUICK_COMPRESSION), rows, 'test');
        const read = Array.from(column.ids, id =>
          id === FALLBACK_ID ? 'parse' : id === 0 ? undefined : column.valueAt(id - 1),
        );
        expect(read).toEqual(plainCells(cells));
        for (let i = 0; i < column.count; i++) {
          const { source, start, end } = column.bytesAt(i);
          expect(source.toString('utf8', start, end)).toBe(column.valueAt(i));
        }
        expect(column.fallbackRows).toBe(cells.fallbackRows);
        column.numbers?.forEach((number, i) => {
          if (!Number.isNaN(number)) expect(number).toBe(Number(column.valueAt(i)));
        });
      }),
    );
  });

  test('any damage is an error or another column, never anything else', () => {
    fc.assert(
      fc.property(
        fc.oneof(dictionaries, numbers),
        fc.nat(),
        fc.nat(255),
        fc.boolean(),
        (cells, at, byte, cut) => {
          const rows = cells.codes.length;
          const bytes = encodeColumn(cells, QUICK_COMPRESSION);
          const offset = at % bytes.length;
          const damaged = cut ? bytes.subarray(0, offset) : bytes;
          if (!cut) damaged[offset] = byte;
          try {
            const column = decodeColumn(damaged, rows, 'test');
            expect(column.ids.length).toBe(rows);
            for (const id of column.ids) if (id !== FALLBACK_ID) expect(id).toBeLessThanOrEqual(column.count);
          } catch (error) {
            expect(error).toBeInstanceOf(CorruptionError);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a column that ends early is refused', () => {
    const cells: ColumnCells = {
      kind: 'dictionary',
      codes: Uint32Array.of(2, 0, 1),
      values: textListOf([Buffer.from('x')]),
      fallbackRows: 1,
    };
    const bytes = encodeColumn(cells, QUICK_COMPRESSION);
    expect(() => decodeColumn(bytes.subarray(0, -1), 3, 'page 1: column a')).toThrow(CorruptionError);
    expect(() => decodeColumn(bytes, 4, 'page 1: column a')).toThrow(
      'page 1: column a: 3 rows where the page has 4',
    );
    expect(() => decodeColumn(Buffer.concat([bytes, Buffer.alloc(1)]), 3, 'x')).toThrow(
      '1 bytes after the column',
    );
  });
});

describe('names of columns', () => {
  test.each([
    ['json', ['a'], 'a'],
    ['json', ['ctx', 'región x'], 'ctx_regi_n_x'],
    ['json', ['1', '2'], '_1_2'],
    ['logfmt', ['a-b'], 'a_b'],
  ] as const)('%s %j', (parser, path, name) => {
    expect(fieldOfKey(fieldKey({ parser, path, name }))).toEqual({ parser, path, name });
  });
  test('reads values of another kind', () => expect(fieldOfKey('xa')).toBeUndefined());
});

describe('choice of columns', () => {
  const lines = Array.from({ length: 400 }, (_, i) => {
    const hex = ((i * 2654435761) >>> 0).toString(16).padStart(8, '0');
    const duration = ((i * 7919) % 100_000) / 100;
    return `{"level":"${i % 9 === 0 ? 'error' : 'info'}","id":"${hex}${hex}","took":${duration.toFixed(2)},"rare":${i % 100 === 0 ? 1 : 'null'}}`;
  });
  const names = (options: Partial<ConstructorParameters<typeof FieldColumnWriter>[0]>, of = lines) =>
    blocksOf(pageOf(of), { compression: QUICK_COMPRESSION, ...options }).map(({ field }) => field.name);

  test('few values and measures, not ids', () => {
    expect(names({ maxShare: 1, maxRowBytes: 8 })).toEqual(['level', 'rare', 'took']);
  });
  test('the budget is spent on columns with few values first', () => {
    expect(names({ maxRowBytes: 1 })).toEqual(['level', 'rare']);
  });
  test('chooses no columns without a budget, or for few lines', () => {
    expect(names({ maxRowBytes: 0 })).toEqual([]);
    expect(names({}, lines.slice(0, 20))).toEqual([]);
  });
  test('a field that is often left to the parser has none', () => {
    const odd = lines.map((line, i) => (i % 8 === 0 ? line.replace('{', '{"level":"x",') : line));
    expect(names({ maxShare: 1, maxRowBytes: 8 }, odd)).toEqual(['rare', 'took']);
  });
});
