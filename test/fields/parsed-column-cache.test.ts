/** Columns that are made of a page's lines in memory: which rows and names they know, and when they give up. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  FALLBACK_ID,
  type FieldColumns,
  type FieldColumnWants,
} from '../../shared/base/model/page-fields.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { MAX_FIELD_COLUMNS } from '../../shared/storage/columns/bounds.ts';
import { FALLBACK_CODE } from '../../shared/storage/columns/column-cells.ts';
import { columnOfCells, decodeColumn } from '../../shared/storage/columns/column-decoder.ts';
import { encodeColumn } from '../../shared/storage/columns/column-encoder.ts';
import { cellsOfName, entriesByName } from '../../shared/storage/columns/field-cells.ts';
import { FieldExtractor } from '../../shared/storage/columns/field-extractor.ts';
import { ParsedColumnCache } from '../../shared/storage/columns/parsed-column-cache.ts';
import { makePage } from '../pipeline/support.ts';

const wants = (...names: string[]): FieldColumnWants => ({ parser: 'json', names: new Set(names) });

/** Value of each row; undefined if it is absent, `parse` if the line must be parsed. */
function cells(page: FieldColumns | undefined, name: string): (string | undefined)[] | undefined {
  const column = page?.column('json', name)?.column;
  return (
    column &&
    Array.from(column.ids, id => {
      if (id === FALLBACK_ID) return 'parse';
      return id === 0 ? undefined : column.valueAt(id - 1);
    })
  );
}

const lines = Array.from(
  { length: 12 },
  (_, i) => `{"status":${200 + (i % 3)},"ms":${i}.5,"path":{"id":"p${i}"}}`,
);
const page = makePage(lines.map(line => ({ line })));
const [first, second] = [
  { firstRow: 0, rows: 5 },
  { firstRow: 5, rows: 7 },
];

describe('ParsedColumnCache', () => {
  test('holds the rows of added runs and leaves the others to the parser', () => {
    const cache = new ParsedColumnCache();
    expect(cache.for(wants('status'))).toBeUndefined();
    cache.add(wants('status'), [first], page);
    const parse = Array.from({ length: 7 }, () => 'parse');
    expect(cells(cache.for(wants('status')), 'status')).toEqual([
      '200',
      '201',
      '202',
      '200',
      '201',
      ...parse,
    ]);
    cache.add(wants('status'), [second], page);
    const all = lines.map((_, i) => `${200 + (i % 3)}`);
    expect(cells(cache.for(wants('status')), 'status')).toEqual(all);
  });

  test('answers a query only if all its names were added', () => {
    const cache = new ParsedColumnCache();
    cache.add(wants('status'), [first, second], page);
    expect(cache.for(wants('status', 'ms'))).toBeUndefined();
    cache.add(wants('ms'), [first, second], page);
    const both = cache.for(wants('status', 'ms'));
    expect(cells(both, 'ms')).toEqual(lines.map((_, i) => `${i}.5`));
    expect(cells(both, 'status')?.[4]).toBe('201');
    expect(cache.for({ parser: 'logfmt', names: new Set(['status']) })).toBeUndefined();
    expect(cache.for({ parser: 'json', names: 'all' })).toBeUndefined();
    expect(cache.heldBytes).toBeGreaterThan(2 * 4 * lines.length);
  });

  test('records that no line has a name, and which lines are valid if no name is wanted', () => {
    const cache = new ParsedColumnCache();
    cache.add(wants('missing'), [first, second], page);
    expect(cells(cache.for(wants('missing')), 'missing')).toEqual(lines.map(() => undefined));
    const guard = cache.for(wants())?.guard('json');
    expect([...guard!.ids]).toEqual(lines.map(() => 0));
    const broken = makePage([...lines.slice(1).map(line => ({ line })), { line: '{"status":1' }]);
    const odd = new ParsedColumnCache();
    odd.add(wants('status'), [first, second], broken);
    expect(cells(odd.for(wants('status')), 'status')?.at(-1)).toBe('parse');
    expect(odd.for(wants())?.guard('json')?.ids.at(-1)).toBe(FALLBACK_ID);
  });
});

test('columns of some runs stay as they are when lines of other pages are parsed, short or over 1 MiB', () => {
  const long = 'x'.repeat(300_000);
  const large = makePage(Array.from({ length: 6 }, (_, i) => ({ line: `{"v":"${i}","pad":"${long}"}` })));
  const small = makePage(Array.from({ length: 6 }, (_, i) => ({ line: `{"v":"a${i}"}` })));
  const some = [{ firstRow: 1, rows: 4 }];
  const caches = [small, large, small, large].map(one => {
    const cache = new ParsedColumnCache();
    cache.add(wants('v'), some, one);
    return cache;
  });
  const ofSmall = ['parse', 'a1', 'a2', 'a3', 'a4', 'parse'];
  const ofLarge = ['parse', '1', '2', '3', '4', 'parse'];
  const found = caches.map(cache => cells(cache.for(wants('v')), 'v'));
  expect(found).toEqual([ofSmall, ofLarge, ofSmall, ofLarge]);
});

