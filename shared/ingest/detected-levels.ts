/**
 * `detected_level` of every entry to store (wire-format 1.13): from its metadata, its stream, or its line. What
 * detection adds stands beside the columns as a code for each entry; a level that the entry brought itself is
 * normalised in place.
 */
import { labelValue } from '../model/labels.ts';
import { DEFAULT_LIMITS, type Limits } from '../model/limits.ts';
import { detectLevel } from './detect-level.ts';
import { type LevelFields, levelFields } from './level-fields.ts';
import { LEVELS, levelOfSeverityNumber, normaliseLevel } from './level-words.ts';
import type { PushColumns, PushStream } from './push-columns.ts';

export interface DetectedLevels {
  /** For each entry of the push: place in `levels`, plus 1; 0 where none is to be added. */
  readonly levelOf: Uint16Array;
  readonly levels: readonly string[];
}

/** Distinct levels of one push that `levelOf` can tell apart; further ones become `unknown`. */
const MAX_LEVELS = 65_535;

// Roles of metadata names; a level field has FIELD plus its place in the list.
const NO_ROLE = 0;
const DETECTED_LEVEL = 1;
const SEVERITY_NUMBER = 2;
const FIELD = 3;

/** Levels of `entries`. The metadata names must be sanitised already. */
export function detectLevels(columns: PushColumns, entries: Uint32Array, limits: Limits): DetectedLevels {
  const levelOf = new Uint16Array(columns.count);
  if (!limits.discoverLogLevels || !limits.allowStructuredMetadata) return { levelOf, levels: [] };
  // An empty list stands for the default one, as in the reference.
  const { logLevelFields } = limits.logLevelFields.length > 0 ? limits : DEFAULT_LIMITS;
  const fields = levelFields(logLevelFields);
  const table = new LevelTable();
  const ofStream = columns.streams.map(stream => streamLevel(stream, fields, table));
  const roles = nameRoles(columns.names, fields);
  const { streamOf, lineStart, lineEnd, firstPair } = columns;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i];
    if (firstPair[entry + 1] > firstPair[entry]) {
      const level = metadataLevel(columns, entry, roles, ofStream[streamOf[entry]], table);
      if (level >= 0) {
        levelOf[entry] = level;
        continue;
      }
    }
    const level = ofStream[streamOf[entry]];
    levelOf[entry] =
      level > 0
        ? level
        : 1 +
          detectLevel(
            columns.bytes,
            lineStart[entry],
            lineEnd[entry],
            fields,
            limits.logLevelFromJsonMaxDepth,
          );
  }
  return { levelOf, levels: table.levels };
}

/** Level by the labels of a stream, as `levelOf` has it; 0 where no label is a level field. */
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
 * Level by the metadata of an entry, as `levelOf` has it; -1 where it says nothing. A level of the stream goes before
 * all but an existing `detected_level`.
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
      table.normalisePair(columns, pair);
      return 0;
    }
    if (role === SEVERITY_NUMBER) severity = pairEnd[pair] > pairStart[pair] ? pair : -1;
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
  readonly levels: string[] = [...LEVELS];
  private readonly ids = new Map<string, number>(LEVELS.map((level, code) => [level, code + 1]));
  /** Where the texts of LEVELS begin behind the body; -1 while they are not there. */
  private textsAt = -1;

  /** A level as `levelOf` has it, by a value of a label or of metadata; 0 (none is added) where that is empty. */
  idOf(value: string): number {
    if (value === '') return 0;
    const level = normaliseLevel(value);
    let id = this.ids.get(level);
    if (id === undefined) {
      if (this.levels.length === MAX_LEVELS) return 1;
      id = this.levels.push(level);
      this.ids.set(level, id);
    }
    return id;
  }

  /** Points the pair at the normalised form of its value. */
  normalisePair(columns: PushColumns, pair: number): void {
    const value = columns.bytes.utf8Slice(columns.pairStart[pair], columns.pairEnd[pair]);
    const level = normaliseLevel(value);
    if (level === value) return;
    if (this.textsAt < 0) this.textsAt = columns.append(Buffer.from(LEVELS.join('')));
    let start = this.textsAt;
    for (const known of LEVELS) {
      if (known === level) break;
      start += known.length;
    }
    columns.pairStart[pair] = start;
    columns.pairEnd[pair] = start + level.length;
  }
}
