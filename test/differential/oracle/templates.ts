/**
 * The templates that the generator writes: texts, fields, the line, `if`, and pipelines of a few functions
 * (docs/dev/logql-semantics.md#templates, #template-functions). Anything else is undecided.
 */
import { type Bytes, bytesOfRunes, isAscii, runesOf, toBytes } from './bytes.ts';
import { Undecided } from './undecided.ts';

interface TemplateData {
  readonly labels: ReadonlyMap<Bytes, Bytes>;
  readonly line: Bytes;
}

/** Go's message, with the offset in the template. */
export class TemplateFailure extends Error {}

type Value = Bytes | number;

type Piece =
  | { readonly kind: 'text'; readonly text: Bytes }
  | { readonly kind: 'action'; readonly text: Bytes; readonly at: number }
  | {
      readonly kind: 'if';
      readonly action: Bytes;
      readonly at: number;
      readonly yes: Piece[];
      readonly no: Piece[];
    };

export interface Template {
  /** The name, if the template is one field and nothing else. */
  readonly field: Bytes | undefined;
  /** Names of all fields. */
  readonly fields: readonly Bytes[];
  render(data: TemplateData): Bytes;
}

/** @param name `line` or `label`, as messages say it */
export function templateOf(text: string, name: 'line' | 'label'): Template {
  const source = toBytes(text);
  const pieces = parse(source);
  const [only] = pieces;
  const field =
    pieces.length === 1 && only.kind === 'action' ? /^\.(\w+)$/.exec(only.text.trim())?.[1] : undefined;
  const fields = [...source.matchAll(/(?<=[\s{(])\.(\w+)/g)].map(match => match[1]);
  return { field, fields, render: data => renderAll(pieces, data, name) };
}

function parse(source: Bytes): Piece[] {
  const root: Piece[] = [];
  const open: { list: Piece[]; node: Extract<Piece, { kind: 'if' }> | undefined }[] = [
    { list: root, node: undefined },
  ];
  let at = 0;
  for (const match of source.matchAll(/\{\{(.*?)\}\}/gs)) {
    const level = open[open.length - 1];
    if (match.index > at) level.list.push({ kind: 'text', text: source.slice(at, match.index) });
    at = match.index + match[0].length;
    const inside = match[1].trim();
    const offset = match.index + 2 + match[1].indexOf(inside);
    if (inside.startsWith('if ')) {
      const node = { kind: 'if' as const, action: inside.slice(3), at: offset + 3, yes: [], no: [] };
      level.list.push(node);
      open.push({ list: node.yes, node });
    } else if (inside === 'else') level.list = level.node!.no;
    else if (inside === 'end') open.pop();
    else level.list.push({ kind: 'action', text: inside, at: offset });
  }
  if (at < source.length) root.push({ kind: 'text', text: source.slice(at) });
  return root;
}

function renderAll(pieces: readonly Piece[], data: TemplateData, name: string): Bytes {
  return pieces.map(piece => render(piece, data, name)).join('');
}

function render(piece: Piece, data: TemplateData, name: string): Bytes {
  switch (piece.kind) {
    case 'text':
      return piece.text;
    case 'action':
      return String(evaluate(piece.text, piece.at, data, name));
    case 'if': {
      const value = evaluate(piece.action, piece.at, data, name);
      return renderAll(value !== '' && value !== 0 ? piece.yes : piece.no, data, name);
    }
  }
}

const TOKEN = /\s*(?:(\|)|"((?:[^"\\]|\\.)*)"|(-?\d+)|\.(\w+)|(\w+))/gy;

function evaluate(pipeline: Bytes, at: number, data: TemplateData, name: string): Value {
  let piped: Value | undefined;
  for (const { text, offset } of commandsOf(pipeline)) {
    const tokens = tokensOf(text);
    const [head, ...rest] = tokens;
    const args = rest.map(token => argument(token, data));
    if (piped !== undefined) args.push(piped);
    try {
      piped = head.kind === 'word' && head.text !== '__line__' ? call(head.text, args) : argument(head, data);
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      throw new TemplateFailure(
        `template: ${name}:1:${at + offset}: executing "${name}" at <${text}>: error calling ${head.text}: ${error.message}`,
      );
    }
  }
  return piped!;
}

