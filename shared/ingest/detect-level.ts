/**
 * The level that a log line speaks of (wire-format 1.13, step 5), on bytes: every line of every push passes through
 * here, so nothing is allocated and most lines are left early.
 */
import type { LevelFields } from './level-fields.ts';
import { levelOfJson } from './level-json.ts';
import { levelOfLogfmt } from './level-logfmt.ts';
import { levelOfText } from './level-text.ts';
import { UNKNOWN } from './level-words.ts';

/**
 * Code of the level of the line `bytes[start, end)`, see LEVELS; 0 is unknown. `jsonMaxDepth`: objects inside
 * objects that are looked into, the outermost is 1; 0 or less is without limit.
 */
export function detectLevel(
  bytes: Uint8Array,
  start: number,
  end: number,
  fields: LevelFields,
  jsonMaxDepth: number,
): number {
  let first = start;
  while (first < end && isSpace(bytes[first])) first++;
  let last = end - 1;
  while (last > first && isSpace(bytes[last])) last--;
  // A line without any `=` takes the logfmt way too: all its keys are bare, so it finds nothing there.
  const level =
    last > first && bytes[first] === 0x7b && bytes[last] === 0x7d
      ? levelOfJson(bytes, first, last + 1, fields, jsonMaxDepth)
      : levelOfLogfmt(bytes, first, end, fields);
  return level !== UNKNOWN ? level : levelOfText(bytes, start, end);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
