/**
 * Detects `detected_level` of every entry to store (docs/dev/wire-format.md#detected_level), from its metadata, its stream, or its
 * line. A detected level is a code per entry, separate from the columns. A level that the entry contains is
 * normalized in place.
 */
import { levelsOfLines } from '../../base/kernels/line-levels.ts';
import { labelValue } from '../../base/model/labels.ts';
import { DEFAULT_LIMITS, type Limits } from '../../base/model/limits.ts';
import type { Steps } from '../../base/model/steps.ts';
import { type LevelFields, levelFields } from './level-fields.ts';
import { DETECTED_LEVELS, levelOfSeverityNumber, normalizeLevel } from './level-words.ts';
import type { PushColumns, PushStream } from './push-columns.ts';

interface DetectedLevels {
  /** Index in `levels` plus 1 for each entry of the push, or 0 if none is added. */
  readonly levelOf: Uint16Array;
  readonly levels: readonly string[];
}

/** Maximum distinct levels of one push that `levelOf` distinguishes. Further ones become `unknown`. */
const MAX_LEVELS = 65_535;
/** Maximum characters of these levels. */
const MAX_LEVEL_CHARACTERS = 4 * 1024 * 1024;
/** Bytes of a line that are searched. */
const MAX_LINE_BYTES = 1024 * 1024;
/** Entries per step: 0.2 ms. */
const ENTRIES_A_STEP = 1024;
const BYTES_A_STEP = 128 * 1024;
const STREAMS_A_STEP = 1024;
/** Far above any spelling of a level. */
const MAX_LEVEL_LENGTH = 64;

// Roles of metadata names. A level field has FIELD plus its index in the list.
const NO_ROLE = 0;
const DETECTED_LEVEL = 1;
const SEVERITY_NUMBER = 2;
const FIELD = 3;

/** Detects the levels of `entries`. The metadata names must be sanitized. */
export function* detectLevels(
  columns: PushColumns,
  entries: Uint32Array,
  limits: Limits,
): Steps<DetectedLevels> {
  const levelOf = new Uint16Array(columns.count);
  if (!limits.discoverLogLevels || !limits.allowStructuredMetadata) return { levelOf, levels: [] };
  // An empty list means the default list, as in the reference.
  const { logLevelFields } = limits.logLevelFields.length > 0 ? limits : DEFAULT_LIMITS;
  const fields = levelFields(logLevelFields);
  const table = new LevelTable();
  const ofStream = new Uint16Array(columns.streams.length);
  for (let i = 0; i < ofStream.length; i++) {
    ofStream[i] = streamLevel(columns.streams[i], fields, table);
    if (i % STREAMS_A_STEP === STREAMS_A_STEP - 1) yield;
  }
  const detecting: Detecting = {
    entries,
    levelOf,
    ofStream,
    fields,
    roles: nameRoles(columns.names, fields),
    table,
    jsonMaxDepth: limits.logLevelFromJsonMaxDepth,
  };
  for (let next = 0; next < entries.length; ) {
    next = detectSome(columns, detecting, next);
    yield;
  }
  yield* table.normalizePairs(columns);
  return { levelOf, levels: table.levels };
}

interface Detecting {
  readonly entries: Uint32Array;
  readonly levelOf: Uint16Array;
  readonly ofStream: Uint16Array;
  readonly fields: LevelFields;
  readonly roles: Uint32Array;
  readonly table: LevelTable;
  readonly jsonMaxDepth: number;
}

/** Detects the levels of `entries` from `first` on, with lines last. Returns the next index. */
function detectSome(columns: PushColumns, detecting: Detecting, first: number): number {
  const { entries, levelOf, ofStream, fields, roles, table, jsonMaxDepth } = detecting;
  const { bytes, streamOf, lineStart, lineEnd, firstPair } = columns;
  const last = Math.min(entries.length, first + ENTRIES_A_STEP);
  let ends = lineEnd;
  let bytesLeft = BYTES_A_STEP;
  const asked = new Uint32Array(last - first);
  let count = 0;
  let i = first;
  for (; i < last && bytesLeft > 0; i++) {
    const entry = entries[i];
    const pairs = firstPair[entry + 1] - firstPair[entry];
    if (pairs > 0) {
      bytesLeft -= 32 * pairs;
      const level = metadataLevel(columns, entry, roles, ofStream[streamOf[entry]], table);
      if (level >= 0) {
        levelOf[entry] = level;
        continue;
      }
    }
    const level = ofStream[streamOf[entry]];
    if (level > 0) levelOf[entry] = level;
    else {
      const start = lineStart[entry];
      if (lineEnd[entry] - start > MAX_LINE_BYTES) {
        if (ends === lineEnd) ends = lineEnd.slice();
        ends[entry] = start + MAX_LINE_BYTES;
      }
      bytesLeft -= ends[entry] - start;
      asked[count++] = entry;
    }
  }
  const which = asked.subarray(0, count);
  const found = levelsOfLines({ bytes, starts: lineStart, ends }, which, fields, jsonMaxDepth);
  for (let j = 0; j < count; j++) levelOf[which[j]] = 1 + found[j];
  return i;
}

