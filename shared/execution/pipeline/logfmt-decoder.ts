/**
 * Decodes the pairs of a logfmt line, one by one (docs/dev/logql-semantics.md#logfmt). Bytes up to 0x20 separate pairs. A
 * fault loses its pair, and unless the caller stops, decoding continues after the next separator.
 */
import { LineMarks, nextMark } from '../../base/kernels/line-memory.ts';
import { BACKSLASH, QUOTE } from '../../base/text/json-scan.ts';
import { isUnquotable } from '../../base/text/text.ts';
import type { KeyTable } from './key-table.ts';
import { KIND_CLEAN, KIND_LOGFMT } from './row-labels.ts';

const EQUALS = 0x3d;
const SPACE = 0x20;

/** Results of `next`. */
export const PAIR = 1;
export const FAULT = 2;
export const LINE_END = 0;

export class LogfmtDecoder {
  #source: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #at = 0;
  readonly #marks = new LineMarks({ a: EQUALS, b: QUOTE, c: BACKSLASH, below: SPACE + 1 });
  readonly #keys: KeyTable | undefined;
  /** After PAIR: the key's entry in the table if it is the expected one, else -1. */
  entry = -1;
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  valueKind = KIND_CLEAN;
  /** After FAULT: the reference's error text. */
  fault = '';

  /** @param keys Table of keys that occurred before */
  constructor(keys?: KeyTable) {
    this.#keys = keys;
  }

  reset(source: Buffer, start: number, end: number): void {
    this.#source = source;
    this.#start = start;
    this.#end = end;
    this.#at = start;
    this.#marks.set(source, start, end);
  }

  /** @param last Entry of the previous key, -1 at the start of the line */
  next(last = -1): number {
    const source = this.#source;
    const end = this.#end;
    const { words, shift } = this.#marks;
    let at = this.#at;
    while (at < end && source[at] <= SPACE) at++;
    if (at >= end) {
      this.#at = at;
      return LINE_END;
    }
    // Read the key.
    const keyStart = at;
    const keys = this.#keys;
    this.entry = keys === undefined ? -1 : keys.followerOf(last);
    at = this.entry < 0 ? -1 : keys!.match(this.entry, 0, source, keyStart, end);
    if (at < 0 || (at < end && ENDS_BARE[source[at]] === 0)) {
      this.entry = -1;
      at = bareEnd(source, keyStart, end, words, shift);
    }
    const byte = at < end ? source[at] : 0;
    this.keyStart = keyStart;
    this.keyEnd = at;
    const hasValue = byte > SPACE;
    if (hasValue && (byte === QUOTE || at === keyStart)) return this.#unexpected(at, byte);
    // Keys in the table were checked when they were added.
    if (
      this.entry < 0 &&
      !isAscii(source, keyStart, at) &&
      source.utf8Slice(keyStart, at).includes('\ufffd')
    ) {
      this.#at = at;
      return this.#failAt(at, 'invalid key');
    }
    this.valueKind = KIND_CLEAN;
    if (!hasValue) return this.#pair(at, at, at);

    // Read the value.
    at++;
    if (at >= end || source[at] <= SPACE) return this.#pair(at, at, at);
    const valueStart = at;
    if (source[at] !== QUOTE) {
      at = bareEnd(source, at, end, words, shift);
      if (at < end && source[at] > SPACE) return this.#unexpected(at, source[at]);
      return this.#pair(valueStart, at, at);
    }
    at = nextMark(words, shift, at + 1);
    while (at < end && source[at] !== QUOTE) {
      const step = source[at] === BACKSLASH ? 2 : 1;
      if (step === 2) this.valueKind = KIND_LOGFMT;
      at = at + step < end ? nextMark(words, shift, at + step) : end;
    }
    if (at >= end) {
      this.#at = end;
      return this.#failAt(end, 'unterminated quoted value');
    }
    if (this.valueKind === KIND_LOGFMT && !isUnquotable(source, valueStart + 1, at)) {
      this.#at = at + 1;
      return this.#failAt(at + 1, 'invalid quoted value');
    }
    return this.#pair(valueStart + 1, at, at + 1);
  }

  #pair(valueStart: number, valueEnd: number, next: number): number {
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
    this.#at = next;
    return PAIR;
  }

  #unexpected(at: number, byte: number): number {
    let next = at;
    while (next < this.#end && this.#source[next] > SPACE) next++;
    this.#at = next;
    return this.#failAt(at, `unexpected '${String.fromCharCode(byte)}'`);
  }

  #failAt(at: number, message: string): number {
    this.fault = `logfmt syntax error at pos ${at - this.#start + 1} : ${message}`;
    return FAULT;
  }
}

function isAscii(source: Buffer, start: number, end: number): boolean {
  let bits = 0;
  for (let i = start; i < end; i++) bits |= source[i];
  return bits < 0x80;
}

/** 1 for bytes that end an unquoted key or value: separators, and bytes that it must not contain. */
const ENDS_BARE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= SPACE || byte === EQUALS || byte === QUOTE ? 1 : 0,
);

/** Returns the offset of the first such byte from `at`, or `end` if there is none. */
function bareEnd(source: Buffer, at: number, end: number, words: Int32Array, shift: number): number {
  let i = nextMark(words, shift, at);
  while (i < end && source[i] === BACKSLASH) i = i + 1 < end ? nextMark(words, shift, i + 1) : end;
  return Math.min(i, end);
}
