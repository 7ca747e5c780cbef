/**
 * Finds large values of a JSON body in steps before it is decoded. Decoding then never works on one value for
 * more than a few milliseconds.
 *
 * Escapes of long strings are resolved in place, as in the scanner. Long arrays and objects are checked, so
 * that an unused one can be skipped at once. Their bytes outside long strings are counted, so that a decoder
 * can refuse to read one in a single step. Bodies that are small enough for a single step cost nothing.
 */
import { BadRequestError } from '../../base/model/errors.ts';
import type { Steps } from '../../base/model/steps.ts';
import { utf8Length, writeUtf8 } from '../../base/model/utf8.ts';
import { MAX_BODY_JSON_DEPTH, MAX_DENSE_BYTES, tooMany } from './bounds.ts';
import { UNESCAPED, unicodeEscape, unicodeEscapeLength } from './json-escapes.ts';
import {
  BAD_ESCAPE,
  BLANK,
  MALFORMED_ARRAY,
  MALFORMED_OBJECT,
  MALFORMED_STRING,
  MALFORMED_VALUE,
  MAX_DEPTH_EXCEEDED,
  scalarEnd,
} from './json-syntax.ts';
import type { OverflowBuffer } from './overflow-buffer.ts';

interface LongValue {
  /** Offset after the value. */
  readonly end: number;
  /** Bytes of the value without long strings inside it. */
  readonly denseBytes: number;
  /** Range of a string's text, in the body or behind it, or the error if it is invalid. */
  readonly text?: { readonly start: number; readonly end: number } | BadRequestError;
}

/** Long values by the offset of their first byte. */
export type LongValues = ReadonlyMap<number, LongValue>;

export interface LongValueOptions {
  /** Bodies up to this size are not searched. */
  readonly minBytes?: number;
  /** Longer values are recorded. */
  readonly longBytes?: number;
  /** Maximum white space between two values. No encoder writes as much. */
  readonly maxBlankBytes?: number;
}

const MIB = 1024 * 1024;
/** Bytes per step: 0.1 ms. */
const STEP_BYTES = 64 * 1024;
const NONE: LongValues = new Map();

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const REPLACEMENT = 0xfffd;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const CLOSE_OBJECT = 0x7d;

/**
 * Finds the long values of the JSON object that starts at `from`, after optional white space. Throws
 * BadRequestError if it is not an object, TooLargeError if there is too much white space. Strings that are
 * not UTF-8 move to `overflow`.
 */
export function* findLongValues(
  bytes: Buffer,
  from: number,
  overflow: OverflowBuffer,
  { minBytes = MAX_DENSE_BYTES, longBytes = MIB, maxBlankBytes = MIB }: LongValueOptions = {},
): Steps<LongValues> {
  if (bytes.length - from <= minBytes) return NONE;
  const lexer = new ValueLexer(bytes, from, longBytes, maxBlankBytes);
  const found = new Map<number, LongValue>();
  for (;;) {
    const isDone = lexer.run(STEP_BYTES);
    for (const { start, end, denseBytes } of lexer.found.splice(0)) {
      const isString = bytes[start] === QUOTE;
      const text = isString ? yield* readString(bytes, start + 1, end - 1, overflow) : undefined;
      found.set(start, { end, denseBytes, text });
    }
    if (isDone) return found;
    yield;
  }
}

const State = { value: 0, first: 1, key: 2, colon: 3, after: 4, string: 5, blanks: 6 } as const;

/** Follows the syntax of one value, ignoring the content of strings. */
class ValueLexer {
  /** Long values that ended since the list was emptied. */
  readonly found: { readonly start: number; readonly end: number; readonly denseBytes: number }[] = [];
  readonly #bytes: Buffer;
  #at: number;
  #state: number = State.value;
  /** Start of the current string or white space, and the state before it. */
  #start = 0;
  #outer: number = State.value;
  #depth = 0;
  readonly #closing = new Uint8Array(MAX_BODY_JSON_DEPTH);
  readonly #starts = new Uint32Array(MAX_BODY_JSON_DEPTH);
  /** Bytes of long strings in the open value at each depth. */
  readonly #longBytes = new Float64Array(MAX_BODY_JSON_DEPTH);

