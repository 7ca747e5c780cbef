import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cellWidth, cutCells, padCells } from '../../bin/cli/cell-text.ts';
import { alignedText, type Cell, csvText, type TextTable, tableText } from '../../bin/cli/table-text.ts';

test.each([
  ['', 0],
  ['abc', 3],
  ['größe', 5],
  ['日本', 4],
  ['e\u0301', 1],
  ['🙂!', 3],
])('the width of %j is %i', (text, width) => {
  expect(cellWidth(text)).toBe(width);
});

test.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 5, 'abcd…'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
  ['abc', 1, '…'],
  ['abc', 0, ''],
])('%j truncated to %i is %j', (text, cells, want) => {
  expect(cutCells(text, cells)).toBe(want);
});

test('text is padded on either side', () => {
  expect(padCells('日', 4, 'right')).toBe('  日');
});

const TABLE: TextTable = {
  columns: [
    { name: 'app' },
    { name: 'bytes', align: 'right', show: value => `${value}B` },
    { name: 'a note' },
  ],
  rows: [
    ['shop', 1200, 'says "hi", twice'],
    ['日本', 7, null],
  ],
};

describe('a table', () => {
  test.each([
    ['table', 'app   bytes  a note\nshop  1200B  says "hi", twice\n日本     7B\n'],
    ['default', 'app   bytes  a note\nshop  1200B  says "hi", twice\n日本     7B\n'],
    ['csv', 'app,bytes,a note\nshop,1200,"says ""hi"", twice"\n日本,7,\n'],
    ['jsonl', '{"app":"shop","bytes":1200,"a note":"says \\"hi\\", twice"}\n{"app":"日本","bytes":7}\n'],
    ['raw', 'shop\n日本\n'],
  ] as const)('is printed as %s', (output, want) => {
    expect(tableText(TABLE, output)).toBe(want);
  });

  test('a single column is a list by default, and has a header as a table', () => {
    const table = { columns: [{ name: 'label' }], rows: [['a'], ['b']] };
    expect(tableText(table, 'default')).toBe('a\nb\n');
    expect(tableText(table, 'table')).toBe('label\na\nb\n');
  });

  test('is truncated at the edge, and is aligned with the one before', () => {
    expect(alignedText(TABLE, { maxCells: 12 })).toBe('app   bytes…\nshop  1200B…\n日本     7B\n');
    const widths: number[] = [];
    alignedText(TABLE, { widths });
    const second = { ...TABLE, rows: [['x', 1, 'y']] };
    expect(alignedText(second, { widths, heading: false })).toBe('x        1B  y\n');
  });

  test('CSV is read back as it was', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'ü', ',', '"', '\n', '\r', ' ') });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), rows => {
        const table = { columns: [{ name: 'a' }, { name: 'b' }], rows: rows as Cell[][] };
        expect(parseCsv(csvText(table, { heading: false }))).toEqual(rows);
      }),
      { numRuns: 50 },
    );
  });
});

/** Parses CSV by RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  const row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\n') rows.push(row.splice(0));
  }
  return rows;
}
