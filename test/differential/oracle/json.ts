/** `json`, `json` with expressions and `unpack` (docs/dev/logql-semantics.md#json, #json-with-expressions, #unpack). */
import type { Extraction } from '../../../shared/language/logql/ast.ts';
import { type Bytes, bytesOfRunes, toBytes, withSpaces } from './bytes.ts';
import { type EntryLabels, sanitized, trimmed } from './labels.ts';
import { Undecided } from './undecided.ts';

const KIND = 'JSONParserErr';
const BAD_OBJECT = "Value looks like object, but can't find closing '}' symbol";
const BAD_ARRAY = "Value is array, but can't find closing ']' symbol";
const BAD_STRING = "Value is string, but can't find closing '\"' symbol";
const BAD_JSON = 'Malformed JSON error';
const BAD_KEY = 'Encountered an invalid escape sequence in a string';
const UNKNOWN_VALUE = 'Unknown value type';

class Malformed extends Error {}
/** Every wanted name is there: the rest of the line is not looked at. */
class Enough extends Error {}

type ValueKind = 'string' | 'word' | 'null' | 'object' | 'array';
type Visit = (key: Bytes, kind: ValueKind, value: Bytes) => void;

export function parseJson(line: Bytes, labels: EntryLabels): void {
  if (labels.hasAllWanted) return;
  try {
    eachMember(line, extractor(labels, []));
  } catch (error) {
    if (error instanceof Malformed) labels.failParsing(KIND, error.message);
    else if (!(error instanceof Enough)) throw error;
  }
}

function extractor(labels: EntryLabels, path: readonly Bytes[]): Visit {
  return (key, kind, value) => {
    if (kind === 'object') {
      if (labels.isWantedBelow(nameOf([...path, key]))) eachMember(value, extractor(labels, [...path, key]));
      return;
    }
    if (kind === 'string' || kind === 'word') {
      const name = nameOf([...path, key]);
      const target = labels.collides(name) ? suffixed(path, key) : name;
      const isNew = labels.isWanted(target) && !labels.isExtracted(target);
      if (isNew && (name !== '' || path.length > 0))
        labels.set(target, kind === 'string' ? shownString(value) : value);
    }
    if (labels.hasAllWanted) throw new Enough();
  };
}

/** The suffix belongs to the name at the top, and to the last key below. */
function suffixed(path: readonly Bytes[], key: Bytes): Bytes {
  return path.length === 0 ? `${nameOf([key])}_extracted` : nameOf([...path, `${key}_extracted`]);
}

/** Keys of a path, each sanitized, joined; blank ones count for nothing. */
function nameOf(path: readonly Bytes[]): Bytes {
  const parts = path.filter(part => trimmed(part).length > 0);
  return parts
    .map((part, i) => (i === 0 ? sanitized(part) : sanitized(`x${trimmedBytes(part)}`).slice(1)))
    .join('_');
}

function trimmedBytes(part: Bytes): Bytes {
  return bytesOfRunes(trimmed(part));
}

function shownString(inside: Bytes): Bytes {
  return withSpaces(unescaped(inside) ?? '');
}

/** Members of the object at the start of the text, up to the first mistake. */
function eachMember(text: Bytes, visit: Visit): void {
  let at = skipSpace(text, 0);
  if (text[at] !== '{') throw new Malformed(BAD_OBJECT);
  at = skipSpace(text, at + 1);
  if (at === text.length) throw new Malformed(BAD_JSON);
  if (text[at] === '}') return;
  for (;;) {
    if (text[at] === '}') return;
    if (text[at] !== '"') throw new Malformed(BAD_OBJECT);
    const keyEnd = endOfString(text, at);
    if (keyEnd < 0) throw new Malformed(BAD_JSON);
    const key = unescaped(text.slice(at + 1, keyEnd - 1));
    if (key === undefined) throw new Malformed(BAD_KEY);
    at = skipSpace(text, keyEnd);
    if (text[at] !== ':') throw new Malformed(BAD_JSON);
    const [start, end, kind] = valueAt(text, at + 1);
    visit(key, kind, kind === 'string' ? text.slice(start + 1, end - 1) : text.slice(start, end));
    at = skipSpace(text, end);
    if (at === text.length) throw new Malformed(BAD_ARRAY);
    if (text[at] === '}') return;
    if (text[at] !== ',') throw new Malformed(BAD_OBJECT);
    at = skipSpace(text, at + 1);
    if (at === text.length) throw new Malformed(BAD_ARRAY);
  }
}

