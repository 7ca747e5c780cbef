/**
 * Prepares the structured metadata of a decoded push for storage, in place. Names are sanitized and unique
 * within an entry, pairs with an empty value are removed, and U+FFFD and invalid bytes in values become a
 * space.
 *
 * If several pairs end up with one name, the result is that of the reference:
 *
 *     sent under that name      the last, unless one of them is empty: then none
 *     sent under another name   the last, instead of those; if it is empty, no pair
 *
 * Names that no pair uses any more stay in `columns.names`.
 */
import type { Steps } from '../../base/model/steps.ts';
import { utf8Length } from '../../base/model/utf8.ts';
import { sanitizeMetadataName } from './metadata-name.ts';
import { OverflowBuffer } from './overflow-buffer.ts';
import type { PushColumns } from './push-columns.ts';

/** Pairs per step: 0.2 ms. An entry is never split. */
const PAIRS_A_STEP = 8192;
const NAMES_A_STEP = 256;
const BYTES_A_STEP = 128 * 1024;

/** Throws BadRequestError if a name has no storable character. */
export function* sanitizeMetadata(columns: PushColumns): Steps<void> {
  if (columns.pairCount === 0) return;
  yield* mergeNames(columns, yield* storedNames(columns));
  yield* cleanValues(columns);
}

/** Returns the index of the name to store for each name of the push. */
function* storedNames(columns: PushColumns): Steps<Uint32Array> {
  const count = columns.names.length;
  const stored = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    stored[i] = columns.nameId(sanitizeMetadataName(columns.names[i]));
    if (i % NAMES_A_STEP === NAMES_A_STEP - 1) yield;
  }
  return stored;
}

// State of a name within an entry.
/** A value that was sent under the name itself. */
const SENT = 0;
/** A value that was sent under a name that was renamed to this one. It has precedence over all others. */
const RENAMED = 1;
/** No value: a pair of the name was empty. Only a renamed pair can replace it. */
const DELETED = 2;

function* mergeNames(columns: PushColumns, stored: Uint32Array): Steps<void> {
  const { firstPair } = columns;
  const merging: Merging = {
    stored,
    seenIn: new Uint32Array(columns.names.length),
    pairOf: new Uint32Array(columns.names.length),
    holds: new Uint8Array(columns.names.length),
    entry: 0,
    from: firstPair[0],
    to: 0,
  };
  while (merging.entry < columns.count) {
    mergeSome(columns, merging);
    yield;
  }
  firstPair[columns.count] = merging.to;
  columns.pairCount = merging.to;
}

interface Merging {
  readonly stored: Uint32Array;
  /** Entry that last had a pair of the name, plus 1, the index of the pair, and its state. */
  readonly seenIn: Uint32Array;
  readonly pairOf: Uint32Array;
  readonly holds: Uint8Array;
  /** Index of the next entry. */
  entry: number;
  from: number;
  to: number;
}

function mergeSome(columns: PushColumns, merging: Merging): void {
  const { firstPair, pairName, pairStart, pairEnd, count } = columns;
  const { stored, seenIn, pairOf, holds } = merging;
  let { entry, from, to } = merging;
  const stop = from + PAIRS_A_STEP;
  const last = Math.min(count, entry + PAIRS_A_STEP);
  for (; entry < last && from < stop; entry++) {
    const end = firstPair[entry + 1];
    const first = to;
    let deleted = false;
    for (; from < end; from++) {
      const name = stored[pairName[from]];
      const isRenamed = name !== pairName[from];
      if (seenIn[name] !== entry + 1) {
        seenIn[name] = entry + 1;
        pairOf[name] = to++;
        holds[name] = SENT;
      } else if (!isRenamed && holds[name] !== SENT) continue;
      if (pairStart[from] === pairEnd[from]) {
        holds[name] = DELETED;
        deleted = true;
      } else if (isRenamed) holds[name] = RENAMED;
      const pair = pairOf[name];
      pairName[pair] = name;
      pairStart[pair] = pairStart[from];
      pairEnd[pair] = pairEnd[from];
    }
    if (deleted) to = withoutEmpty(columns, first, to);
    firstPair[entry] = first;
  }
  merging.entry = entry;
  merging.from = from;
  merging.to = to;
}

