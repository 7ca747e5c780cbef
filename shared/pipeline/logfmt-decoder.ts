/**
 * Pairs of a logfmt line, one by one (logql reference 7.3). Bytes up to 0x20 separate; a fault loses its pair and,
 * unless the caller stops, reading goes on after the next separator.
 */
import { BACKSLASH, plainEnd, QUOTE } from './json-scan.ts';
import { KIND_CLEAN, KIND_LOGFMT } from './row-labels.ts';
import { isUnquotable } from './text.ts';

const EQUALS = 0x3d;
const SPACE = 0x20;

/** What `next` answers. */
export const PAIR = 1;
export const FAULT = 2;
export const LINE_END = 0;

export class LogfmtDecoder {
  #source: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #at = 0;
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  valueKind = KIND_CLEAN;
  /** After FAULT: the reference's text. */
  fault = '';

  reset(source: Buffer, start: number, end: number): void {
    this.#source = source;
    this.#start = start;
    this.#end = end;
    this.#at = start;
  }

  next(): number {
    const source = this.#source;
    const end = this.#end;
    let at = this.#at;
    while (at < end && source[at] <= SPACE) at++;
    if (at >= end) {
      this.#at = at;
      return LINE_END;
    }
    // Key.
    const keyStart = at;
    at = bareEnd(source, at, end);
    const byte = at < end ? source[at] : 0;
    this.keyStart = keyStart;
    this.keyEnd = at;
    const hasValue = byte > SPACE;
    if (hasValue && (byte === QUOTE || at === keyStart)) return this.#unexpected(at, byte);
    if (!isAscii(source, keyStart, at) && source.utf8Slice(keyStart, at).includes('\ufffd')) {
      this.#at = at;
      return this.#failAt(at, 'invalid key');
    }
    this.valueKind = KIND_CLEAN;
    if (!hasValue) return this.#pair(at, at, at);

    // Value.
    at++;
    if (at >= end || source[at] <= SPACE) return this.#pair(at, at, at);
    const valueStart = at;
    if (source[at] !== QUOTE) {
      at = bareEnd(source, at, end);
      if (at < end && source[at] > SPACE) return this.#unexpected(at, source[at]);
      return this.#pair(valueStart, at, at);
    }
    at = plainEnd(source, at + 1, end);
    while (at < end && source[at] === BACKSLASH) {
      this.valueKind = KIND_LOGFMT;
      at = plainEnd(source, at + 2, end);
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

/** 1 for bytes that end a key or a value without quotes: separators, and what must not stand in it. */
const ENDS_BARE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= SPACE || byte === EQUALS || byte === QUOTE ? 1 : 0,
);

function bareEnd(source: Buffer, at: number, end: number): number {
  let i = at;
  for (const last = end - 4; i <= last; i += 4) {
    if (ENDS_BARE[source[i]] === 1) return i;
    if (ENDS_BARE[source[i + 1]] === 1) return i + 1;
    if (ENDS_BARE[source[i + 2]] === 1) return i + 2;
    if (ENDS_BARE[source[i + 3]] === 1) return i + 3;
  }
  while (i < end && ENDS_BARE[source[i]] === 0) i++;
  return i;
}
