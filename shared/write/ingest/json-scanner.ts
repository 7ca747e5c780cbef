/**
 * A reader of JSON over bytes that makes no tree and, for most strings, no copy: a string is a range of the body,
 * its escapes resolved in place (the result is never longer).
 *
 * Where a reader would go wrong: after `string()` the body holds the unescaped text, so nothing is read twice. A
 * string with invalid UTF-8 gets longer (U+FFFD is 3 bytes): that one moves to the spill, and its range lies behind
 * the body. Raw control characters in strings are let through, as the reference does.
 */

import { BLOCK_BYTES, KernelBody } from '../../base/kernels/unquote.ts';
import { BadRequestError } from '../../base/model/errors.ts';
import type { Steps } from '../../base/model/steps.ts';
import { MAX_DENSE_BYTES, MAX_JSON_DEPTH, tooMany } from './bounds.ts';
import { ESCAPED, unicodeEscape, unicodeEscapeLength } from './json-escapes.ts';
import { findLongValues, type LongValueOptions, type LongValues } from './json-long-values.ts';
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
import { OverflowBuffer } from './overflow-buffer.ts';
import { utf8Length, writeUtf8 } from './utf8.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const REPLACEMENT = 0xfffd;

/** 1 for a byte that a string cannot simply run over: quote, backslash, or part of a longer character. */
const SPECIAL = new Uint8Array(256).fill(1, 0x80);
SPECIAL[QUOTE] = 1;
SPECIAL[BACKSLASH] = 1;

export class JsonScanner {
  readonly bytes: Buffer;
  readonly spill: OverflowBuffer;
  at = 0;
  /** Range of the newest string: of the body, or behind it where it was spilled. */
  start = 0;
  end = 0;
  /** True between the opening bracket of an object or array and its first member. */
  #fresh = false;
  readonly #nesting = new Uint8Array(MAX_JSON_DEPTH);
  readonly #kernel: KernelBody | undefined;
  /** Undefined where the body has none. */
  #long: LongValues | undefined;

  /**
   * @param inKernel reads a copy of the body, if no other scanner does so: what was read has to be copied back before `close`
   */
  constructor(bytes: Buffer, inKernel = false) {
    this.#kernel = inKernel ? KernelBody.open(bytes, ESCAPED) : undefined;
    this.bytes = this.#kernel?.bytes ?? bytes;
    this.spill = new OverflowBuffer(bytes.length);
  }

  /** Gives the kernel to others. */
  close(): void {
    this.#kernel?.close();
  }

  /**
   * Looks for what takes long to read in the object that must come next: before anything else is read. Does nothing for bodies of
   * usual size.
   */
  *prepare(options?: LongValueOptions): Steps<void> {
    // Anything else is refused at its first byte.
    if (this.bytes[this.at] !== OPEN_OBJECT && this.peek() !== OPEN_OBJECT) return;
    const found = yield* findLongValues(this.bytes, this.at, this.spill, options);
    if (found.size > 0) this.#long = found;
  }

