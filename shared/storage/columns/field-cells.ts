/** Cells of a field by its label's name: which of its keys a column is for. */
import type { PromotedField } from '../../base/model/page-fields.ts';
import { type ColumnCells, cellsOf } from './column-cells.ts';
import type { PageFields, ParserFields } from './field-extractor.ts';

/** A field that might have a column. */
export interface FieldCells {
  readonly field: PromotedField;
  readonly cells: ColumnCells;
}

/** Entries of the page's lines by the name of their label. */
export function entriesByName({ table, members: { first } }: ParserFields): Map<string, number[]> {
  const byName = new Map<string, number[]>();
  for (let entry = 0; entry < table.count; entry++) {
    const name = table.names[entry];
    if (name === '' || first[entry + 1] === first[entry]) continue;
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [entry]);
    else known.push(entry);
  }
  return byName;
}

/** How often a line has the entry. */
export function countOf({ members: { first } }: ParserFields, entry: number): number {
  return first[entry + 1] - first[entry];
}

/** The entry that most lines have, of those with one name. */
export function commonest(fields: ParserFields, entries: readonly number[]): number {
  return entries.reduce((a, b) => (countOf(fields, b) > countOf(fields, a) ? b : a));
}

/**
 * Cells of the commonest of the entries of a name; undefined where it can have no column.
 *
 * @param maxFallbackShare of the parser's rows, how many may be left to it
 */
export function cellsOfName(
  page: PageFields,
  fields: ParserFields,
  name: string,
  entries: readonly number[],
  maxFallbackShare: number,
): FieldCells | undefined {
  const entry = commonest(fields, entries);
  const path = fields.table.paths[entry];
  if (path.some(part => part.includes('\0') || part.includes('\ufffd'))) return undefined;
  const others = entries.filter(other => other !== entry);
  const cells = cellsOf(page, fields, entry, { others, maxFallbackShare });
  return cells && { field: { parser: fields.parser, name, path }, cells };
}
