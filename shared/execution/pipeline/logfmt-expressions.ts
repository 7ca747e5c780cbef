/**
 * `| logfmt a="key", b` (docs/dev/logql-semantics.md#logfmt-with-expressions).
 *
 * Pitfall: the label exists (as "") even if the key does not. If a key repeats, the last pair wins. But for a
 * name that gets the suffix, the first pair wins, and reading ends there. Keys are compared in sanitized
 * form. A key equal to an identifier also sets it.
 */

import { unquoteLogfmt } from '../../base/text/text.ts';
import type { Extraction } from '../../language/logql/ast.ts';
import { KeyTable, LOGFMT_FRAME } from './key-table.ts';
import { LOGFMT_PARSER_ERROR } from './logfmt.ts';
import { FAULT, LINE_END, LogfmtDecoder } from './logfmt-decoder.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_LOGFMT, KIND_RAW, type RowLabels } from './row-labels.ts';

const TOKEN = /[ \t\r\n]*(?:"([^"]*)"?|([A-Za-z_][A-Za-z0-9_]*)|([^ \t\r\n]))/suy;

/** Returns the key that an expression names. Throws an Error with the reference's text. */
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
  // Labels to set, by sanitized key of the line.
  const targets = new Map<string, number[]>();
  for (const { name, expression } of extractions) {
    const id = labels.intern(name);
    labels.suffixed(id);
    ids.push(id);
    const key = parseLogfmtExpression(expression);
    targets.set(key, [...(targets.get(key) ?? []), id]);
  }
  for (const { name } of extractions) if (!targets.has(name)) targets.set(name, [labels.intern(name)]);
  // Labels to set, by number of the key's sanitized name.
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
      // Read `nameIds` afterward: `find` may replace it.
      const entry = keys.find(source, decoder.keyStart, decoder.keyEnd, 0);
      const key = keys.nameIds[entry];
      const names = key >= 0 && key < targetsById.length ? targetsById[key] : undefined;
      if (names === undefined) continue;
      const text = valueText(decoder, source);
      for (let i = 0; i < names.length; i++) {
        let id = names[i];
        if (labels.collides(id)) {
          id = labels.suffixed(id);
          // For a name with a suffix, the reference stops reading the line at the second value, or at the
          // first value if the query needs none.
          if (labels.isExtracted(id) || !labels.wants(id)) return true;
        }
        if (text === undefined) {
          labels.setBytes(id, KIND_RAW, source, decoder.valueStart, decoder.valueEnd);
        } else labels.setText(id, text);
      }
    }
  };
}

/** Returns the value as text if it is not simply its bytes; a value with an invalid byte counts as empty. */
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
