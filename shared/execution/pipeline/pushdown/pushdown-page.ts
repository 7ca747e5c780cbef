/** Finds the column of a page for a label of a plan. */
import type { DecodedColumn, FieldColumns, ParserName } from '../../../base/model/page-fields.ts';
import type { ParsedLabel } from './plan-pushdown.ts';

export type { FieldColumn, FieldColumns } from '../../../base/model/page-fields.ts';

/** Returns the column of a label. */
export function columnFor(
  page: FieldColumns | undefined,
  parser: ParserName,
  { field, path }: ParsedLabel,
): DecodedColumn | undefined {
  const found = page?.column(parser, field);
  if (found === undefined) return undefined;
  if (path !== undefined && !samePath(path, found.field.path)) return undefined;
  return found.column;
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
