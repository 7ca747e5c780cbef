/** Columns that are made of a page's lines in memory: which rows and names they know, and when they give up. */
import { describe, expect, test } from '@jest/globals';
import { FALLBACK_ID, type PromotedPage, type PromotedWants } from '../../shared/base/model/page-fields.ts';
import { MAX_COLUMNS } from '../../shared/storage/columns/bounds.ts';
import { ParsedColumnCache } from '../../shared/storage/columns/parsed-column-cache.ts';
import { makePage } from '../pipeline/support.ts';

const wants = (...names: string[]): PromotedWants => ({ parser: 'json', names: new Set(names) });

/** For each row the value, undefined where it is absent, `parse` where the line is to be parsed. */
function cells(page: PromotedPage | undefined, name: string): (string | undefined)[] | undefined {
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

describe('what is learned', () => {
  test('of the runs that were asked for; the others are left to the parser', () => {
    const learned = new ParsedColumnCache();
    expect(learned.for(wants('status'))).toBeUndefined();
    learned.learn(wants('status'), [first], page);
    const parse = Array.from({ length: 7 }, () => 'parse');
    expect(cells(learned.for(wants('status')), 'status')).toEqual([
      '200',
      '201',
      '202',
      '200',
      '201',
      ...parse,
    ]);
    learned.learn(wants('status'), [second], page);
    const all = lines.map((_, i) => `${200 + (i % 3)}`);
    expect(cells(learned.for(wants('status')), 'status')).toEqual(all);
  });

  test('of all names that were asked for, one time or another; only where all that are wanted are there', () => {
    const learned = new ParsedColumnCache();
    learned.learn(wants('status'), [first, second], page);
    expect(learned.for(wants('status', 'ms'))).toBeUndefined();
    learned.learn(wants('ms'), [first, second], page);
    const both = learned.for(wants('status', 'ms'));
    expect(cells(both, 'ms')).toEqual(lines.map((_, i) => `${i}.5`));
    expect(cells(both, 'status')?.[4]).toBe('201');
    expect(learned.for({ parser: 'logfmt', names: new Set(['status']) })).toBeUndefined();
    expect(learned.for({ parser: 'json', names: 'all' })).toBeUndefined();
    expect(learned.heldBytes).toBeGreaterThan(2 * 4 * lines.length);
  });

  test('that no line has a name, and which lines are sound where no name is wanted', () => {
    const learned = new ParsedColumnCache();
    learned.learn(wants('missing'), [first, second], page);
    expect(cells(learned.for(wants('missing')), 'missing')).toEqual(lines.map(() => undefined));
    const guard = learned.for(wants())?.guard('json');
    expect([...guard!.ids]).toEqual(lines.map(() => 0));
    const broken = makePage([...lines.slice(1).map(line => ({ line })), { line: '{"status":1' }]);
    const odd = new ParsedColumnCache();
    odd.learn(wants('status'), [first, second], broken);
    expect(cells(odd.for(wants('status')), 'status')?.at(-1)).toBe('parse');
    expect(odd.for(wants())?.guard('json')?.ids.at(-1)).toBe(FALLBACK_ID);
  });
});

describe('what is not', () => {
  test('lines that are mostly of no parser, or of another', () => {
    const learned = new ParsedColumnCache();
    learned.learn(
      wants('status'),
      [first, second],
      makePage(lines.map((line, i) => ({ line: i % 2 ? line : 'a=b' }))),
    );
    expect(learned.for(wants('status'))).toBeUndefined();
    expect(learned.for(wants())).toBeUndefined();
  });

  test('values that are nearly all different and no numbers; other names are learned beside them', () => {
    const many = makePage(Array.from({ length: 600 }, (_, i) => ({ line: `{"id":"x${i}y","a":"b"}` })));
    const learned = new ParsedColumnCache();
    learned.learn(wants('id', 'a'), [{ firstRow: 0, rows: 600 }], many);
    expect(learned.for(wants('id', 'a'))).toBeUndefined();
    expect(cells(learned.for(wants('a')), 'a')).toEqual(Array.from({ length: 600 }, () => 'b'));
  });

  test('more names than a page has columns, and runs without end', () => {
    const learned = new ParsedColumnCache();
    for (let i = 0; i < MAX_COLUMNS + 5; i++) learned.learn(wants(`name${i}`), [first, second], page);
    expect(learned.for(wants('name0'))).toBeDefined();
    expect(learned.for(wants(`name${MAX_COLUMNS + 4}`))).toBeUndefined();
    const byRun = new ParsedColumnCache();
    for (let row = 0; row < 12; row++) byRun.learn(wants('status'), [{ firstRow: row, rows: 1 }], page);
    expect(cells(byRun.for(wants('status')), 'status')?.[7]).toBe('201');
    // The ninth run is one too many.
    expect(cells(byRun.for(wants('status')), 'status')?.[8]).toBe('parse');
  });
});
