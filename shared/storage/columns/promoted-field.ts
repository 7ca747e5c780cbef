/**
 * What a promoted column stands for: one key of JSON or logfmt lines, and the label that the parsers make of it. In the
 * footer a column is named by its parser and path; the label's name follows from the path.
 */
import type { PromotedField } from '../../base/model/page-fields.ts';
import { sanitizeName } from '../../base/text/text.ts';

export type { PromotedField } from '../../base/model/page-fields.ts';

const LETTERS = { json: 'j', logfmt: 'l' } as const;

/** Text that a column's name in the footer is: parser and path. */
export function fieldKey({ parser, path }: PromotedField): string {
  return LETTERS[parser] + path.join('\0');
}

/** The field of a column's name, undefined where it is of a kind that is not known here. */
export function fieldOfKey(key: string): PromotedField | undefined {
  const parser = key[0] === 'j' ? 'json' : key[0] === 'l' ? 'logfmt' : undefined;
  if (parser === undefined) return undefined;
  const path = key.slice(1).split('\0');
  return { parser, path, name: path.reduce((name, part) => sanitizeName(name, part), '') };
}
