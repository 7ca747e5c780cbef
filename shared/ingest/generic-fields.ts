/**
 * `discover_generic_fields` (wire-format 1.13): structured metadata that is looked for in the labels of the stream,
 * then in the entry's metadata, then in a JSON or logfmt line, and added as it is found there.
 *
 * What a reader would get wrong: where a place has one of the hints, later places are not looked at even if the value
 * is empty, which adds nothing; and metadata of the same name that the entry brought itself stays as it is.
 */
import { labelValue } from '../model/labels.ts';
import type { Limits } from '../model/limits.ts';
import { parseJsonPath } from '../pipeline/json-path.ts';
import { MAX_METADATA_PAIRS, tooMany } from './bounds.ts';
import { type LevelFields, levelFields } from './level-fields.ts';
import { type FoundRange, findJsonValue, findLogfmtValue, type PathStep } from './line-fields.ts';
import { sanitizeMetadata } from './metadata.ts';
import { sanitizeMetadataName } from './metadata-name.ts';
import type { PushColumns } from './push-columns.ts';
import { Spill } from './spill.ts';

interface GenericField {
  /** As it is stored. */
  readonly name: string;
  readonly hints: readonly string[];
  /** The hints as keys of logfmt. */
  readonly keys: LevelFields;
  /** The hints that are paths of JSON. */
  readonly paths: readonly (readonly PathStep[])[];
}

const compiled = new WeakMap<Limits['discoverGenericFields'], readonly GenericField[]>();

function compile(fields: Limits['discoverGenericFields']): readonly GenericField[] {
  let found = compiled.get(fields);
  if (found === undefined) {
    found = [...fields].map(([name, hints]) => ({
      name: sanitizeMetadataName(name),
      hints,
      keys: levelFields(hints),
      paths: hints.flatMap(hint => pathOf(hint) ?? []),
    }));
    compiled.set(fields, found);
  }
  return found;
}

/** In a list, so that a hint that is no path adds none. */
function pathOf(hint: string): [readonly PathStep[]] | undefined {
  try {
    return [parseJsonPath(hint).map(part => (typeof part === 'number' ? part : Buffer.from(part)))];
  } catch {
    return undefined;
  }
}

/** Pairs to be added: parallel lists, ascending by entry within a field. */
interface Additions {
  readonly entry: number[];
  readonly name: number[];
  readonly start: number[];
  readonly end: number[];
}

/** Adds what it finds to the metadata of `entries`, whose names must be sanitised already. Throws TooLargeError. */
export function discoverGenericFields(columns: PushColumns, entries: Uint32Array, limits: Limits): void {
  const { discoverGenericFields: wanted, allowStructuredMetadata } = limits;
  if (wanted.size === 0 || !allowStructuredMetadata || entries.length === 0) return;
  const added: Additions = { entry: [], name: [], start: [], end: [] };
  const spill = new Spill(columns.bytes.length);
  for (const field of compile(wanted)) findField(columns, entries, field, spill, added);
  spill.appendTo(columns);
  if (added.entry.length === 0) return;
  insertPairs(columns, added);
  // A line may hold bytes that are no text: values of metadata are always text.
  sanitizeMetadata(columns);
}

const range: FoundRange = { start: 0, end: 0 };

function findField(
  columns: PushColumns,
  entries: Uint32Array,
  field: GenericField,
  spill: Spill,
  added: Additions,
): void {
  const name = columns.nameId(field.name);
  const ofStream = columns.streams.map(({ labels }) => {
    const hint = field.hints.find(one => labelValue(labels, one) !== undefined);
    return hint === undefined ? undefined : spilled(spill, labelValue(labels, hint) ?? '');
  });
  const rankOfName = Int32Array.from(columns.names, one => field.hints.indexOf(one));
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i];
    const pair = bestPair(columns, entry, rankOfName, name);
    if (pair === HAS_IT) continue;
    const inLabels = ofStream[columns.streamOf[entry]];
    if (inLabels !== undefined) {
      range.start = inLabels.start;
      range.end = inLabels.end;
    } else if (pair >= 0) {
      range.start = columns.pairStart[pair];
      range.end = columns.pairEnd[pair];
    } else if (!findInLine(columns, entry, field)) continue;
    if (range.start === range.end) continue;
    if (columns.pairCount + added.entry.length >= MAX_METADATA_PAIRS) {
      throw tooMany('metadata pairs', MAX_METADATA_PAIRS);
    }
    added.entry.push(entry);
    added.name.push(name);
    added.start.push(range.start);
    added.end.push(range.end);
  }
}

function spilled(spill: Spill, text: string): FoundRange {
  const bytes = Buffer.from(text);
  const start = spill.end;
  spill.pushRange(bytes, 0, bytes.length);
  return { start, end: spill.end };
}

const HAS_IT = -2;
const NO_PAIR = -1;

/** The pair of an entry whose name is the first hint, NO_PAIR, or HAS_IT where the entry has the field itself. */
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

/** Sets `range` to what the line says of a field. */
function findInLine({ bytes, lineStart, lineEnd }: PushColumns, entry: number, field: GenericField): boolean {
  const start = lineStart[entry];
  const end = lineEnd[entry];
  let first = start;
  while (first < end && isSpace(bytes[first])) first++;
  let last = end - 1;
  while (last > first && isSpace(bytes[last])) last--;
  if (last > first && bytes[first] === OPEN_BRACE && bytes[last] === CLOSE_BRACE) {
    return field.paths.some(path => findJsonValue(bytes, first, last + 1, path, range));
  }
  // A line without any `=` has bare keys only, whose values are empty: nothing is added.
  return findLogfmtValue(bytes, start, end, field.keys, range);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

/** Puts each added pair behind those that its entry has. */
function insertPairs(columns: PushColumns, added: Additions): void {
  const order = Uint32Array.from(added.entry, (_, i) => i);
  order.sort((a, b) => added.entry[a] - added.entry[b] || a - b);
  const { firstPair, pairName, pairStart, pairEnd } = columns;
  const total = columns.pairCount + added.entry.length;
  const [name, start, end] = [new Uint32Array(total), new Uint32Array(total), new Uint32Array(total)];
  let to = 0;
  let next = 0;
  for (let entry = 0; entry < columns.count; entry++) {
    const from = firstPair[entry];
    const until = firstPair[entry + 1];
    firstPair[entry] = to;
    for (let pair = from; pair < until; pair++, to++) {
      name[to] = pairName[pair];
      start[to] = pairStart[pair];
      end[to] = pairEnd[pair];
    }
    for (; next < order.length && added.entry[order[next]] === entry; next++, to++) {
      name[to] = added.name[order[next]];
      start[to] = added.start[order[next]];
      end[to] = added.end[order[next]];
    }
  }
  firstPair[columns.count] = to;
  columns.pairName = name;
  columns.pairStart = start;
  columns.pairEnd = end;
  columns.pairCount = total;
}
