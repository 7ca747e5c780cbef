/** The promoted columns of one page as the appliers of a plan look for them. */
import type { PromotedColumn } from './column-decoder.ts';
import type { ParserName } from './field-extractor.ts';
import type { PromotedField } from './promoted-field.ts';
import type { LabelSource } from './provable.ts';

export interface FieldColumn {
  readonly field: PromotedField;
  readonly column: PromotedColumn;
}

export interface PromotedPage {
  /** The page's column of a field, decoded; undefined where it has none, and then every line must be parsed. */
  column(parser: ParserName, name: string): FieldColumn | undefined;
  /**
   * Any column of the parser, the cheapest to read: where a query needs no field (`by` names labels of the stream only), it
   * still tells which lines are sound. Undefined where the page has none.
   */
  guard(parser: ParserName): PromotedColumn | undefined;
}

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
