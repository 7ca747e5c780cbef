/**
 * Structured metadata of a decoded push made ready for storing, in place: names sanitised, each name once in an
 * entry (the last value stays), U+FFFD and invalid bytes in values replaced by a space.
 *
 * Names that no pair uses any more stay in `columns.names`.
 */
import { sanitizeMetadataName } from './metadata-name.ts';
import type { PushColumns } from './push-columns.ts';
import { Spill } from './spill.ts';
import { utf8Length } from './utf8.ts';

/** Throws BadRequestError where a name has nothing that could be stored. */
export function sanitizeMetadata(columns: PushColumns): void {
  if (columns.pairCount === 0) return;
  mergeNames(columns, storedNames(columns));
  cleanValues(columns);
}

/** For each name of the push, the place of the name to store. */
function storedNames(columns: PushColumns): Uint32Array {
  const count = columns.names.length;
  const stored = new Uint32Array(count);
  for (let i = 0; i < count; i++) stored[i] = columns.nameId(sanitizeMetadataName(columns.names[i]));
  return stored;
}

function mergeNames(columns: PushColumns, stored: Uint32Array): void {
  const { firstPair, pairName, pairStart, pairEnd } = columns;
  // Where the pair of a name was put last, plus 1. A place of an earlier entry is below this entry's first.
  const placeOf = new Uint32Array(columns.names.length);
  let to = 0;
  let from = firstPair[0];
  for (let entry = 0; entry < columns.count; entry++) {
    const end = firstPair[entry + 1];
    const first = to;
    for (; from < end; from++) {
      const name = stored[pairName[from]];
      let place = placeOf[name] - 1;
      if (place < first) {
        place = to++;
        placeOf[name] = place + 1;
        pairName[place] = name;
      }
      pairStart[place] = pairStart[from];
      pairEnd[place] = pairEnd[from];
    }
    firstPair[entry] = first;
  }
  firstPair[columns.count] = to;
  columns.pairCount = to;
}

function cleanValues(columns: PushColumns): void {
  const { bytes, pairStart, pairEnd } = columns;
  const spill = new Spill(bytes.length);
  // Values may share a range (attributes of a resource): each is cleaned once, or a small body could get large.
  const cleaned = new Map<number, readonly [oldEnd: number, start: number, end: number]>();
  for (let pair = 0; pair < columns.pairCount; pair++) {
    const start = pairStart[pair];
    const end = pairEnd[pair];
    if (!needsCleaning(bytes, start, end)) continue;
    let place = cleaned.get(start);
    if (place === undefined || place[0] !== end) {
      const cleanStart = spill.end;
      spillClean(spill, bytes, start, end);
      place = [end, cleanStart, spill.end];
      cleaned.set(start, place);
    }
    pairStart[pair] = place[1];
    pairEnd[pair] = place[2];
  }
  spill.appendTo(columns);
}

function needsCleaning(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] < 0x80) continue;
    const length = utf8Length(bytes, at, end);
    if (length === 0 || (length === 3 && isReplacement(bytes, at))) return true;
    at += length - 1;
  }
  return false;
}

function spillClean(spill: Spill, bytes: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; ) {
    const length = utf8Length(bytes, at, end);
    if (length === 0 || (length === 3 && isReplacement(bytes, at))) {
      spill.push(0x20);
      at += length === 0 ? 1 : length;
    } else {
      spill.pushRange(bytes, at, at + length);
      at += length;
    }
  }
}

/** True for the bytes of U+FFFD. */
function isReplacement(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd;
}
