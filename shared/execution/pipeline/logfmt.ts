/**
 * `| logfmt` without expressions (docs/dev/logql-semantics.md#logfmt): every pair becomes a label, and the first of a name
 * wins. Faults are ignored unless `--strict`, and empty values are dropped unless `--keep-empty`.
 */
import { EarlyTests } from './early-tests.ts';
import { KeyTable, LOGFMT_FRAME } from './key-table.ts';
import { FAULT, LINE_END, LogfmtDecoder } from './logfmt-decoder.ts';
import { FOUND_ALL, SET, setParsedValue } from './parsed-value.ts';
import type { Row, RowStage } from './row.ts';
import type { RowLabels } from './row-labels.ts';

export const LOGFMT_PARSER_ERROR = 'LogfmtParserErr';

interface LogfmtOptions {
  readonly strict: boolean;
  readonly keepEmpty: boolean;
}

export function compileLogfmt(
  labels: RowLabels,
  { strict, keepEmpty }: LogfmtOptions,
  early = new EarlyTests(),
): RowStage {
  const keys = new KeyTable(labels, LOGFMT_FRAME);
  const decoder = new LogfmtDecoder(keys);
  const restricted = labels.restricted;

  return (row: Row) => {
    if (labels.allFound) return true;
    keys.prepare();
    const source = row.source;
    decoder.reset(source, row.start, row.end);
    let last = -1;
    for (;;) {
      const outcome = decoder.next(last);
      if (outcome === LINE_END) return true;
      if (outcome === FAULT) {
        if (!strict) continue;
        labels.failParsing(LOGFMT_PARSER_ERROR, decoder.fault);
        return true;
      }
      const { valueStart, valueEnd } = decoder;
      if (valueStart === valueEnd && !keepEmpty) continue;
      const { keyStart, keyEnd } = decoder;
      let { entry } = decoder;
      if (entry < 0) {
        entry = keys.find(source, keyStart, keyEnd, 0);
        keys.follow(last, entry);
      }
      last = entry;
      if (restricted && keys.wanted[entry] === 0) continue;
      let id = keys.nameIds[entry];
      if (id < 0) continue;
      if (labels.collides(id)) id = keys.suffixedIds[entry];
      const set = setParsedValue(labels, early, id, decoder.valueKind, source, valueStart, valueEnd);
      if (set !== SET) return set === FOUND_ALL;
    }
  };
}
