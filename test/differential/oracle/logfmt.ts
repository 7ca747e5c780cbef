/** `logfmt`, with and without expressions (docs/dev/logql-semantics.md#logfmt, #logfmt-with-expressions). */
import type { LogfmtStage } from '../../../shared/language/logql/ast.ts';
import { type Bytes, hasBrokenRune, runeAt, toBytes, withSpaces } from './bytes.ts';
import { type EntryLabels, sanitized } from './labels.ts';

interface Pair {
  readonly key: Bytes;
  readonly value: Bytes;
}

/** An invalid pair: the decoder continues after it. */
interface Fault {
  readonly message: string;
  /** Position at which the decoder failed. */
  readonly at: number;
}

export function parseLogfmt(stage: LogfmtStage, line: Bytes, labels: EntryLabels): void {
  if (labels.hasAllWanted) return;
  if (stage.extractions.length > 0) {
    parseExpressions(stage, line, labels);
    return;
  }
  for (const item of pairsOf(line)) {
    if ('message' in item) {
      if (!stage.strict) continue;
      fail(labels, item);
      return;
    }
    const name = sanitized(item.key);
    const value = withSpaces(item.value);
    if (name === '' || (value === '' && !stage.keepEmpty)) continue;
    const target = labels.nameFor(name);
    if (!labels.isWanted(target) || labels.isExtracted(target)) continue;
    labels.set(target, value);
    if (labels.hasAllWanted) return;
  }
}

function fail(labels: EntryLabels, { message, at }: Fault): void {
  labels.failParsing('LogfmtParserErr', `logfmt syntax error at pos ${at + 1} : ${message}`);
}

function parseExpressions({ extractions, strict }: LogfmtStage, line: Bytes, labels: EntryLabels): void {
  const keyOf = new Map(
    extractions.map(({ name, expression }) => [toBytes(name), toBytes(expression).replace(/^"(.*)"$/, '$1')]),
  );
  for (const name of keyOf.keys()) if (!labels.collides(name)) labels.set(name, '');
  for (const item of pairsOf(line)) {
    if ('message' in item) {
      if (!strict) continue;
      fail(labels, item);
      return;
    }
    const key = sanitized(item.key);
    const names = [...keyOf].filter(([, expression]) => expression === key).map(([name]) => name);
    // If a key has several names, the reference uses any; a key that is a name itself counts too.
    const name = names[0] ?? (keyOf.has(key) ? key : undefined);
    if (name === undefined) continue;
    let target = name;
    if (labels.collides(name)) {
      target = labels.nameFor(name);
      if (labels.isExtracted(target) || !labels.isWanted(target)) return;
    }
    labels.set(target, hasBrokenRune(item.value) ? '' : item.value);
  }
}

function* pairsOf(line: Bytes): Generator<Pair | Fault> {
  let at = 0;
  const separatorFrom = (from: number) => {
    let end = from;
    while (end < line.length && line[end] > ' ') end++;
    return end;
  };
  while (at < line.length) {
    if (line[at] <= ' ') {
      at++;
      continue;
    }
    const start = at;
    while (at < line.length && line[at] > ' ' && line[at] !== '=' && line[at] !== '"') at++;
    const key = line.slice(start, at);
    if (line[at] === '"' || (line[at] === '=' && key === '')) {
      yield { message: `unexpected '${line[at]}'`, at };
      at = separatorFrom(at);
      continue;
    }
    if (hasBrokenRune(key)) {
      yield { message: 'invalid key', at };
      at = separatorFrom(at);
      continue;
    }
    if (line[at] !== '=') {
      yield { key, value: '' };
      continue;
    }
    at++;
    if (line[at] === '"') {
      const end = endOfQuoted(line, at);
      if (end < 0) {
        yield { message: 'unterminated quoted value', at: line.length };
        return;
      }
      const value = unquoted(line.slice(at + 1, end - 1));
      at = end;
      yield value === undefined ? { message: 'invalid quoted value', at } : { key, value };
      continue;
    }
    const valueStart = at;
    while (at < line.length && line[at] > ' ' && line[at] !== '=' && line[at] !== '"') at++;
    if (line[at] === '=' || line[at] === '"') {
      yield { message: `unexpected '${line[at]}'`, at };
      at = separatorFrom(at);
    } else yield { key, value: line.slice(valueStart, at) };
  }
}

function endOfQuoted(line: Bytes, start: number): number {
  for (let at = start + 1; at < line.length; at++) {
    if (line[at] === '\\') at++;
    else if (line[at] === '"') return at + 1;
  }
  return -1;
}

const SHORT: Record<string, string> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

function unquoted(inside: Bytes): Bytes | undefined {
  if (!inside.includes('\\')) return inside;
  let out = '';
  for (let at = 0; at < inside.length; ) {
    if (inside[at] !== '\\') {
      const { code, size } = runeAt(inside, at);
      out += toBytes(String.fromCodePoint(code));
      at += size;
      continue;
    }
    const short = SHORT[inside[at + 1]];
    if (short !== undefined) {
      out += short;
      at += 2;
      continue;
    }
    const unit = unitAt(inside, at);
    if (unit === undefined) return undefined;
    const next = unitAt(inside, at + 6);
    const pair = next === undefined ? '' : String.fromCharCode(unit, next);
    const isPair = pair.isWellFormed() && [...pair].length === 1;
    out += toBytes(isPair ? pair : String.fromCharCode(unit).toWellFormed());
    at += isPair ? 12 : 6;
  }
  return out;
}

function unitAt(inside: Bytes, at: number): number | undefined {
  const match = /^\\u([0-9a-fA-F]{4})/.exec(inside.slice(at, at + 6));
  return match === null ? undefined : Number.parseInt(match[1], 16);
}
