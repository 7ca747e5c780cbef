/**
 * Forms of lines: which fields a template of split lines has, and which value of the template is the value of each. A form is
 * known if each line of the template whose values are plain has exactly these fields, whatever the values are. Then fields are
 * found without the line:
 *
 *     template  {"level":"@","took":@}      values  info 12      fields  level=info took=12
 *
 * All values of such a template are values of fields. Others are left to the parsers, and so are lines with values that need one:
 * escapes, texts that are not UTF-8, and bare texts that end a value.
 */
import type { LineTemplate } from '../../base/model/page.ts';
import type { ParserName } from '../../base/model/page-fields.ts';
import { sanitizeName } from '../../base/text/text.ts';
import { isReservedName, isSuffixedName } from '../../storage/columns/reserved-names.ts';

interface FormField {
  /** Label name. */
  readonly name: string;
  /** For JSON, keys from the top of the object down; for logfmt, only the key. */
  readonly path: readonly string[];
  /** Value with which the line lacks the field. */
  readonly absent: string | undefined;
}

/** Fields of lines. */
export interface LineForm {
  readonly parser: ParserName;
  /** Field of each value, in the order of the line. No name is there twice. */
  readonly fields: readonly FormField[];
  /** Length of the constant text before each value. */
  readonly gaps: readonly number[];
}

/** A form, and which values of its lines are plain. */
export interface TemplateForm extends LineForm {
  readonly kinds: readonly ValueKind[];
  /** Length of the constant text behind the last value. */
  readonly end: number;
}

/** Where a value is, and so which of its values are plain. */
interface ValueKind {
  /** 1 for bytes of plain values. */
  readonly plain: Uint8Array;
  readonly mayBeEmpty: boolean;
  /** Further plain values. */
  readonly words: readonly string[];
}

const bytesThat = (isPlain: (text: string) => boolean) =>
  Uint8Array.from({ length: 256 }, (_, byte) => (byte > 0 && isPlain(String.fromCharCode(byte)) ? 1 : 0));
