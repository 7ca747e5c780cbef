/** Finds the cells of a field by its label name, and selects the key for its column. */
import type { ColumnField } from '../../base/model/page-fields.ts';
import { type ColumnCells, cellsOf } from './column-cells.ts';
import type { PageFields, ParserFields } from './field-extractor.ts';

/** Field that may get a column. */
export interface FieldCells {
  readonly field: ColumnField;
  readonly cells: ColumnCells;
}

/** Returns the entries of the page's lines by label name. */
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

/** Returns the number of lines that have the entry. */
export function countOf({ members: { first } }: ParserFields, entry: number): number {
  return first[entry + 1] - first[entry];
}

/** Returns the most frequent of the entries. */
export function commonest(fields: ParserFields, entries: readonly number[]): number {
  return entries.reduce((a, b) => (countOf(fields, b) > countOf(fields, a) ? b : a));
}

/**
 * Returns the cells of the most frequent entry of a name, or undefined if it cannot have a column.
 *
 * @param maxFallbackShare Maximum share of the parser's rows that may fall back to it
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