function valueAt(text: Bytes, from: number): [start: number, end: number, kind: ValueKind] {
  const start = skipSpace(text, from);
  if (start === text.length) throw new Malformed(BAD_JSON);
  switch (text[start]) {
    case '"': {
      const end = endOfString(text, start);
      if (end < 0) throw new Malformed(BAD_STRING);
      return [start, end, 'string'];
    }
    case '{':
    case '[': {
      const isObject = text[start] === '{';
      const end = endOfBlock(text, start);
      if (end < 0) throw new Malformed(isObject ? BAD_OBJECT : BAD_ARRAY);
      return [start, end, isObject ? 'object' : 'array'];
    }
  }
  let end = start;
  while (end < text.length && !' \n\r\t,}]'.includes(text[end])) end++;
  const word = text.slice(start, end);
  if (word === 'null') return [start, end, 'null'];
  if (word === 'true' || word === 'false' || /^[0-9-]/.test(word)) return [start, end, 'word'];
  throw new Malformed(UNKNOWN_VALUE);
}

function skipSpace(text: Bytes, from: number): number {
  let at = from;
  while (at < text.length && ' \n\r\t'.includes(text[at])) at++;
  return at;
}

/** Place behind the quote that ends the string at `start`, or -1. */
function endOfString(text: Bytes, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}

/** Place behind the bracket that closes the one at `start`, strings aside; or -1. */
function endOfBlock(text: Bytes, start: number): number {
  const open = text[start];
  const close = open === '{' ? '}' : ']';
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '"') {
      const end = endOfString(text, at);
      if (end < 0) return -1;
      at = end - 1;
    } else if (text[at] === open) depth++;
    else if (text[at] === close && --depth === 0) return at + 1;
  }
  return -1;
}

const SHORT: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Undefined for a bad escape, and for half a surrogate pair. */
function unescaped(inside: Bytes): Bytes | undefined {
  let out = '';
  for (let at = 0; at < inside.length; at++) {
    if (inside[at] !== '\\') {
      out += inside[at];
      continue;
    }
    const short = SHORT[inside[++at]];
    if (short !== undefined) {
      out += short;
      continue;
    }
    const units = /^(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4})/.exec(
      inside.slice(at, at + 11),
    );
    if (units === null) return undefined;
    const text = String.fromCharCode(
      ...units[0].match(/[0-9a-fA-F]{4}/g)!.map(hex => Number.parseInt(hex, 16)),
    );
    if (!text.isWellFormed()) return undefined;
    out += toBytes(text);
    at += units[0].length - 1;
  }
  return out;
}

// Expressions.

type Path = readonly (string | number)[];

export function compileJsonExpressions(
  extractions: readonly Extraction[],
): (line: Bytes, labels: EntryLabels) => void {
  const wanted = extractions.map(({ name, expression }) => ({
    name: toBytes(name),
    path: pathOf(toBytes(expression)),
  }));
  return (line, labels) => {
    if (line === '' || labels.hasAllWanted) return;
    if (!'"{['.includes(line[0])) {
      labels.failParsing(KIND, undefined);
      return;
    }
    const found = wanted.map(({ path }) => find(wellFormed(line), path));
    // Values are set in the order of the line, in which a later one of a name wins.
    const order = found.map((value, i) => ({ value, i })).filter(one => one.value !== undefined);
    order.sort((a, b) => a.value!.at - b.value!.at || a.i - b.i);
    for (const { value, i } of order) labels.set(labels.nameFor(wanted[i].name), value!.shown);
    if (order.length === wanted.length) return;
    for (const { name } of wanted) if (labels.get(name) === undefined) labels.set(name, '');
  };
}