const QUOTED: ValueKind = {
  plain: bytesThat(text => !/["\\]/.test(text)),
  mayBeEmpty: true,
  words: [],
};
/** Numbers, and words of JSON. The parser knows a number by its first byte. */
const JSON_WORD: ValueKind = {
  plain: bytesThat(text => /[0-9]/.test(text)),
  mayBeEmpty: false,
  words: ['true', 'false', 'null'],
};
const LOGFMT_WORD: ValueKind = {
  plain: bytesThat(text => !/[\x00-\x20"=\\]/.test(text)),
  mayBeEmpty: false,
  words: [],
};

/** Marks of a value in quotes and of another one. A template that has them itself has no form. */
const IN_QUOTES = '\ue000';
const BARE = '\ue001';
const MARKS = /[\ue000\ue001\ufffd\0]/;
/** Maximum nested objects. Real lines have fewer. */
const MAX_DEPTH = 16;
/** Maximum constant text. The names of such lines are within the limits of detected fields. */
const MAX_TEXT_BYTES = 4096;

/** Returns the form of a template's lines, or undefined if they must be parsed. */
export function formOfTemplate({ text, values }: LineTemplate): TemplateForm | undefined {
  if (text.length > MAX_TEXT_BYTES) return undefined;
  const literals = Array.from({ length: values.length + 1 }, (_, i) =>
    Buffer.from(text.slice(values[i - 1] ?? 0, values[i] ?? text.length), 'latin1'),
  );
  const last = literals.length - 1;
  // Values need a zero byte between them.
  if (last === 0 || literals.some(({ length }, i) => length === 0 && i < last)) return undefined;
  const texts = literals.map(literal => literal.utf8Slice());
  if (texts.some(one => MARKS.test(one))) return undefined;
  const found = texts[0].startsWith('{') ? jsonForm(texts) : logfmtForm(texts);
  if (found === undefined || !areClear(found.fields)) return undefined;
  const { parser, fields, kinds } = found;
  const gaps = literals.slice(0, -1).map(({ length }) => length);
  return { parser, fields, kinds, gaps, end: literals[last].length };
}

interface FoundFields {
  readonly parser: ParserName;
  readonly fields: readonly FormField[];
  readonly kinds: readonly ValueKind[];
}

/** Whether the names are always those of these fields, and of different ones. */
function areClear(fields: readonly FormField[]): boolean {
  const names = new Set(fields.map(({ name }) => name));
  if (names.size !== fields.length) return false;
  return fields.every(({ name }) => name !== '' && !isReservedName(name) && !isSuffixedName(name));
}

/** @param literals Texts around the values */
function jsonForm(literals: readonly string[]): FoundFields | undefined {
  const isQuoted = literals.map(literal => literal.endsWith('"'));
  const probe = literals.map((literal, i) => {
    if (i === literals.length - 1) return literal;
    return literal + (isQuoted[i] ? `${IN_QUOTES}${i}${IN_QUOTES}` : `"${BARE}${i}${BARE}"`);
  });
  const fields: FormField[] = [];
  const isKnown = addMembers(parsed(probe.join('')), [], '', fields);
  if (!isKnown || fields.length !== literals.length - 1 || fields.includes(undefined as never))
    return undefined;
  return { parser: 'json', fields, kinds: fields.map((_, i) => (isQuoted[i] ? QUOTED : JSON_WORD)) };
}

const STRING_OR_SPACE = /("(?:[^"\\]|\\.)*")|\s+/g;

/** Returns the value of strict JSON, or undefined. If a key is there twice, some value is lost, so the text differs. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text.replace(STRING_OR_SPACE, '$1') ? value : undefined;
  } catch {
    return undefined;
  }
}

const MARKED = /^(?:\ue000(\d+)\ue000|\ue001(\d+)\ue001)$/;

/** Puts each field at the number of its value. Returns false if an object has anything else that counts. */
function addMembers(
  object: unknown,
  path: readonly string[],
  pathName: string,
  fields: (FormField | undefined)[],
): boolean {
  if (typeof object !== 'object' || object === null || path.length > MAX_DEPTH) return false;
  return Object.entries(object).every(([key, value]) => {
    if (key.trim() === '' || MARKS.test(key)) return false;
    // Nulls and lists are not fields.
    if (value === null || Array.isArray(value)) return true;
    const name = sanitizeName(pathName, key);
    const own = [...path, key];
    if (typeof value === 'object') return addMembers(value, own, name, fields);
    const marked = typeof value === 'string' ? MARKED.exec(value) : null;
    if (marked === null) return false;
    const [, quoted, bare] = marked;
    fields[Number(quoted ?? bare)] = { name, path: own, absent: bare === undefined ? undefined : 'null' };
    return true;
  });
}

const LOGFMT_PAIR = /^([a-zA-Z_][a-zA-Z0-9_]*)=(?:"\ue000"|(\ue000))$/;

function logfmtForm(literals: readonly string[]): FoundFields | undefined {
  const fields: FormField[] = [];
  const kinds: ValueKind[] = [];
  for (const pair of literals.join(IN_QUOTES).split(' ')) {
    const found = LOGFMT_PAIR.exec(pair);
    if (found === null) return undefined;
    // logfmt adds no label for an empty value.
    fields.push({ name: found[1], path: [found[1]], absent: '' });
    kinds.push(found[2] === undefined ? QUOTED : LOGFMT_WORD);
  }
  return { parser: 'logfmt', fields, kinds };
}

/**
 * Returns the text of a line if its values are plain, else undefined.
 * @param bytes Contains the line from `start` to `end`, with a zero byte for each byte of constant text
 */
export function plainLine(form: TemplateForm, bytes: Buffer, start: number, end: number): string | undefined {
  const { kinds, gaps } = form;
  let at = start;
  let all = 0;
  for (let i = 0; i < gaps.length; i++) {
    const from = at + gaps[i];
    if (from > end || !isConstant(bytes, at, from)) return undefined;
    const { plain, mayBeEmpty, words } = kinds[i];
    at = from;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (plain[byte] === 0) break;
      all |= byte;
    }
    if (words.length > 0 && (at === from || (at < end && bytes[at] !== 0)))
      at = endOfWord(words, bytes, from, end);
    if (at === from && !mayBeEmpty) return undefined;
  }
  // A zero byte in a value would be one too many.
  if (end - at !== form.end || !isConstant(bytes, at, end)) return undefined;
  if (all < 0x80) return bytes.latin1Slice(start, end);
  const text = bytes.utf8Slice(start, end);
  return text.includes('\ufffd') ? undefined : text;
}

function isConstant(bytes: Buffer, from: number, to: number): boolean {
  let all = 0;
  for (let at = from; at < to; at++) all |= bytes[at];
  return all === 0;
}

const NUMBER = /^-?[0-9][0-9.eE+-]*$/;
const MAX_WORD_BYTES = 64;

/** Returns the end of a number or one of the words, or `from`. */
function endOfWord(words: readonly string[], bytes: Buffer, from: number, end: number): number {
  let to = from;
  while (to < end && bytes[to] !== 0 && to - from < MAX_WORD_BYTES) to++;
  const word = bytes.latin1Slice(from, to);
  return words.includes(word) || NUMBER.test(word) ? to : from;
}
