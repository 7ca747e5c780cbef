/**
 * Implements `discover_generic_fields` (docs/dev/wire-format.md#detected_level). It searches the labels of the stream, then the
 * entry's metadata, then a JSON or logfmt line, and adds the value as structured metadata unchanged.
 *
 * Pitfall: if the line has one of the hints, later hints are ignored, even if the value is empty and adds
 * nothing. Metadata of the same name that the entry contains stays unchanged.
 */
import { labelValue } from '../../base/model/labels.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { Steps } from '../../base/model/steps.ts';
import { parseJsonPath } from '../../execution/pipeline/json-path.ts';
import { MAX_METADATA_PAIRS, tooMany } from './bounds.ts';
import { type LevelFields, levelFields } from './level-fields.ts';
import { type FoundRange, findJsonValue, findLogfmtValue, type PathStep } from './line-fields.ts';
import { sanitizeMetadata } from './metadata.ts';
import { sanitizeMetadataName } from './metadata-name.ts';
import { OverflowBuffer } from './overflow-buffer.ts';
import type { PushColumns } from './push-columns.ts';

interface GenericField {
  /** Name as stored. */
  readonly name: string;
  readonly hints: readonly string[];
  /** Hints as logfmt keys. */
  readonly keys: LevelFields;
  /** Hints that are JSON paths. */
  readonly paths: readonly (readonly PathStep[])[];
}

const COMPILED = new WeakMap<Limits['discoverGenericFields'], readonly GenericField[]>();

function compile(fields: Limits['discoverGenericFields']): readonly GenericField[] {
  let found = COMPILED.get(fields);
  if (found === undefined) {
    found = [...fields].map(([name, hints]) => ({
      name: sanitizeMetadataName(name),
      hints,
      keys: levelFields(hints),
      paths: hints.flatMap(hint => pathOf(hint) ?? []),
    }));
    COMPILED.set(fields, found);
  }
  return found;
}

/** Returns a list, so that a hint that is not a path adds none. */
function pathOf(hint: string): [readonly PathStep[]] | undefined {
  try {
    return [parseJsonPath(hint).map(part => (typeof part === 'number' ? part : Buffer.from(part)))];
  } catch {
    return undefined;
  }
}

/** Pairs to add: parallel lists, ascending by entry within a field. */
interface Additions {
  readonly entry: number[];
  readonly name: number[];
  readonly start: number[];
  readonly end: number[];
}

/**
 * Adds the values found to the metadata of `entries`, whose names must be sanitized. Throws TooLargeError.
 */
export function* discoverGenericFields(
  columns: PushColumns,
  entries: Uint32Array,
  limits: Limits,
): Steps<void> {
  const { discoverGenericFields: wanted, allowStructuredMetadata } = limits;
  if (wanted.size === 0 || !allowStructuredMetadata || entries.length === 0) return;
  const added: Additions = { entry: [], name: [], start: [], end: [] };
  const overflow = new OverflowBuffer(columns.bytes.length);
  for (const field of compile(wanted)) yield* findField(columns, entries, field, overflow, added);
  yield* overflow.appendTo(columns);
  if (added.entry.length === 0) return;
  yield* insertPairs(columns, added);
  // A line may contain invalid UTF-8; metadata values are always valid text.
  yield* sanitizeMetadata(columns);
}

/** Entries per step: a few tenths of a millisecond. A line is never split. */
const ENTRIES_A_STEP = 1024;
const BYTES_A_STEP = 128 * 1024;
const PAIRS_A_STEP = 16_384;
/** Bytes of a line that are searched. */
const MAX_LINE_BYTES = 1024 * 1024;

const RANGE: FoundRange = { start: 0, end: 0 };