function pathOf(expression: Bytes): Path {
  const parts: (string | number)[] = [];
  for (const match of expression.matchAll(/\[(\d+)\]|\["([^"\]]*)"\]|([A-Za-z_]\w*)/g)) {
    parts.push(match[1] !== undefined ? Number(match[1]) : (match[2] ?? match[3]));
  }
  return parts;
}

/**
 * The result of a broken line depends on how the reference scans it; so does the rest after a key with half a
 * character.
 */
function wellFormed(line: Bytes): Bytes {
  const undecided = new Undecided(`expressions on broken JSON: ${line.slice(0, 80)}`);
  try {
    JSON.parse(Buffer.from(line, 'latin1').toString('utf8'));
  } catch {
    throw undecided;
  }
  for (const [, inside] of line.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g)) {
    if (unescaped(inside) === undefined) throw undecided;
  }
  return line;
}

interface Found {
  readonly at: number;
  readonly shown: Bytes;
}

function find(text: Bytes, path: Path, base = 0): Found | undefined {
  const start = skipSpace(text, 0);
  const [, end, kind] = valueAt(text, start);
  if (path.length === 0) return { at: base + start, shown: shownValue(text.slice(start, end), kind) };
  const [first, ...rest] = path;
  if (kind === 'object' && typeof first === 'string') {
    let found: Found | undefined;
    let isKnown = false;
    eachPlace(text, start, (key, from, to) => {
      // The first of equal keys counts.
      if (key !== first || isKnown) return;
      isKnown = true;
      found = find(text.slice(from, to), rest, base + from);
    });
    return found;
  }
  if (kind === 'array' && typeof first === 'number') {
    const items = itemsOf(text, start);
    const item = items[first];
    return item && find(text.slice(item[0], item[1]), rest, base + item[0]);
  }
  return undefined;
}

function eachPlace(text: Bytes, start: number, visit: (key: Bytes, from: number, to: number) => void): void {
  let at = skipSpace(text, start + 1);
  while (text[at] !== '}') {
    const keyEnd = endOfString(text, at);
    const key = unescaped(text.slice(at + 1, keyEnd - 1)) ?? '';
    const [from, to] = valueAt(text, skipSpace(text, keyEnd) + 1);
    visit(key, from, to);
    at = skipSpace(text, to);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
}

function itemsOf(text: Bytes, start: number): [from: number, to: number][] {
  const items: [number, number][] = [];
  let at = skipSpace(text, start + 1);
  while (text[at] !== ']') {
    const [from, to] = valueAt(text, at);
    items.push([from, to]);
    at = skipSpace(text, to);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return items;
}

function shownValue(raw: Bytes, kind: ValueKind): Bytes {
  if (kind === 'null') return '';
  if (kind === 'string') return shownString(raw.slice(1, -1));
  // An array passes the string decoder, an object does not.
  return kind === 'array' ? shownString(raw) : raw;
}

// Unpack.

/** The line behind the stage. */
export function unpack(line: Bytes, labels: EntryLabels): Bytes {
  if (line === '' || labels.hasAllWanted) return line;
  if (line[0] !== '{') {
    labels.failParsing(KIND, 'expecting json object(6), but it is not');
    return line;
  }
  const members: [name: Bytes, value: Bytes][] = [];
  let entry: Bytes | undefined;
  try {
    eachMember(line, (key, kind, value) => {
      if (kind !== 'string') return;
      if (key === '_entry') {
        entry = unescaped(value);
        if (entry === undefined) throw new Malformed(BAD_KEY);
        return;
      }
      const name = labels.nameFor(key);
      if (labels.isWanted(name) && !labels.isExtracted(name))
        members.push([sanitized(name), shownString(value)]);
    });
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    labels.failParsing(KIND, error.message);
    return line;
  }
  if (entry === undefined) return line;
  for (const [name, value] of members) labels.set(name, value);
  return entry;
}
