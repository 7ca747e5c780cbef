/** Selects the field columns of a stored page that a query requests. Decoded values: stored-fields.ts. */
import type { FieldColumnWants } from '../../base/model/page-fields.ts';
import { fieldOfKey } from '../columns/column-field.ts';
import { ColumnKind, type ColumnMeta, type PageMeta } from './format.ts';
import { fieldMarksOf, PARSER_MARKS, RESIDUALS } from './stored-page.ts';

/** Returns whether `fieldColumnsOf` finds columns. Mostly without the columns of the page, which a footer decodes at each use. */
export function hasFieldColumns(page: PageMeta, wants: FieldColumnWants): boolean {
  const marks = fieldMarksOf(page);
  if (wants.names === 'all') return (marks & RESIDUALS) !== 0;
  if (wants.parser !== 'either') return (marks & PARSER_MARKS[wants.parser]) !== 0;
  return marks !== 0 && fieldColumnsOf(page, wants).length > 0;
}

/**
 * Returns the columns of the wanted names. If the page has none of them, returns the parser's smallest
 * column, which marks valid lines, if it has one. For either parser, returns only columns of the names. If
 * all fields are wanted and the page has residual fields, returns all columns and the residual fields.
 */
export function fieldColumnsOf(page: PageMeta, { parser, names }: FieldColumnWants): readonly ColumnMeta[] {
  if (names === 'all') {
    const hasResiduals = page.columns.some(({ kind }) => kind === ColumnKind.residuals);
    return hasResiduals ? page.columns.filter(({ kind }) => isOfFields(kind)) : [];
  }
  const named: ColumnMeta[] = [];
  let smallest: ColumnMeta | undefined;
  for (const column of page.columns) {
    if (column.kind !== ColumnKind.field && column.kind !== ColumnKind.splitField) continue;
    const field = fieldOfKey(column.name);
    if (field === undefined || (parser !== 'either' && field.parser !== parser)) continue;
    if (names.has(field.name)) named.push(column);
    if (parser === 'either') continue;
    if (smallest === undefined || column.block.storedBytes < smallest.block.storedBytes) smallest = column;
  }
  if (named.length === 0 && smallest !== undefined) named.push(smallest);
  if (named.some(({ kind }) => kind === ColumnKind.splitField))
    named.push(...page.columns.filter(({ kind }) => kind === ColumnKind.splitFrame));
  return named;
}

/**
 * Matches columns of fields. An unknown kind matches too: it cannot be decoded, so the page does not count as
 * complete.
 */
function isOfFields(kind: number): boolean {
  return (
    kind === ColumnKind.field ||
    kind === ColumnKind.residuals ||
    kind === ColumnKind.splitField ||
    kind === ColumnKind.splitFrame
  );
}
