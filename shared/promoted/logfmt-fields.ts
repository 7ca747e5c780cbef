/**
 * Pairs of a logfmt line, by the pipeline's own decoder. A line with a fault is left to the parser: `--strict` reports
 * it. So is free text, in which every word would be a key: a line in which at any place more keys stand without a value than
 * with one. And a line that begins with a brace behind white space: to JSON's parser ` {}=1 a=2` is an empty object, so
 * that what the line says by itself (detected fields) is not what logfmt says.
 */
import { OPEN_BRACE } from '../pipeline/json-scan.ts';
import { FAULT, LINE_END, LogfmtDecoder } from '../pipeline/logfmt-decoder.ts';
import { KIND_CLEAN } from '../pipeline/row-labels.ts';
import { MAX_LINE_FIELDS } from './bounds.ts';
import type { FieldTable } from './field-table.ts';
import { ESCAPED, type LineMembers, VALUE } from './line-members.ts';

const decoder = new LogfmtDecoder();

/**
 * Adds the pairs of the line `source[start..end)`. False where the line has a fault, is no logfmt or is over a bound;
 * what was added is then the caller's to take back.
 */
export function readLogfmtFields(
  table: FieldTable,
  members: LineMembers,
  row: number,
  source: Buffer,
  start: number,
  end: number,
): boolean {
  decoder.reset(source, start, end);
  let last = -1;
  let withValue = 0;
  let bare = 0;
  for (;;) {
    const outcome = decoder.next();
    if (outcome === LINE_END) return withValue > 0;
    if (outcome === FAULT || withValue + bare === MAX_LINE_FIELDS) return false;
    const { keyStart, keyEnd, valueStart, valueEnd } = decoder;
    if (withValue + bare === 0 && source[keyStart] === OPEN_BRACE) return false;
    // Before any key is kept: the words of free text would fill the table.
    if (valueStart === valueEnd && bare++ >= withValue) return false;
    let entry = table.followerOf(last);
    if (entry < 0 || table.match(entry, 0, source, keyStart, keyEnd) !== keyEnd) {
      entry = table.find(source, keyStart, keyEnd, 0);
      if (entry < 0) return false;
      table.follow(last, entry);
    }
    if (table.reserved[entry] === 1) return false;
    last = entry;
    const kind = decoder.valueKind === KIND_CLEAN ? VALUE : ESCAPED;
    if (!members.add(entry, row, valueStart, valueEnd, kind)) return false;
    if (valueStart < valueEnd) withValue++;
  }
}
