/**
 * Key of a field column: one key of JSON or logfmt lines, and the label that the parsers derive from it. The
 * footer names a column by its parser and path. The label name follows from the path.
 */
import type { ColumnField } from '../../base/model/page-fields.ts';
import { sanitizeName } from '../../base/text/text.ts';

export type { ColumnField } from '../../base/model/page-fields.ts';

const LETTERS = { json: 'j', logfmt: 'l' } as const;

/** Returns the column's name in the footer: parser and path. */
export function fieldKey({ parser, path }: ColumnField): string {
  return LETTERS[parser] + path.join('\0');
}

/** Maximum column names with a cached field. A page has up to 24, mostly the same ones in every page. */
const MAX_KNOWN_FIELDS = 4096;
const FIELDS = new Map<string, ColumnField | undefined>();

/** Returns the field of a column's name, or undefined for an unknown kind. */
export function fieldOfKey(key: string): ColumnField | undefined {
  if (FIELDS.has(key)) return FIELDS.get(key);
  if (FIELDS.size === MAX_KNOWN_FIELDS) FIELDS.clear();
  const field = parsedField(key);
  FIELDS.set(key, field);
  return field;
}

function parsedField(key: string): ColumnField | undefined {
  const parser = key[0] === 'j' ? 'json' : key[0] === 'l' ? 'logfmt' : undefined;
  if (parser === undefined) return undefined;
  const path = key.slice(1).split('\0');
  return { parser, path, name: path.reduce((name, part) => sanitizeName(name, part), '') };
}