function commandsOf(pipeline: Bytes): { text: Bytes; offset: number }[] {
  const commands: { text: Bytes; offset: number }[] = [];
  let start = 0;
  for (const match of [...pipeline.matchAll(/"(?:[^"\\]|\\.)*"|\|/g), undefined]) {
    if (match !== undefined && match[0] !== '|') continue;
    const part = pipeline.slice(start, match?.index);
    commands.push({ text: part.trim(), offset: start + part.length - part.trimStart().length });
    start = (match?.index ?? 0) + 1;
  }
  return commands;
}

interface Token {
  readonly kind: 'string' | 'number' | 'field' | 'word';
  readonly text: Bytes;
}

function tokensOf(command: Bytes): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(command); match !== null; match = TOKEN.exec(command)) {
    const [, , string, number, field, word] = match;
    if (string !== undefined) tokens.push({ kind: 'string', text: unescaped(string) });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (field !== undefined) tokens.push({ kind: 'field', text: field });
    else tokens.push({ kind: 'word', text: word });
  }
  return tokens;
}

function unescaped(inside: Bytes): Bytes {
  return inside.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, char: string) =>
    hex === undefined ? char : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function argument({ kind, text }: Token, data: TemplateData): Value {
  switch (kind) {
    case 'string':
      return text;
    case 'number':
      return Number(text);
    case 'field':
      return data.labels.get(text) ?? '';
    case 'word':
      if (text === '__line__') return data.line;
      throw new Undecided(`template function ${text}`);
  }
}

class CallFailure extends Error {}

function call(name: string, args: readonly Value[]): Value {
  const [a, b, c] = args as [never, never, never];
  switch (name) {
    case 'upper':
    case 'ToUpper':
      return mapped(a, char => char.toUpperCase());
    case 'lower':
    case 'ToLower':
      return mapped(a, char => char.toLowerCase());
    case 'len':
      return (a as Bytes).length;
    case 'trunc':
      return truncated(a, b);
    case 'substr':
      return substring(a, b, c);
    case 'replace':
      return (c as Bytes).split(a).join(b);
    case 'trimAll':
      return trimmedBoth(b, a);
    case 'alignLeft':
      return alignedLeft(a, b);
    case 'default':
      return b === '' || b === 0 ? a : b;
    default:
      throw new Undecided(`template function ${name}`);
  }
}

/** If the text is not ASCII, bytes that are not a character become U+FFFD. */
function mapped(text: Bytes, map: (char: string) => string): Bytes {
  if (isAscii(text)) return map(text);
  return bytesOfRunes(
    runesOf(text).map(code => {
      const to = map(String.fromCodePoint(code));
      return [...to].length === 1 ? to.codePointAt(0)! : code;
    }),
  );
}

function truncated(count: number, text: Bytes): Bytes {
  if (count < 0) return text.length + count > 0 ? text.slice(text.length + count) : text;
  return text.slice(0, count);
}

function substring(start: number, end: number, text: Bytes): Bytes {
  if (start < 0) return text.slice(0, end);
  if (end < 0 || end > text.length) {
    if (start > text.length) throw outOfRange(start, text.length);
    return text.slice(start);
  }
  if (start > end) throw outOfRange(start, end);
  return text.slice(start, end);
}

function outOfRange(start: number, end: number): CallFailure {
  return new CallFailure(`runtime error: slice bounds out of range [${start}:${end}]`);
}

function trimmedBoth(text: Bytes, set: Bytes): Bytes {
  if (!isAscii(set)) throw new Undecided('a set beyond ASCII');
  let [start, end] = [0, text.length];
  while (start < end && set.includes(text[start])) start++;
  while (end > start && set.includes(text[end - 1])) end--;
  return text.slice(start, end);
}

function alignedLeft(width: number, text: Bytes): Bytes {
  const runes = runesOf(text);
  if (runes.length <= width) return text + ' '.repeat(width - runes.length);
  return bytesOfRunes(runes.slice(0, width));
}