  /** Throws where the value that comes next takes too long to be read in one go; `what` names it in the plural. */
  checkDense(what: string): void {
    if (this.#long === undefined) return;
    this.peek();
    const denseBytes = this.#long.get(this.at)?.denseBytes ?? 0;
    if (denseBytes > MAX_DENSE_BYTES) throw tooMany(`bytes of ${what}`, MAX_DENSE_BYTES);
  }

  /** The first byte of the next value, or -1 at the end of the body. */
  peek(): number {
    const bytes = this.bytes;
    const length = bytes.length;
    let at = this.at;
    while (at < length && BLANK[bytes[at]] === 1) at++;
    this.at = at;
    return at < length ? bytes[at] : -1;
  }

  /** Enters the object that must come next. Its keys come from `nextKey`. */
  enterObject(): void {
    if (this.peek() !== 0x7b) throw new BadRequestError(MALFORMED_OBJECT);
    this.at++;
    this.#fresh = true;
  }

  /** Reads the next key, as the newest string, and its colon; false behind the end of the object. */
  nextKey(): boolean {
    let byte = this.peek();
    if (byte === 0x2c && !this.#fresh) {
      this.at++;
      byte = this.peek();
    } else if (byte === 0x7d) {
      this.at++;
      this.#fresh = false;
      return false;
    } else if (!this.#fresh) throw new BadRequestError(MALFORMED_OBJECT);
    if (byte !== QUOTE) throw new BadRequestError(MALFORMED_OBJECT);
    this.string();
    if (this.peek() !== 0x3a) throw new BadRequestError(MALFORMED_OBJECT);
    this.at++;
    this.#fresh = false;
    return true;
  }

  /** Enters the array that must come next. Its elements come from `nextElement`. */
  enterArray(): void {
    if (this.peek() !== 0x5b) throw new BadRequestError(MALFORMED_ARRAY);
    this.at++;
    this.#fresh = true;
  }

  /** Moves to the next element, which the caller then reads or skips; false behind the end of the array. */
  nextElement(): boolean {
    const byte = this.peek();
    if (byte === 0x5d) {
      this.at++;
      this.#fresh = false;
      return false;
    }
    if (this.#fresh) {
      this.#fresh = false;
      return true;
    }
    if (byte !== 0x2c) throw new BadRequestError(MALFORMED_ARRAY);
    this.at++;
    if (this.peek() === 0x5d) throw new BadRequestError(MALFORMED_ARRAY);
    return true;
  }

  /** Skips `null` where that comes next; else false. */
  skipNull(): boolean {
    if (this.peek() !== 0x6e) return false;
    this.#scalar();
    return true;
  }

  /** The text of the newest string. */
  text(): string {
    return this.isSpilled()
      ? this.spill.text(this.start, this.end)
      : this.bytes.utf8Slice(this.start, this.end);
  }

  isSpilled(): boolean {
    return this.start >= this.bytes.length;
  }

  /** True where the newest string has these bytes. */
  is(text: Uint8Array): boolean {
    const length = this.end - this.start;
    if (length !== text.length) return false;
    for (let i = 0; i < length; i++) if (this.bytes[this.start + i] !== text[i]) return false;
    return true;
  }

  /** Reads the string that must come next; its range is then in `start` and `end`. */
  string(): void {
    if (this.peek() !== QUOTE) throw new BadRequestError(MALFORMED_STRING);
    if (this.#long !== undefined && this.#takeLong(this.#long)) return;
    const bytes = this.bytes;
    const length = bytes.length;
    const start = this.at + 1;
    let at = start;
    for (;;) {
      while (at < length && SPECIAL[bytes[at]] === 0) at++;
      if (at >= length) throw new BadRequestError(MALFORMED_STRING);
      const byte = bytes[at];
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        this.#unescape(start, at, at);
        return;
      }
      const step = utf8Length(bytes, at, length);
      if (step === 0) {
        this.#spillString(start, at, at);
        return;
      }
      at += step;
    }
    this.start = start;
    this.end = at;
    this.at = at + 1;
  }

  /** Takes the string that comes next if it is a long one. */
  #takeLong(long: LongValues): boolean {
    const known = long.get(this.at);
    if (known?.text === undefined) return false;
    if (known.text instanceof BadRequestError) throw known.text;
    this.start = known.text.start;
    this.end = known.text.end;
    this.at = known.end;
    return true;
  }

  /**
   * Where the text of the next string begins, if a quote stands `length` bytes behind it; else -1. The caller looks at
   * the text, and takes it where no byte of it is special.
   */
  textOfLength(length: number): number {
    if (this.peek() !== QUOTE) return -1;
    const start = this.at + 1;
    return this.bytes[start + length] === QUOTE ? start : -1;
  }

  /** Takes the string whose text is `[start, end)`. */
  take(start: number, end: number): void {
    this.start = start;
    this.end = end;
    this.at = end + 1;
  }

  /**
   * Reads a string as `string` does, and fast where it has many escapes.
   * @param free offset from which nothing before the string is looked at any more
   */
  longString(free: number): void {
    if (this.peek() !== QUOTE) throw new BadRequestError(MALFORMED_STRING);
    const start = this.at + 1;
    const to = start - BLOCK_BYTES;
    if (this.#kernel === undefined || this.#long !== undefined || to < free) {
      this.string();
      return;
    }
    const at = this.#kernel.unquote(start, to);
    if (at >= this.bytes.length) throw new BadRequestError(MALFORMED_STRING);
    if (this.bytes[at] === QUOTE) {
      this.start = to;
      this.end = this.#kernel.written;
      this.at = at + 1;
    } else this.#unescape(to, this.#kernel.written, at);
  }

  /** Goes on with a string at `from`, an escape or a longer character; `[start, end)` is done. */
  #unescape(start: number, end: number, from: number): void {
    const bytes = this.bytes;
    const length = bytes.length;
    let at = from;
    let to = end;
    while (at < length) {
      const byte = bytes[at];
      if (SPECIAL[byte] === 0) {
        bytes[to++] = byte;
        at++;
      } else if (byte === QUOTE) {
        this.start = start;
        this.end = to;
        this.at = at + 1;
        return;
      } else if (byte === BACKSLASH) {
        const simple = at + 1 < length ? ESCAPED[bytes[at + 1]] : 0;
        if (simple !== 0) {
          bytes[to++] = simple;
          at += 2;
        } else {
          const code = unicodeEscape(bytes, at);
          if (code < 0) throw new BadRequestError(BAD_ESCAPE);
          to = writeUtf8(bytes, to, code);
          at += unicodeEscapeLength(code);
        }
      } else {
        const step = utf8Length(bytes, at, length);
        if (step === 0) {
          this.#spillString(start, to, at);
          return;
        }
        for (let i = 0; i < step; i++) bytes[to++] = bytes[at++];
      }
    }
    throw new BadRequestError(MALFORMED_STRING);
  }

