/**
 * Finds the fields of one JSON document in one pass over its bytes, as ranges, without a tree or copies. The
 * document is not modified, because it may become the line.
 *
 * Fields of nested objects have paths (`host.name`). Arrays, and objects nested too deeply, are one field of
 * JSON text. `null`, empty texts and empty objects are not fields.
 *
 * Pitfall: arrays and deep objects are checked only for balanced brackets. Everything else is fully checked,
 * so later unescaping cannot fail.
 */
import { MAX_BODY_JSON_DEPTH } from '../bounds.ts';
import { MAX_DOCUMENT_FIELDS, MAX_FLATTENED_DEPTH } from './bounds.ts';
import { type FieldPaths, ROOT } from './field-paths.ts';

export const Kind = { text: 0, escapedText: 1, raw: 2 } as const;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Not a path: the string was invalid. */
const FAILED = -1;

const BLANK = new Uint8Array(256);
for (const byte of Buffer.from(' \t\r\n')) BLANK[byte] = 1;
/** 1 for a byte of a number or a word. */
const SCALAR = new Uint8Array(256);
for (const byte of Buffer.from('0123456789+-.eEtrufalsn')) SCALAR[byte] = 1;
/** 1 for a letter that follows a backslash in an escape of two bytes. */
const SIMPLE_ESCAPE = new Uint8Array(256);
for (const byte of Buffer.from('"\\/bfnrt')) SIMPLE_ESCAPE[byte] = 1;
const HEX = new Uint8Array(256);
for (const byte of Buffer.from('0123456789abcdefABCDEF')) HEX[byte] = 1;

const SCALAR_TEXT = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
/** Maximum length of a number that is checked, far above what encoders write. */
const MAX_SCALAR_LENGTH = 4096;

export class DocumentFields {
  /** Number of fields of the current document, in its order. */
  count = 0;
  /** Whether the document has more than MAX_DOCUMENT_FIELDS fields. The others are missing. */
  isCut = false;
  readonly path = new Int32Array(MAX_DOCUMENT_FIELDS);
  readonly kind = new Uint8Array(MAX_DOCUMENT_FIELDS);
  /** Value range `bytes[start, end)`, without the quotes of a string. */
  readonly start = new Uint32Array(MAX_DOCUMENT_FIELDS);
  readonly end = new Uint32Array(MAX_DOCUMENT_FIELDS);
  readonly #bytes: Buffer;
  readonly #paths: FieldPaths;
  #at = 0;
  #limit = 0;
  /** Whether the current string has escapes. */
  #isEscaped = false;

  constructor(bytes: Buffer, paths: FieldPaths) {
    this.#bytes = bytes;
    this.#paths = paths;
  }

  /** Reads the document `bytes[start, end)`. Returns false if it is not a JSON object. */
  read(start: number, end: number): boolean {
    this.count = 0;
    this.isCut = false;
    this.#at = start;
    this.#limit = end;
    return this.#peek() === 0x7b && this.#object(ROOT, 1) && this.#peek() === FAILED;
  }

  /** Returns the first byte of the next token, or FAILED at the end of the document. */
  #peek(): number {
    const bytes = this.#bytes;
    const limit = this.#limit;
    let at = this.#at;
    while (at < limit && BLANK[bytes[at]] === 1) at++;
    this.#at = at;
    return at < limit ? bytes[at] : FAILED;
  }

  #object(parent: number, depth: number): boolean {
    this.#at++;
    if (this.#peek() === 0x7d) {
      this.#at++;
      return true;
    }
    for (;;) {
      const keyStart = this.#at + 1;
      const keyEnd = this.#string();
      if (keyEnd === FAILED) return false;
      // Fields beyond the limit need no name.
      const path = this.isCut ? parent : this.#paths.child(parent, keyStart, keyEnd, this.#isEscaped);
      if (this.#peek() !== 0x3a) return false;
      this.#at++;
      if (!this.#value(path, depth)) return false;
      const next = this.#peek();
      this.#at++;
      if (next === 0x7d) return true;
      if (next !== 0x2c || this.#peek() !== QUOTE) return false;
    }
  }

  #value(path: number, depth: number): boolean {
    const first = this.#peek();
    const start = this.#at;
    if (first === QUOTE) {
      const end = this.#string();
      if (end === FAILED) return false;
      this.#add(path, this.#isEscaped ? Kind.escapedText : Kind.text, start + 1, end);
      return true;
    }
    if (first === 0x7b && depth < MAX_FLATTENED_DEPTH) return this.#object(path, depth + 1);
    if (first === 0x7b || first === 0x5b) {
      if (!this.#nested()) return false;
      this.#add(path, Kind.raw, start, this.#at);
      return true;
    }
    return this.#scalar(path);
  }

  #add(path: number, kind: number, start: number, end: number): void {
    if (start === end) return;
    const at = this.count;
    if (at === MAX_DOCUMENT_FIELDS) {
      this.isCut = true;
      return;
    }
    this.path[at] = path;
    this.kind[at] = kind;
    this.start[at] = start;
    this.end[at] = end;
    this.count = at + 1;
  }

  /** Skips the next string and checks its escapes. Returns its end, or FAILED if there is no string. */
  #string(): number {
    const bytes = this.#bytes;
    const limit = this.#limit;
    this.#isEscaped = false;
    if (this.#peek() !== QUOTE) return FAILED;
    let at = this.#at + 1;
    while (at < limit) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.#at = at + 1;
        return at;
      }
      if (byte !== BACKSLASH) {
        at++;
        continue;
      }
      this.#isEscaped = true;
      const length = escapeLength(bytes, at, limit);
      if (length === 0) return FAILED;
      at += length;
    }
    return FAILED;
  }

  /** Skips an array or object by its brackets. */
  #nested(): boolean {
    const bytes = this.#bytes;
    const limit = this.#limit;
    let depth = 0;
    for (let at = this.#at; at < limit; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.#at = at;
        if (this.#string() === FAILED) return false;
        at = this.#at - 1;
      } else if (byte === 0x5b || byte === 0x7b) {
        if (++depth > MAX_BODY_JSON_DEPTH) return false;
      } else if (byte === 0x5d || byte === 0x7d) {
        if (--depth === 0) {
          this.#at = at + 1;
          return true;
        }
      }
    }
    return false;
  }

  #scalar(path: number): boolean {
    const bytes = this.#bytes;
    const limit = this.#limit;
    const start = this.#at;
    let at = start;
    let isInteger = true;
    while (at < limit && SCALAR[bytes[at]] === 1) {
      if (bytes[at] < 0x30 || bytes[at] > 0x39) isInteger = false;
      at++;
    }
    this.#at = at;
    const length = at - start;
    // Most numbers are small whole numbers, for which a text would cost more than everything else.
    if (!isInteger || length === 0 || (length > 1 && bytes[start] === 0x30)) {
      if (length === 0 || length > MAX_SCALAR_LENGTH) return false;
      const text = bytes.latin1Slice(start, at);
      if (text === 'null') return true;
      if (!SCALAR_TEXT.test(text)) return false;
    }
    this.#add(path, Kind.raw, start, at);
    return true;
  }
}

/** Returns the length of the escape whose backslash is at `at`, or 0 if it is invalid. */
function escapeLength(bytes: Uint8Array, at: number, limit: number): number {
  if (at + 1 >= limit) return 0;
  if (SIMPLE_ESCAPE[bytes[at + 1]] === 1) return 2;
  if (bytes[at + 1] !== 0x75 || at + 6 > limit) return 0;
  for (let i = at + 2; i < at + 6; i++) if (HEX[bytes[i]] === 0) return 0;
  return 6;
}
