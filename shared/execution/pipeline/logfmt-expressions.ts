/**
 * `| logfmt a="key", b` (docs/dev/logql-semantics.md#logfmt-with-expressions). What a reader would get wrong: the label is there
 * even where the key is not (as ""), the last pair of a key wins (but the first for a name that takes the suffix, where reading
 * then ends), keys are compared in their sanitised form, and a key equal to an identifier goes to it too.
 */

import { unquoteLogfmt } from '../../base/text/text.ts';
import type { Extraction } from '../../language/logql/ast.ts';
import { KeyTable, LOGFMT_FRAME } from './key-table.ts';
import { LOGFMT_PARSER_ERROR } from './logfmt.ts';
import { FAULT, LINE_END, LogfmtDecoder } from './logfmt-decoder.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_LOGFMT, KIND_RAW, type RowLabels } from './row-labels.ts';

const TOKEN = /[ \t\r\n]*(?:"([^"]*)"?|([A-Za-z_][A-Za-z0-9_]*)|([^ \t\r\n]))/suy;

/** The key that an expression names. Throws an Error with the reference's text. */
export function parseLogfmtExpression(expression: string): string {
  const fail = (message: string) => new Error(`cannot parse expression [${expression}]: ${message}`);
  const keys: string[] = [];
  const kinds: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(expression); match !== null; match = TOKEN.exec(expression)) {
    if (match[3] !== undefined) throw fail(`unexpected char ${match[3]}`);
    keys.push(match[1] ?? match[2]);
    kinds.push(match[1] === undefined ? 'KEY' : 'STRING');
  }
  if (keys.length === 0) throw fail('syntax error: unexpected $end, expecting STRING or KEY');
  if (keys.length > 1) throw fail(`syntax error: unexpected ${kinds[1]}`);
  return keys[0];
}

export function compileLogfmtExpressions(
  extractions: readonly Extraction[],
  labels: RowLabels,
  strict: boolean,
): RowStage {
  const ids: number[] = [];
  // Sanitised key of the line -> labels that it fills.
  const targets = new Map<string, number[]>();
  for (const { name, expression } of extractions) {
    const id = labels.intern(name);
    labels.suffixed(id);
    ids.push(id);
    const key = parseLogfmtExpression(expression);
    targets.set(key, [...(targets.get(key) ?? []), id]);
  }
  for (const { name } of extractions) if (!targets.has(name)) targets.set(name, [labels.intern(name)]);
  // By the number of the key's sanitised name.
  const targetsById: (number[] | undefined)[] = [];
  for (const [key, names] of targets) {
    const id = labels.intern(key);
    while (targetsById.length <= id) targetsById.push(undefined);
    targetsById[id] = names;
  }
  const decoder = new LogfmtDecoder();
  const keys = new KeyTable(labels, LOGFMT_FRAME);

  return (row: Row) => {
    if (labels.allFound) return true;
    keys.prepare();
    for (let i = 0; i < ids.length; i++) if (!labels.collides(ids[i])) labels.setText(ids[i], '');
    const source = row.source;
    decoder.reset(source, row.start, row.end);
    for (;;) {
      const outcome = decoder.next();
      if (outcome === LINE_END) return true;
      if (outcome === FAULT) {
        if (!strict) continue;
        labels.failParsing(LOGFMT_PARSER_ERROR, decoder.fault);
        return true;
      }
      // By itself: `find` may replace `nameIds`.
      const entry = keys.find(source, decoder.keyStart, decoder.keyEnd, 0);
      const key = keys.nameIds[entry];
      const names = key >= 0 && key < targetsById.length ? targetsById[key] : undefined;
      if (names === undefined) continue;
      const text = valueText(decoder, source);
      for (let i = 0; i < names.length; i++) {
        let id = names[i];
        if (labels.collides(id)) {
          id = labels.suffixed(id);
          // The reference leaves the line at the second value for a name with a suffix, or at the first where nobody wants it.
          if (labels.isExtracted(id) || !labels.wants(id)) return true;
        }
        if (text === undefined) {
          labels.setBytes(id, KIND_RAW, source, decoder.valueStart, decoder.valueEnd);
        } else labels.setText(id, text);
      }
    }
  };
}

/** The value as text where it is not simply its bytes; one with a broken byte counts as empty. */
function valueText(decoder: LogfmtDecoder, source: Buffer): string | undefined {
  const { valueStart, valueEnd } = decoder;
  let bits = 0;
  for (let i = valueStart; i < valueEnd; i++) bits |= source[i];
  const escaped = decoder.valueKind === KIND_LOGFMT;
  if (bits < 0x80 && !escaped) return undefined;
  const text = escaped
    ? (unquoteLogfmt(source, valueStart, valueEnd) ?? '')
    : source.utf8Slice(valueStart, valueEnd);
  return text.includes('\ufffd') || !text.isWellFormed() ? '' : text;
}