  readonly #longBytesFrom: number;
  readonly #maxBlankBytes: number;

  constructor(bytes: Buffer, from: number, longBytesFrom: number, maxBlankBytes: number) {
    this.#bytes = bytes;
    this.#at = from;
    this.#longBytesFrom = longBytesFrom;
    this.#maxBlankBytes = maxBlankBytes;
  }

  /** Processes about `count` bytes. Returns true when the value has ended. */
  run(count: number): boolean {
    const bytes = this.#bytes;
    const stop = Math.min(this.#at + count, bytes.length);
    do {
      if (this.#state === State.string) {
        if (!this.#string(stop)) return false;
      } else {
        const byte = this.#peek(stop);
        if (byte === undefined) return false;
        this.#token(byte);
      }
      if (this.#depth === 0 && this.#state === State.after) return true;
    } while (this.#at < stop || stop === bytes.length);
    return false;
  }

  /**
   * Returns the next byte that is not white space, -1 at the end of the body, undefined if white space
   * reaches `stop`.
   */
  #peek(stop: number): number | undefined {
    const bytes = this.#bytes;
    const from = this.#state === State.blanks ? this.#start : this.#at;
    let at = this.#at;
    while (at < stop && BLANK[bytes[at]] === 1) at++;
    this.#at = at;
    if (at - from > this.#maxBlankBytes) throw tooMany('bytes of white space', this.#maxBlankBytes);
    if (at === stop && stop < bytes.length) {
      if (this.#state !== State.blanks) {
        this.#outer = this.#state;
        this.#state = State.blanks;
        this.#start = from;
      }
      return undefined;
    }
    if (this.#state === State.blanks) this.#state = this.#outer;
    return at < bytes.length ? bytes[at] : -1;
  }

  #token(byte: number): void {
    const state = this.#state;
    const closing = this.#depth === 0 ? 0 : this.#closing[this.#depth - 1];
    const isObject = closing === CLOSE_OBJECT;
    if (state === State.colon) {
      if (byte !== 0x3a) throw new BadRequestError(MALFORMED_OBJECT);
      this.#at++;
      this.#state = State.value;
    } else if ((state === State.first || state === State.after) && byte === closing) this.#close();
    else if (state === State.after) {
      if (byte !== 0x2c) throw new BadRequestError(isObject ? MALFORMED_OBJECT : MALFORMED_ARRAY);
      this.#at++;
      this.#state = isObject ? State.key : State.value;
    } else if (state === State.key || (state === State.first && isObject)) this.#key(byte);
    else this.#value(byte);
  }

  #value(byte: number): void {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (this.#depth === MAX_BODY_JSON_DEPTH) throw new BadRequestError(MAX_DEPTH_EXCEEDED);
      this.#starts[this.#depth] = this.#at;
      this.#longBytes[this.#depth] = 0;
      // The closing bracket is the opening one plus 2.
      this.#closing[this.#depth++] = byte + 2;
      this.#at++;
      this.#state = State.first;
    } else if (byte === QUOTE) this.#open(State.after);
    else {
      const end = scalarEnd(this.#bytes, this.#at);
      if (end < 0) throw new BadRequestError(MALFORMED_VALUE);
      this.#at = end;
      this.#state = State.after;
    }
  }

  #key(byte: number): void {
    if (byte !== QUOTE) throw new BadRequestError(MALFORMED_OBJECT);
    this.#open(State.colon);
  }

  /** Starts a string that is followed by the state `next`. */
  #open(next: number): void {
    this.#start = this.#at;
    this.#at++;
    this.#state = State.string;
    this.#outer = next;
  }

  /** Skips a string. Returns false if it reaches `stop`. */
  #string(stop: number): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < stop && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    this.#at = at;
    if (at >= bytes.length) throw new BadRequestError(MALFORMED_STRING);
    if (at >= stop) return false;
    this.#at = at + 1;
    this.#state = this.#outer;
    const length = this.#at - this.#start;
    if (length > this.#longBytesFrom) {
      this.found.push({ start: this.#start, end: this.#at, denseBytes: 0 });
      if (this.#depth > 0) this.#longBytes[this.#depth - 1] += length;
    }
    return true;
  }

  #close(): void {
    this.#at++;
    this.#depth--;
    const start = this.#starts[this.#depth];
    const length = this.#at - start;
    const inside = this.#longBytes[this.#depth];
    if (length > this.#longBytesFrom) this.found.push({ start, end: this.#at, denseBytes: length - inside });
    if (this.#depth > 0) this.#longBytes[this.#depth - 1] += inside;
    this.#state = State.after;
  }
}

/** Reads the string `bytes[start, end)`, without its quotes, and returns the range of its text. */
function* readString(
  bytes: Buffer,
  start: number,
  end: number,
  overflow: OverflowBuffer,
): Steps<NonNullable<LongValue['text']>> {
  const string = { at: start, to: start, end };
  while (string.at < end) {
    const ended = unescapeSome(bytes, string);
    yield;
    if (ended === 'bad-escape') return new BadRequestError(BAD_ESCAPE);
    if (ended === 'longer') return yield* overflowString(bytes, start, string, overflow);
  }
  return { start, end: string.to };
}

interface CopyProgress {
  at: number;
  /** Offset that the text is written to. */
  to: number;
  readonly end: number;
}

/** Resolves escapes in place. Returns 'longer' if the replacement of an invalid byte does not fit. */
function unescapeSome(bytes: Buffer, string: CopyProgress): 'ok' | 'bad-escape' | 'longer' {
  const stop = Math.min(string.at + STEP_BYTES, string.end);
  let { at, to } = string;
  let ended: 'ok' | 'bad-escape' | 'longer' = 'ok';
  while (at < stop) {
    const byte = bytes[at];
    if (byte === BACKSLASH) {
      const simple = UNESCAPED[bytes[at + 1]];
      if (simple !== 0) {
        bytes[to++] = simple;
        at += 2;
        continue;
      }
      const code = unicodeEscape(bytes, at);
      if (code < 0) {
        ended = 'bad-escape';
        break;
      }
      to = writeUtf8(bytes, to, code);
      at += unicodeEscapeLength(code);
      continue;
    }
    const length = byte < 0x80 ? 1 : utf8Length(bytes, at, string.end);
    if (length === 0) {
      ended = 'longer';
      break;
    }
    bytes[to++] = bytes[at++];
    for (let i = 1; i < length; i++) bytes[to++] = bytes[at++];
  }
  string.at = at;
  string.to = to;
  return ended;
}

/** Continues behind the body with a string that no longer fits in place. `[start, string.to)` is done. */
function* overflowString(
  bytes: Buffer,
  start: number,
  string: CopyProgress,
  overflow: OverflowBuffer,
): Steps<NonNullable<LongValue['text']>> {
  const overflowStart = overflow.end;
  for (let at = start; at < string.to; at += STEP_BYTES) {
    overflow.pushRange(bytes, at, Math.min(at + STEP_BYTES, string.to));
    yield;
  }
  while (string.at < string.end) {
    if (!overflowSome(bytes, string, overflow)) return new BadRequestError(BAD_ESCAPE);
    yield;
  }
  return { start: overflowStart, end: overflow.end };
}

const CHARACTER = Buffer.alloc(4);

function overflowSome(bytes: Buffer, string: CopyProgress, overflow: OverflowBuffer): boolean {
  const stop = Math.min(string.at + STEP_BYTES / 4, string.end);
  let { at } = string;
  while (at < stop) {
    let code = REPLACEMENT;
    if (bytes[at] === BACKSLASH) {
      code = UNESCAPED[bytes[at + 1]];
      if (code !== 0) at += 2;
      else {
        code = unicodeEscape(bytes, at);
        if (code < 0) return false;
        at += unicodeEscapeLength(code);
      }
    } else {
      const length = utf8Length(bytes, at, string.end);
      if (length > 0) {
        overflow.pushRange(bytes, at, at + length);
        at += length;
        continue;
      }
      at++;
    }
    overflow.pushRange(CHARACTER, 0, writeUtf8(CHARACTER, 0, code));
  }
  string.at = at;
  return true;
}
