/**
 * Whether an answer is the recorded one, by the rules that came with the recording: streams, matrices, vectors and lists
 * are sets; entries of a stream are in order but ties in any; values are equal within a billionth; what only describes
 * the data (volumes, cardinalities) within a share. Texts of errors are compared apart, by textMismatch.
 */
import type { RecordedCase } from './recorded.ts';

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Relative error of a sample's value. */
const VALUE_TOLERANCE = 1e-9;
const VOLUME_TOLERANCE = 0.25;
const COUNT_TOLERANCE = 0.1;
/** Characters of an item that a message shows. */
const MAX_SHOWN = 600;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type JsonObject = { [key: string]: Json };

/** Returns the differences of the response; undefined if there are none. */
export function mismatch(recorded: RecordedCase, got: Answered): string | undefined {
  if (got.status !== recorded.status) {
    return `status ${got.status} (${shorten(got.text)}), want ${recorded.status} (${shorten(show(recorded.body as Json))})`;
  }
  if (recorded.status !== 200 || recorded.method === 'HEAD') return undefined;
  let body: Json;
  try {
    body = JSON.parse(got.text) as Json;
  } catch {
    return `no JSON: ${shorten(got.text)}`;
  }
  return compareBodies(recorded, body, recorded.body as Json);
}

/**
 * Texts of errors: shown to developers, not counted. The reference prints line 0 if it does not know the line
 * (D7).
 */
export function textMismatch(recorded: RecordedCase, got: Answered): string | undefined {
  if (recorded.status === 200 || got.status !== recorded.status) return undefined;
  const want = errorText(recorded.body as Json).replace('at line 0,', 'at line 1,');
  let text = got.text;
  try {
    text = errorText(JSON.parse(text) as Json);
  } catch {
    // Plain text.
  }
  return text === want ? undefined : `got  ${text}\nwant ${want}`;
}

function errorText(body: Json): string {
  return isObject(body) && typeof body.error === 'string' ? body.error : String(body);
}

function compareBodies(recorded: RecordedCase, got: Json, want: Json): string | undefined {
  if (!isObject(got) || !isObject(want)) return differ(got, want);
  if (got.status !== want.status) return `status field ${show(got.status)}, want ${show(want.status)}`;
  if (recorded.compare === 'format') return differ(got.data, want.data);
  if (recorded.path.includes('/detected_')) return compareDescriptions(recorded.path, got, want);
  if (isObject(want.data)) {
    return isObject(got.data) ? compareResults(recorded, got.data, want.data) : differ(got.data, want.data);
  }
  return compareSets(asList(got.data), asList(want.data));
}

function compareResults(recorded: RecordedCase, got: JsonObject, want: JsonObject): string | undefined {
  if (got.resultType !== want.resultType)
    return `type ${show(got.resultType)}, want ${show(want.resultType)}`;
  const flags = differ(got.encodingFlags ?? null, want.encodingFlags ?? null);
  if (flags !== undefined) return `encodingFlags: ${flags}`;
  if (want.resultType === 'scalar') return compareSamples([got.result], [want.result], VALUE_TOLERANCE);
  const items = [got.result, want.result].map(result => asList(result) as JsonObject[]);
  const key = want.resultType === 'streams' ? 'stream' : 'metric';
  const names = items.map(list => list.map(item => show(item[key])));
  if (recorded.ordered) {
    const order = differ(names[0], names[1]);
    if (order !== undefined) return `order: ${order}`;
  }
  const labels = compareSets(names[0], names[1]);
  if (labels !== undefined) return `${key}: ${labels}`;
  const tolerance = recorded.path.includes('/index/') ? VOLUME_TOLERANCE : VALUE_TOLERANCE;
  for (const [i, wanted] of items[1].entries()) {
    const found = items[0][names[0].indexOf(names[1][i])];
    const problem =
      want.resultType === 'streams'
        ? compareEntries(asList(found.values), asList(wanted.values))
        : compareSamples(samplesOf(found), samplesOf(wanted), tolerance);
    if (problem !== undefined) return `${names[1][i]}: ${problem}`;
  }
  return undefined;
}

function samplesOf(series: JsonObject): Json[] {
  return 'value' in series ? [series.value] : asList(series.values);
}

/** Entries are in order; those of one timestamp in any. */
function compareEntries(got: Json[], want: Json[]): string | undefined {
  if (got.length !== want.length) {
    return `${got.length} entries, want ${want.length}; ${compareSets(got.map(show), want.map(show))}`;
  }
  const times = [got, want].map(list => list.map(entry => (entry as Json[])[0]));
  return differ(times[0], times[1]) ?? compareSets(got.map(show), want.map(show));
}

function compareSamples(got: Json[], want: Json[], tolerance: number): string | undefined {
  const times = [got, want].map(list => list.map(sample => (sample as Json[])?.[0]));
  const problem = differ(times[0], times[1]);
  if (problem !== undefined) return `times: ${problem}`;
  for (const [i, wanted] of want.entries()) {
    const values = [got[i], wanted].map(sample => String((sample as Json[])[1]));
    if (!isClose(values[0], values[1], tolerance))
      return `at ${times[0][i]}: ${values[0]}, want ${values[1]}`;
  }
  return undefined;
}

function isClose(got: string, want: string, tolerance: number): boolean {
  if (got === want) return true;
  const [a, b] = [Number(got), Number(want)];
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
}

/** Detected fields, labels and values: names, types, parsers and paths are exact, counts are estimates. */
function compareDescriptions(path: string, got: JsonObject, want: JsonObject): string | undefined {
  const limit = differ(got.limit ?? null, want.limit ?? null);
  if (limit !== undefined) return `limit: ${limit}`;
  if (path.endsWith('/values')) return compareSets(asList(got.values), asList(want.values));
  const key = path.endsWith('/detected_labels') ? 'detectedLabels' : 'fields';
  const items = [got[key], want[key]].map(list => asList(list) as JsonObject[]);
  const described = items.map(list => list.map(item => ({ ...item, cardinality: null })));
  const problem = compareSets(described[0], described[1]);
  if (problem !== undefined) return problem;
  for (const wanted of items[1]) {
    const found = items[0].find(item => item.label === wanted.label)!;
    if (!isClose(String(found.cardinality), String(wanted.cardinality), COUNT_TOLERANCE)) {
      return `${wanted.label}: cardinality ${found.cardinality}, want ${wanted.cardinality}`;
    }
  }
  return undefined;
}

/** Compares multisets: an item that occurs twice is one too many. */
function compareSets(got: readonly Json[], want: readonly Json[]): string | undefined {
  const counts = new Map<string, number>();
  const add = (text: string, by: number) => counts.set(text, (counts.get(text) ?? 0) + by);
  for (const item of want) add(show(item), 1);
  for (const item of got) add(show(item), -1);
  const missing = [...counts].filter(([, count]) => count > 0).map(([item]) => item);
  const extra = [...counts].filter(([, count]) => count < 0).map(([item]) => item);
  if (missing.length === 0 && extra.length === 0) return undefined;
  return `${missing.length} missing, for example ${shorten(missing[0] ?? 'none')}; ${extra.length} too many, for example ${shorten(extra[0] ?? 'none')}`;
}

function differ(got: Json | undefined, want: Json | undefined): string | undefined {
  const texts = [show(got ?? null), show(want ?? null)];
  return texts[0] === texts[1] ? undefined : `${shorten(texts[0])}, want ${shorten(texts[1])}`;
}

/** JSON with sorted keys; a text as it is. */
function show(value: Json): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, (_, inner: Json) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shorten(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}
