/** Finds the column of a page that a plan's label is taken from. */
import type { ParserName, PromotedColumn, PromotedPage } from '../../../base/model/page-fields.ts';
import type { LabelSource } from './plan-pushdown.ts';

export type { FieldColumn, PromotedPage } from '../../../base/model/page-fields.ts';

/** Column that a label is taken from. */
export function columnFor(
  page: PromotedPage | undefined,
  parser: ParserName,
  { field, path }: LabelSource,
): PromotedColumn | undefined {
  const found = page?.column(parser, field);
  if (found === undefined) return undefined;
  if (path !== undefined && !samePath(path, found.field.path)) return undefined;
  return found.column;
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
