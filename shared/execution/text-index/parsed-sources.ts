/**
 * Which fields of a line a label may come from, after the parser stages so far. A label filter then asks for its value in
 * one of these fields, as long as no stage but parsers has touched labels.
 *
 * What a reader would get wrong: a parser names more labels than a query knows of (nested keys, `_extracted`), so a source
 * answers for one label at a time; and expressions set no other label than theirs.
 */

import { sanitizeName } from '../../base/text/text.ts';
import type { Stage } from '../../language/logql/ast.ts';
import type { ParserName } from '../../storage/columns/field-extractor.ts';
import { parseJsonPath } from '../pipeline/json-path.ts';
import { parseLogfmtExpression } from '../pipeline/logfmt-expressions.ts';

export type ParsedSource =
  /** Pieces of the line that no page knows of: regexp, pattern. */
  | { readonly kind: 'line' }
  | {
      readonly kind: 'fields';
      readonly parser: ParserName;
      /** A field that the line lacks gives its label an empty value. */
      readonly setsEmpty: boolean;
      /** Sanitised names of the fields that the label may come from; undefined where a field's value says too little. */
      fieldsOf(label: string): readonly string[] | undefined;
    };

type FieldParser = Extract<Stage, { kind: 'json' | 'logfmt' }>;

export const lineSource: ParsedSource = { kind: 'line' };

export function sourceOfParser(stage: FieldParser): ParsedSource {
  const { kind: parser, extractions } = stage;
  if (extractions.length === 0)
    return { kind: 'fields', parser, setsEmpty: false, fieldsOf: label => [label] };
  const fields = new Map<string, string[] | undefined>();
  for (const { name, expression } of extractions) {
    const found = parser === 'json' ? jsonFields(expression) : logfmtFields(name, expression);
    const known = fields.has(name) ? fields.get(name) : [];
    fields.set(name, found && known && [...known, ...found]);
  }
  const fieldsOf = (label: string) => (fields.has(label) ? fields.get(label) : []);
  return { kind: 'fields', parser, setsEmpty: true, fieldsOf };
}

/** Undefined of places in arrays, and of paths that compiling the stage reports. */
function jsonFields(expression: string): string[] | undefined {
  try {
    const path = parseJsonPath(expression);
    if (path.some(part => typeof part === 'number')) return undefined;
    const name = path.reduce<string>((above, part) => sanitizeName(above, String(part)), '');
    return name === '' ? undefined : [name];
  } catch {
    return undefined;
  }
}

/** A key equal to the label goes to it too. */
function logfmtFields(label: string, expression: string): string[] | undefined {
  try {
    return [parseLogfmtExpression(expression), label];
  } catch {
    return undefined;
  }
}
