/**
 * `| unpack` (docs/dev/logql-semantics.md#unpack): reverses the pack stage of agents. String members become labels and
 * `_entry` becomes the line, but only if the object has an `_entry`. Other members are skipped.
 */

import { textOfBytes } from '../../base/model/byte-text.ts';
import {
  BAD_ARRAY,
  BAD_JSON,
  BAD_KEY_ESCAPE,
  BAD_OBJECT,
  BAD_STRING,
  blockEnd,
  CLOSE_BRACE,
  hasEscape,
  JSON_FAILURES,
  JSON_PARSER_ERROR,
  nextMember,
  OK,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
  tokenEnd,
  UNKNOWN_VALUE,
  valueOfKey,
  WORD_UNKNOWN,
  wordKind,
} from '../../base/text/json-scan.ts';
import { unescapeJson } from '../../base/text/text.ts';
import { JSON_FRAME, KeyTable } from './key-table.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_CLEAN, KIND_JSON, type RowLabels } from './row-labels.ts';

const PACKED_ENTRY = '_entry';
const NOT_AN_OBJECT = 'expecting json object(6), but it is not';

/** Last `_entry`, unescaped, with its bytes unchanged. */
interface PackedEntry {
  entry: string | undefined;
}

export function compileUnpack(labels: RowLabels): RowStage {
  const keys = new KeyTable(labels, JSON_FRAME);
  // Members of the current line: entry of the key, kind, start and end of the value.
  const members: number[] = [];

  return (row: Row) => {
    const source = row.source;
    const start = row.start;
    const end = row.end;
    if (start === end || labels.allFound) return true;
    if (source[start] !== OPEN_BRACE) {
      labels.failParsing(JSON_PARSER_ERROR, NOT_AN_OBJECT);
      return true;
    }
    keys.prepare();
    members.length = 0;
    const found: PackedEntry = { entry: undefined };
    const outcome = readMembers(source, start, end, found);
    if (outcome !== OK) {
      labels.failParsing(JSON_PARSER_ERROR, JSON_FAILURES[outcome]);
      return true;
    }
    if (found.entry === undefined) return true;
    for (let i = 0; i < members.length; i += 4) {
      const base = keys.nameIds[members[i]];
      if (base < 0) continue;
      const id = labels.collides(base) ? labels.suffixed(base) : base;
      if (!labels.wants(id) || labels.isExtracted(id)) continue;
      labels.setBytes(id, members[i + 1], source, members[i + 2], members[i + 3]);
    }
    row.setLine(found.entry);
    return true;
  };

  function readMembers(source: Buffer, start: number, end: number, found: PackedEntry): number {
    let at = skipSpace(source, start + 1, end);
    if (at >= end) return BAD_JSON;
    for (;;) {
      if (source[at] === CLOSE_BRACE) return OK;
      if (source[at] !== QUOTE) return BAD_OBJECT;
      const keyStart = at + 1;
      const keyEnd = stringEnd(source, keyStart, end);
      if (keyEnd < 0) return BAD_JSON;
      const escaped = hasEscape(source, keyStart, keyEnd);
      const key = escaped ? unescapeJson(source, keyStart, keyEnd) : textOfBytes(source, keyStart, keyEnd);
      if (key === undefined) return BAD_KEY_ESCAPE;
      at = valueOfKey(source, keyEnd + 1, end);
      if (at < 0) return BAD_JSON;
      const first = source[at];
      if (first === QUOTE) {
        const stop = stringEnd(source, at + 1, end);
        if (stop < 0) return BAD_STRING;
        if (key === PACKED_ENTRY) {
          found.entry = unescapeJson(source, at + 1, stop);
          if (found.entry === undefined) return BAD_KEY_ESCAPE;
        } else {
          const kind = hasEscape(source, at + 1, stop) ? KIND_JSON : KIND_CLEAN;
          members.push(keys.findText(key, 0), kind, at + 1, stop);
        }
        at = stop + 1;
      } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
        at = blockEnd(source, at, end);
        if (at < 0) return first === OPEN_BRACE ? BAD_OBJECT : BAD_ARRAY;
      } else {
        const stop = tokenEnd(source, at, end);
        if (wordKind(source, at, stop) === WORD_UNKNOWN) return UNKNOWN_VALUE;
        at = stop;
      }
      at = nextMember(source, at, end);
      if (at < 0) return ~at;
    }
  }
}
