/** Columns of the pages of a footer that was read: decoded on demand, but for metadata. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { FieldColumnWants } from '../../shared/base/model/page-fields.ts';
import { fieldColumnsOf, hasFieldColumns } from '../../shared/storage/chunk/field-columns.ts';
import { ColumnKind } from '../../shared/storage/chunk/format.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { metadataOf, StoredPage, withDecodedColumns } from '../../shared/storage/chunk/stored-page.ts';

const GOLDEN = readFileSync(join(import.meta.dirname, 'golden/v3.chunk'));

test('each use of the columns decodes them, with equal results', () => {
  for (const page of footerOf(GOLDEN, 'golden').pages) {
    const { columns } = page;
    expect(columns.length).toBeGreaterThan(3);
    expect(page.columns).not.toBe(columns);
    expect(page.columns).toEqual(columns);
  }
});

test('columns of metadata stay decoded', () => {
  const pages = footerOf(GOLDEN, 'golden').pages;
  expect(pages.flatMap(metadataOf).length).toBeGreaterThan(0);
  for (const page of pages) {
    expect(page).toBeInstanceOf(StoredPage);
    expect(metadataOf(page)).toBe(metadataOf(page));
    expect(metadataOf(page)).toEqual(page.columns.filter(({ kind }) => kind === ColumnKind.metadata));
  }
});

test('a page with decoded columns is equal, and may be copied', () => {
  for (const page of footerOf(GOLDEN, 'golden').pages) {
    const decoded = withDecodedColumns(page);
    expect(decoded.columns).toBe(decoded.columns);
    expect({ ...decoded }).toEqual({ ...page, columns: page.columns });
    expect(withDecodedColumns(decoded)).toBe(decoded);
    expect(metadataOf(decoded)).toEqual(metadataOf(page));
  }
});

test('whether a page has wanted field columns is known without its columns', () => {
  const names: FieldColumnWants['names'][] = [
    new Set(['level', 'status']),
    new Set(['absent']),
    new Set(),
    'all',
  ];
  const wants = (['json', 'logfmt', 'either'] as const).flatMap(parser =>
    names.map((some): FieldColumnWants => ({ parser, names: some })),
  );
  const found = new Set<boolean>();
  for (const name of ['v1', 'v1-enriched', 'v2-enriched', 'v3', 'v3-enriched', 'v4', 'v5-enriched']) {
    const object = readFileSync(join(import.meta.dirname, `golden/${name}.chunk`));
    for (const page of footerOf(object, 'golden').pages) {
      for (const want of wants) {
        const has = fieldColumnsOf(page, want).length > 0;
        found.add(has);
        expect([want, hasFieldColumns(page, want)]).toEqual([want, has]);
        expect([want, hasFieldColumns(withDecodedColumns(page), want)]).toEqual([want, has]);
      }
    }
  }
  expect(found.size).toBe(2);
});
