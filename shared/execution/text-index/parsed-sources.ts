/**
 * Fields of a line from which a label may come, after the parser stages so far. A label filter then requires
 * its value in one of these fields, while only parsers have changed labels.
 *
 * Pitfall: a parser sets more labels than the query names (nested keys, `_extracted`), so a source is
 * evaluated for one label at a time. Expressions set only their own labels.
 */

import { sanitizeName } from '../../base/text/text.ts';
import type { Stage } from '../../language/logql/ast.ts';
import type { ParserName } from '../../storage/columns/field-extractor.ts';
import { parseJsonPath } from '../pipeline/json-path.ts';
import { parseLogfmtExpression } from '../pipeline/logfmt-expressions.ts';

export type ParsedSource =
  /** Parts of the line that no page records: regexp, pattern. */
  | { readonly kind: 'line' }
  | {
      readonly kind: 'fields';
      readonly parser: ParserName;
      /** Whether a field that the line lacks sets its label to an empty value. */
      readonly setsEmpty: boolean;
      /**
       * Returns the sanitized names of the fields from which the label may come; undefined if a field's value
       * is not conclusive.
       */
      fieldsOf(label: string): readonly string[] | undefined;
    };

type FieldStage = Extract<Stage, { kind: 'json' | 'logfmt' }>;

export const LINE_SOURCE: ParsedSource = { kind: 'line' };

export function sourceOfParser(stage: FieldStage): ParsedSource {
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

/** Returns undefined for array elements, and for paths that compiling the stage reports. */
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

/** A key equal to the label also sets it. */
function logfmtFields(label: string, expression: string): string[] | undefined {
  try {
    return [parseLogfmtExpression(expression), label];
  } catch {
    return undefined;
  }
}