describe('limits of ParsedColumnCache', () => {
  test('skips lines that mostly fit no parser or another one', () => {
    const cache = new ParsedColumnCache();
    cache.add(
      wants('status'),
      [first, second],
      makePage(lines.map((line, i) => ({ line: i % 2 ? line : 'a=b' }))),
    );
    expect(cache.for(wants('status'))).toBeUndefined();
    expect(cache.for(wants())).toBeUndefined();
  });

  test('skips nearly distinct values that are not numbers, but adds other names', () => {
    const many = makePage(Array.from({ length: 600 }, (_, i) => ({ line: `{"id":"x${i}y","a":"b"}` })));
    const cache = new ParsedColumnCache();
    cache.add(wants('id', 'a'), [{ firstRow: 0, rows: 600 }], many);
    expect(cache.for(wants('id', 'a'))).toBeUndefined();
    expect(cells(cache.for(wants('a')), 'a')).toEqual(Array.from({ length: 600 }, () => 'b'));
  });

  test('bounds names and runs', () => {
    const cache = new ParsedColumnCache();
    for (let i = 0; i < MAX_FIELD_COLUMNS + 5; i++) cache.add(wants(`name${i}`), [first, second], page);
    expect(cache.for(wants('name0'))).toBeDefined();
    expect(cache.for(wants(`name${MAX_FIELD_COLUMNS + 4}`))).toBeUndefined();
    const byRun = new ParsedColumnCache();
    for (let row = 0; row < 12; row++) byRun.add(wants('status'), [{ firstRow: row, rows: 1 }], page);
    expect(cells(byRun.for(wants('status')), 'status')?.[7]).toBe('201');
    // The ninth run is one too many.
    expect(cells(byRun.for(wants('status')), 'status')?.[8]).toBe('parse');
  });
});

/** A line with a field of that value, or without it, or one for another parser. */
const anyLine = fc.oneof(
  { weight: 8, arbitrary: fc.integer().map(v => `{"v":${v},"w":1}`) },
  { weight: 8, arbitrary: fc.integer({ min: -999, max: 999 }).map(v => `{"v":${v / 8}}`) },
  { weight: 4, arbitrary: fc.constantFrom('', 'x', 'y', '12ms', '-0', '\\n').map(v => `{"v":"${v}"}`) },
  fc.constantFrom('{"a":{"v":1},"b":2}', '{"v":1,"v":2}', '{"v":{"x":1}}', 'v=7', '{"v":null}', 'plain'),
);

test('a column of some runs, added in any order, equals the stored form of a column of these lines', () => {
  const runsOf = fc.array(fc.array(anyLine, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(runsOf, fc.infiniteStream(fc.nat()), (texts, order) => {
      let firstRow = 0;
      const runs = texts.map(({ length: rows }) => ({ firstRow: (firstRow += rows) - rows, rows }));
      const whole = makePage(texts.flat().map(line => ({ line })));
      const some = runs.filter(() => Number(order.next().value) % 3 > 0);
      const cache = new ParsedColumnCache();
      const shuffled = some.toSorted(() => (Number(order.next().value) % 2) - 0.5);
      for (const run of shuffled) cache.add(wants('v'), [run], whole);
      const learned = cache.for(wants('v'));

      const rows = some.flatMap(run => Array.from({ length: run.rows }, (_, i) => run.firstRow + i));
      const own = makePage(rows.map(row => ({ line: texts.flat()[row] })));
      const fields = new FieldExtractor().extract(own.lines, own.lineOffsets, own.rows);
      const entries = entriesByName(fields.json).get('v');
      if (learned === undefined || entries === undefined) return;
      const cells = cellsOfName(fields, fields.json, 'v', entries, 1 / 4)!.cells;
      const stored = decodeColumn(encodeColumn(cells, QUICK_COMPRESSION), own.rows, 'x');
      const { ids, fallbackRows, count } = learned.column('json', 'v')!.column;
      const found = learned.column('json', 'v')!.column;
      expect(rows.map(row => ids[row])).toEqual([...stored.ids]);
      expect(fallbackRows - (whole.rows - own.rows)).toBe(stored.fallbackRows);
      expect(count).toBe(stored.count);
      expect(found.numbers).toEqual(stored.numbers);
      const valuesOf = (column: typeof stored) => Array.from({ length: count }, (_, i) => column.valueAt(i));
      expect(valuesOf(found)).toEqual(valuesOf(stored));
      for (let row = 0; row < whole.rows; row++) if (!rows.includes(row)) expect(ids[row]).toBe(FALLBACK_ID);
      expect(cells.codes.filter(code => code === FALLBACK_CODE)).toHaveLength(stored.fallbackRows);
      expect(columnOfCells(cells).ids).toEqual(stored.ids);
    }),
  );
});
