/**
 * The level of a line of `key=value` pairs. Of several level fields the one that stands first in the list wins, not
 * the one that comes first in the line, so only the first field of the list ends the walk early. Keys in any letter case.
 * The walk ends at the first pair that is no logfmt (logql reference, 7.3), with what it found before.
 */
import { type LevelFields, rankOfKey } from './level-fields.ts';
import { levelOfBytes, UNKNOWN } from './level-words.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const EQUALS = 0x3d;

/** Code of the level; UNKNOWN where there is none or its value is no level. */
export function levelOfLogfmt(bytes: Uint8Array, start: number, end: number, fields: LevelFields): number {
  let bestRank = fields.names.length;
  let level = UNKNOWN;
  let at = start;
  while (at < end) {
    if (bytes[at] <= 0x20) {
      at++;
      continue;
    }
    const keyStart = at;
    let byte = bytes[at];
    while (byte > 0x20 && byte !== EQUALS && byte !== QUOTE) {
      if (++at === end) break;
      byte = bytes[at];
    }
    const keyEnd = at;
    let valueStart = at;
    let valueEnd = at;
    if (at < end && byte !== EQUALS && byte > 0x20) return level;
    if (at < end && byte === EQUALS) {
      if (keyEnd === keyStart) return level;
      at++;
      valueStart = at;
      if (at < end && bytes[at] === QUOTE) {
        valueStart = ++at;
        while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
        if (at >= end) return level;
        valueEnd = at++;
      } else {
        while (at < end && bytes[at] > 0x20) {
          if (bytes[at] === EQUALS || bytes[at] === QUOTE) return level;
          at++;
        }
        valueEnd = at;
      }
    }
    const rank = rankOfKey(fields, bytes, keyStart, keyEnd);
    if (rank < bestRank) {
      bestRank = rank;
      level = levelOfBytes(bytes, valueStart, valueEnd);
      if (rank === 0) return level;
    }
  }
  return level;
}