/** Moves the pairs `first` to `end - 1` with a value together. Returns the index after the last. */
function withoutEmpty({ pairName, pairStart, pairEnd }: PushColumns, first: number, end: number): number {
  let to = first;
  for (let from = first; from < end; from++) {
    if (pairStart[from] === pairEnd[from]) continue;
    pairName[to] = pairName[from];
    pairStart[to] = pairStart[from];
    pairEnd[to] = pairEnd[from];
    to++;
  }
  return to;
}

function* cleanValues(columns: PushColumns): Steps<void> {
  const { bytes, pairStart, pairEnd } = columns;
  const overflow = new OverflowBuffer(bytes.length);
  // Values may share a range (attributes of a resource). Each is cleaned once, because a small body could
  // otherwise grow.
  const cleaned = new Map<number, readonly [oldEnd: number, start: number, end: number]>();
  const cursor: Cursor = { pair: 0, passed: 0 };
  while (cursor.pair < columns.pairCount) {
    if (!isAtDirty(columns, cursor)) {
      yield;
      continue;
    }
    const { pair } = cursor;
    const start = pairStart[pair];
    const end = pairEnd[pair];
    let span = cleaned.get(start);
    if (span === undefined || span[0] !== end) {
      const cleanStart = overflow.end;
      for (let at = start; at < end; ) {
        at = appendClean(overflow, bytes, at, Math.min(end, at + BYTES_A_STEP), end);
        yield;
      }
      span = [end, cleanStart, overflow.end];
      cleaned.set(start, span);
    }
    pairStart[pair] = span[1];
    pairEnd[pair] = span[2];
    cursor.pair++;
    cursor.passed = 0;
  }
  yield* overflow.appendTo(columns);
}

interface Cursor {
  pair: number;
  /** Bytes of the value that are clean. */
  passed: number;
}

/** Advances to the next value that needs cleaning. Returns false if this step has none. */
function isAtDirty({ bytes, pairStart, pairEnd, pairCount }: PushColumns, cursor: Cursor): boolean {
  let { pair, passed } = cursor;
  const lastPair = Math.min(pairCount, pair + PAIRS_A_STEP);
  let bytesLeft = BYTES_A_STEP;
  let isDirty = false;
  while (pair < lastPair && bytesLeft > 0) {
    const end = pairEnd[pair];
    const from = pairStart[pair] + passed;
    const stop = Math.min(end, from + bytesLeft);
    const at = cleanUntil(bytes, from, stop, end);
    isDirty = at < 0;
    if (isDirty) break;
    bytesLeft -= at - from;
    passed = at - pairStart[pair];
    if (at < end) break;
    pair++;
    passed = 0;
  }
  cursor.pair = pair;
  cursor.passed = passed;
  return isDirty;
}

/** Returns the offset from `stop` on up to which a value that ends at `end` is clean, or -1. */
function cleanUntil(bytes: Uint8Array, start: number, stop: number, end: number): number {
  let at = start;
  for (; at < stop; at++) {
    if (bytes[at] < 0x80) continue;
    const length = utf8Length(bytes, at, end);
    if (length === 0 || (length === 3 && isReplacement(bytes, at))) return -1;
    at += length - 1;
  }
  return at;
}

/**
 * Cleans a value that ends at `end` from `start` to `stop`, or a few bytes further. Returns the offset
 * reached.
 */
function appendClean(
  overflow: OverflowBuffer,
  bytes: Uint8Array,
  start: number,
  stop: number,
  end: number,
): number {
  let at = start;
  while (at < stop) {
    const length = utf8Length(bytes, at, end);
    if (length === 0 || (length === 3 && isReplacement(bytes, at))) {
      overflow.push(0x20);
      at += length === 0 ? 1 : length;
    } else {
      overflow.pushRange(bytes, at, at + length);
      at += length;
    }
  }
  return at;
}

/** Whether the bytes at `at` are U+FFFD. */
function isReplacement(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd;
}
