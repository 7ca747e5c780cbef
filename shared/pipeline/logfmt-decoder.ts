/**
 * Pairs of a logfmt line, one by one (logql reference 7.3). Bytes up to 0x20 separate; a fault loses its pair and,
 * unless the caller stops, reading goes on after the next separator.
 */
import { KIND_CLEAN, KIND_LOGFMT } from './row-labels.ts';
import { isUnquotable } from './text.ts';

const QUOTE = 0x22;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;
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
  /** Of the key's bytes, by `hashByte`. */
  hash = 0;
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
    let byte = 0;
    let hash = 0;
    let bits = 0;
    while (at < end && (byte = source[at]) > SPACE && byte !== EQUALS && byte !== QUOTE) {
      hash = (Math.imul(hash, 31) + byte) | 0;
      bits |= byte;
      at++;
    }
    this.keyStart = keyStart;
    this.keyEnd = at;
    this.hash = hash;
    const hasValue = at < end && byte > SPACE;
    if (hasValue && (byte === QUOTE || at === keyStart)) return this.#unexpected(at, byte);
    if (bits >= 0x80 && source.utf8Slice(keyStart, at).includes('\ufffd')) {
      this.#at = at;
      return this.#failAt(at, 'invalid key');
    }
    this.valueKind = KIND_CLEAN;
    if (!hasValue) return this.#pair(at, at, at);

    // Value.
    at++;
    if (at >= end || (byte = source[at]) <= SPACE) return this.#pair(at, at, at);
    const valueStart = at;
    if (byte !== QUOTE) {
      while (at < end && (byte = source[at]) > SPACE) {
        if (byte === EQUALS || byte === QUOTE) return this.#unexpected(at, byte);
        at++;
      }
      return this.#pair(valueStart, at, at);
    }
    at++;
    while (at < end && (byte = source[at]) !== QUOTE) {
      if (byte === BACKSLASH) {
        this.valueKind = KIND_LOGFMT;
        at++;
      }
      at++;
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