function* findField(
  columns: PushColumns,
  entries: Uint32Array,
  field: GenericField,
  overflow: OverflowBuffer,
  added: Additions,
): Steps<void> {
  const name = columns.nameId(field.name);
  const ofStream: (FoundRange | undefined)[] = [];
  for (const { labels } of columns.streams) {
    const hint = field.hints.find(one => labelValue(labels, one) !== undefined);
    ofStream.push(hint === undefined ? undefined : overflowed(overflow, labelValue(labels, hint) ?? ''));
    if (ofStream.length % ENTRIES_A_STEP === 0) yield;
  }
  const rankOfName = Int32Array.from(columns.names, one => field.hints.indexOf(one));
  let bytesLeft = BYTES_A_STEP;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i];
    if (bytesLeft < 0 || i % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) {
      bytesLeft = BYTES_A_STEP;
      yield;
    }
    bytesLeft -= Math.min(columns.lineEnd[entry] - columns.lineStart[entry], MAX_LINE_BYTES);
    const pair = bestPair(columns, entry, rankOfName, name);
    if (pair === HAS_IT) continue;
    const inLabels = ofStream[columns.streamOf[entry]];
    if (inLabels !== undefined) {
      RANGE.start = inLabels.start;
      RANGE.end = inLabels.end;
    } else if (pair >= 0) {
      RANGE.start = columns.pairStart[pair];
      RANGE.end = columns.pairEnd[pair];
    } else if (!findInLine(columns, entry, field)) continue;
    if (RANGE.start === RANGE.end) continue;
    if (columns.pairCount + added.entry.length >= MAX_METADATA_PAIRS) {
      throw tooMany('metadata pairs', MAX_METADATA_PAIRS);
    }
    added.entry.push(entry);
    added.name.push(name);
    added.start.push(RANGE.start);
    added.end.push(RANGE.end);
  }
}

function overflowed(overflow: OverflowBuffer, text: string): FoundRange {
  const bytes = Buffer.from(text);
  const start = overflow.end;
  overflow.pushRange(bytes, 0, bytes.length);
  return { start, end: overflow.end };
}

const HAS_IT = -2;
const NO_PAIR = -1;

/**
 * Returns the pair of an entry whose name is the first hint, NO_PAIR, or HAS_IT if the entry already has the
 * field.
 */
function bestPair(columns: PushColumns, entry: number, rankOfName: Int32Array, name: number): number {
  const { firstPair, pairName } = columns;
  let best = NO_PAIR;
  let bestRank = Infinity;
  for (let pair = firstPair[entry]; pair < firstPair[entry + 1]; pair++) {
    if (pairName[pair] === name) return HAS_IT;
    const rank = rankOfName[pairName[pair]];
    if (rank >= 0 && rank < bestRank) {
      best = pair;
      bestRank = rank;
    }
  }
  return best;
}

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Sets `range` to the value of a field in the line. */
function findInLine({ bytes, lineStart, lineEnd }: PushColumns, entry: number, field: GenericField): boolean {
  const start = lineStart[entry];
  const end = Math.min(lineEnd[entry], start + MAX_LINE_BYTES);
  let first = start;
  while (first < end && isSpace(bytes[first])) first++;
  let last = end - 1;
  while (last > first && isSpace(bytes[last])) last--;
  if (last > first && bytes[first] === OPEN_BRACE && bytes[last] === CLOSE_BRACE) {
    return field.paths.some(path => findJsonValue(bytes, first, last + 1, path, RANGE));
  }
  // A line without `=` has only bare keys, whose values are empty: nothing is added.
  return findLogfmtValue(bytes, start, end, field.keys, RANGE);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

/** Inserts each added pair after the existing pairs of its entry. */
function* insertPairs(columns: PushColumns, added: Additions): Steps<void> {
  const { firstPair, pairName, pairStart, pairEnd } = columns;
  const total = columns.pairCount + added.entry.length;
  // First the start of each entry's pairs, later the index of its next added pair.
  const offsets = new Uint32Array(columns.count + 1);
  for (let i = 0; i < added.entry.length; i++) {
    offsets[added.entry[i] + 1]++;
    if (i % PAIRS_A_STEP === PAIRS_A_STEP - 1) yield;
  }
  const [name, start, end] = [new Uint32Array(total), new Uint32Array(total), new Uint32Array(total)];
  let to = 0;
  let from = firstPair[0];
  for (let entry = 0; entry < columns.count; entry++) {
    const until = firstPair[entry + 1];
    firstPair[entry] = to;
    for (; from < until; from++, to++) {
      name[to] = pairName[from];
      start[to] = pairStart[from];
      end[to] = pairEnd[from];
    }
    const more = offsets[entry + 1];
    offsets[entry] = to;
    to += more;
    if (entry % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
  }
  // Ascending by field, and therefore in the order of the fields within an entry.
  for (let i = 0; i < added.entry.length; i++) {
    const offset = offsets[added.entry[i]]++;
    name[offset] = added.name[i];
    start[offset] = added.start[i];
    end[offset] = added.end[i];
    if (i % PAIRS_A_STEP === PAIRS_A_STEP - 1) yield;
  }
  firstPair[columns.count] = to;
  columns.pairName = name;
  columns.pairStart = start;
  columns.pairEnd = end;
  columns.pairCount = total;
}