/** Returns the level of a stream's labels, as in `levelOf`. 0 if no label is a level field. */
function streamLevel(stream: PushStream, fields: LevelFields, table: LevelTable): number {
  for (const name of fields.names) {
    const value = labelValue(stream.labels, name);
    if (value !== undefined) return table.idOf(value);
  }
  return 0;
}

function nameRoles(names: readonly string[], fields: LevelFields): Uint32Array {
  return Uint32Array.from(names, name => {
    if (name === 'detected_level') return DETECTED_LEVEL;
    const rank = fields.rank.get(name);
    if (rank !== undefined) return FIELD + rank;
    return name === 'severity_number' ? SEVERITY_NUMBER : NO_ROLE;
  });
}

/**
 * Returns the level of an entry's metadata, as in `levelOf`, or -1 if it has none. A level of the stream has
 * precedence over all but an existing `detected_level`.
 */
function metadataLevel(
  columns: PushColumns,
  entry: number,
  roles: Uint32Array,
  ofStream: number,
  table: LevelTable,
): number {
  const { bytes, firstPair, pairName, pairStart, pairEnd } = columns;
  let best = -1;
  let bestRole = Infinity;
  let severity = -1;
  for (let pair = firstPair[entry]; pair < firstPair[entry + 1]; pair++) {
    const role = roles[pairName[pair]];
    if (role === NO_ROLE) continue;
    if (role === DETECTED_LEVEL) {
      table.notePair(columns, pair);
      return 0;
    }
    if (role === SEVERITY_NUMBER) severity = pair;
    else if (role < bestRole) {
      best = pair;
      bestRole = role;
    }
  }
  if (ofStream > 0) return ofStream;
  if (best >= 0) return table.idOf(bytes.utf8Slice(pairStart[best], pairEnd[best]));
  if (severity < 0) return -1;
  return table.idOf(levelOfSeverityNumber(bytes.utf8Slice(pairStart[severity], pairEnd[severity])));
}

class LevelTable {
  readonly levels: string[] = [...DETECTED_LEVELS];
  readonly #ids = new Map<string, number>(DETECTED_LEVELS.map((level, code) => [level, code + 1]));
  #characters = 0;
  /** Pairs whose value is not in its normal form, and the normal form. */
  readonly #pairs: number[] = [];
  readonly #codes: number[] = [];

  /**
   * Returns the level of a label or metadata value, as in `levelOf`. 0 (none is added) if the value is empty.
   */
  idOf(value: string): number {
    if (value === '') return 0;
    const level = normalizeLevel(value);
    let id = this.#ids.get(level);
    if (id === undefined) {
      this.#characters += level.length;
      if (this.levels.length === MAX_LEVELS || this.#characters > MAX_LEVEL_CHARACTERS) return 1;
      id = this.levels.push(level);
      this.#ids.set(level, id);
    }
    return id;
  }

  /** Records a pair whose value needs its normal form. */
  notePair({ bytes, pairStart, pairEnd }: PushColumns, pair: number): void {
    // No level is longer: the normal form equals the value.
    if (pairEnd[pair] - pairStart[pair] > MAX_LEVEL_LENGTH) return;
    const value = bytes.utf8Slice(pairStart[pair], pairEnd[pair]);
    const level = normalizeLevel(value);
    if (level === value) return;
    this.#pairs.push(pair);
    this.#codes.push(DETECTED_LEVELS.indexOf(level as (typeof DETECTED_LEVELS)[number]));
  }

  /** Points the recorded pairs at the normal forms of their values. */
  *normalizePairs(columns: PushColumns): Steps<void> {
    if (this.#pairs.length === 0) return;
    // The body may move and is then copied: once for all of them.
    let at = yield* columns.append(Buffer.from(DETECTED_LEVELS.join('')));
    const startOf = DETECTED_LEVELS.map(level => {
      const start = at;
      at += level.length;
      return start;
    });
    for (let i = 0; i < this.#pairs.length; i++) {
      const start = startOf[this.#codes[i]];
      columns.pairStart[this.#pairs[i]] = start;
      columns.pairEnd[this.#pairs[i]] = start + DETECTED_LEVELS[this.#codes[i]].length;
      if (i % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
    }
  }
}