  /** Goes on at `from` with a string that has become too long for its place; `[start, end)` is done. */
  #spillString(start: number, end: number, from: number): void {
    const { bytes, spill } = this;
    const length = bytes.length;
    const spillStart = spill.end;
    const character = Buffer.alloc(4);
    spill.pushRange(bytes, start, end);
    let at = from;
    while (at < length && bytes[at] !== QUOTE) {
      let code = REPLACEMENT;
      if (bytes[at] === BACKSLASH) {
        code = at + 1 < length ? ESCAPED[bytes[at + 1]] : 0;
        if (code !== 0) at += 2;
        else {
          code = unicodeEscape(bytes, at);
          if (code < 0) throw new BadRequestError(BAD_ESCAPE);
          at += unicodeEscapeLength(code);
        }
      } else {
        const step = utf8Length(bytes, at, length);
        if (step > 0) {
          spill.pushRange(bytes, at, at + step);
          at += step;
          continue;
        }
        at++;
      }
      spill.pushRange(character, 0, writeUtf8(character, 0, code));
    }
    if (at >= length) throw new BadRequestError(MALFORMED_STRING);
    this.start = spillStart;
    this.end = spill.end;
    this.at = at + 1;
  }

  /** Skips the next value, whatever it is. Strings in it are not unescaped. */
  skipValue(): void {
    if (this.#long !== undefined && this.#skipLong(this.#long)) return;
    let depth = 0;
    do {
      const byte = this.peek();
      if (byte === 0x7b || byte === 0x5b) {
        if (depth === MAX_JSON_DEPTH) throw new BadRequestError(MAX_DEPTH_EXCEEDED);
        // The closing bracket is the opening one plus 2.
        this.#nesting[depth++] = byte + 2;
        this.at++;
        if (this.peek() !== byte + 2) {
          if (byte === 0x7b) this.#skipKey();
          continue;
        }
      } else if (byte === QUOTE) this.#skipString();
      else this.#scalar();
      // A value ended: so may the arrays and objects around it.
      while (depth > 0) {
        const next = this.peek();
        if (next === this.#nesting[depth - 1]) {
          this.at++;
          depth--;
        } else if (next === 0x2c) {
          this.at++;
          if (this.#nesting[depth - 1] === 0x7d) this.#skipKey();
          break;
        } else {
          throw new BadRequestError(this.#nesting[depth - 1] === 0x7d ? MALFORMED_OBJECT : MALFORMED_ARRAY);
        }
      }
    } while (depth > 0);
  }

  #skipKey(): void {
    if (this.peek() !== QUOTE) throw new BadRequestError(MALFORMED_OBJECT);
    this.#skipString();
    if (this.peek() !== 0x3a) throw new BadRequestError(MALFORMED_OBJECT);
    this.at++;
  }

  #skipString(): void {
    const bytes = this.bytes;
    const length = bytes.length;
    let at = this.at + 1;
    while (at < length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    if (at >= length) throw new BadRequestError(MALFORMED_STRING);
    this.at = at + 1;
  }

  #skipLong(long: LongValues): boolean {
    this.peek();
    const known = long.get(this.at);
    if (known === undefined) return false;
    this.at = known.end;
    return true;
  }

  /** Skips a number, `true`, `false` or `null`. */
  #scalar(): void {
    const end = scalarEnd(this.bytes, this.at);
    if (end < 0) throw new BadRequestError(MALFORMED_VALUE);
    this.at = end;
  }
}
