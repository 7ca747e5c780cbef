/**
 * Scans JSON bytes without a tree and, for most strings, without a copy. A string is a range of the body,
 * with escapes resolved in place. The result is never longer.
 *
 * A string with invalid UTF-8 gets longer (U+FFFD has 3 bytes). It moves to the overflow, and its range is
 * behind the body. Raw control characters in strings are accepted, as in the reference.
 *
 * Pitfall: after `string()` the body contains the unescaped text, so nothing can be read twice.
 */

import { BLOCK_BYTES, KernelBody } from '../../base/kernels/unquote.ts';
import { BadRequestError } from '../../base/model/errors.ts';
import type { Steps } from '../../base/model/steps.ts';
import { utf8Length, writeUtf8 } from '../../base/model/utf8.ts';
import { MAX_BODY_JSON_DEPTH, MAX_DENSE_BYTES, tooMany } from './bounds.ts';
import { UNESCAPED, unicodeEscape, unicodeEscapeLength } from './json-escapes.ts';
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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const REPLACEMENT = 0xfffd;

/** Maximum white space outside the body's value that is skipped in one step: 0.1 ms. */
const BLANKS_A_STEP = 64 * 1024;

/**
 * 1 for a byte that needs special handling in a string: quote, backslash, or part of a multibyte character.
 */
const SPECIAL = new Uint8Array(256).fill(1, 0x80);
SPECIAL[QUOTE] = 1;
SPECIAL[BACKSLASH] = 1;

/** Closing brackets of the value that is skipped, which is never interrupted. */
const NESTING = new Uint8Array(MAX_BODY_JSON_DEPTH);

export class JsonScanner {
  readonly bytes: Buffer;
  readonly overflow: OverflowBuffer;
  at = 0;
  /** Range of the current string, in the body or behind it if it is in the overflow. */
  start = 0;
  end = 0;
  /** True between the opening bracket of an object or array and its first member. */
  #fresh = false;
  readonly #kernel: KernelBody | undefined;
  /** Undefined if the body has none. */
  #long: LongValues | undefined;

  /**
   * @param inKernel reads a copy of the body, if no other scanner uses the kernel; copy back what was read
   * before `close`
   */
  constructor(bytes: Buffer, inKernel = false) {
    this.#kernel = inKernel ? KernelBody.open(bytes, UNESCAPED) : undefined;
    this.bytes = this.#kernel?.bytes ?? bytes;
    this.overflow = new OverflowBuffer(bytes.length);
  }

  /** Releases the kernel to other scanners. */
  close(): void {
    this.#kernel?.close();
  }

  /**
   * Finds the large values of the next object. Call it before anything else is read. It does nothing for
   * bodies of usual size.
   */
  *prepare(options?: LongValueOptions): Steps<void> {
    yield* this.skipBlanks();
    // Anything else is refused at its first byte.
    if (this.bytes[this.at] !== OPEN_OBJECT) return;
    const found = yield* findLongValues(this.bytes, this.at, this.overflow, options);
    if (found.size > 0) this.#long = found;
  }

  /** Skips white space, however much it is. */
  *skipBlanks(): Steps<void> {
    const { bytes } = this;
    for (;;) {
      const stop = Math.min(this.at + BLANKS_A_STEP, bytes.length);
      let { at } = this;
      while (at < stop && BLANK[bytes[at]] === 1) at++;
      this.at = at;
      if (at < stop || stop === bytes.length) return;
      yield;
    }
  }

  /** Throws if the next value is too large for a single step. `what` names it in the plural. */
  checkDense(what: string): void {
    if (this.#long === undefined) return;
    this.peek();
    const denseBytes = this.#long.get(this.at)?.denseBytes ?? 0;
    if (denseBytes > MAX_DENSE_BYTES) throw tooMany(`bytes of ${what}`, MAX_DENSE_BYTES);
  }

  /** Returns the first byte of the next value, or -1 at the end of the body. */
  peek(): number {
    const bytes = this.bytes;
    const length = bytes.length;
    let at = this.at;
    while (at < length && BLANK[bytes[at]] === 1) at++;
    this.at = at;
    return at < length ? bytes[at] : -1;
  }

  /** Enters the next value, an object. `nextKey` returns its keys. */
  enterObject(): void {
    if (this.peek() !== 0x7b) throw new BadRequestError(MALFORMED_OBJECT);
    this.at++;
    this.#fresh = true;
  }

  /** Reads the next key as the current string, and its colon. Returns false after the end of the object. */
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

  /** Enters the next value, an array. `nextElement` advances to its elements. */
  enterArray(): void {
    if (this.peek() !== 0x5b) throw new BadRequestError(MALFORMED_ARRAY);
    this.at++;
    this.#fresh = true;
  }

  /**
   * Advances to the next element, which the caller then reads or skips. Returns false after the end of the
   * array.
   */
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

  /** Skips `null` if it is next, otherwise returns false. */
  skipNull(): boolean {
    if (this.peek() !== 0x6e) return false;
    this.#scalar();
    return true;
  }

  /** Returns the text of the current string. */
  text(): string {
    return this.isInOverflow()
      ? this.overflow.text(this.start, this.end)
      : this.bytes.utf8Slice(this.start, this.end);
  }

  isInOverflow(): boolean {
    return this.start >= this.bytes.length;
  }

  /** Whether the current string has these bytes. */
  is(text: Uint8Array): boolean {
    const length = this.end - this.start;
    if (length !== text.length) return false;
    for (let i = 0; i < length; i++) if (this.bytes[this.start + i] !== text[i]) return false;
    return true;
  }

  /** Reads the next value, a string, and sets its range in `start` and `end`. */
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
        this.#overflowString(start, at, at);
        return;
      }
      at += step;
    }
    this.start = start;
    this.end = at;
    this.at = at + 1;
  }

  /** Uses the next string if it is a recorded long one. */
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
   * Returns the start of the next string's text if a quote follows `length` bytes later, otherwise -1. The
   * caller checks the text and calls `take` if no byte of it is special.
   */
  textOfLength(length: number): number {
    if (this.peek() !== QUOTE) return -1;
    const start = this.at + 1;
    return this.bytes[start + length] === QUOTE ? start : -1;
  }

  /** Uses `[start, end)` as the text of the current string. */
  take(start: number, end: number): void {
    this.start = start;
    this.end = end;
    this.at = end + 1;
  }

  /**
   * Reads a string as `string` does, but faster for one with many escapes.
   *
   * @param free offset from which on the bytes before the string are no longer needed
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

  /** Continues a string at `from`, an escape or a multibyte character. `[start, end)` is done. */
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
        const simple = at + 1 < length ? UNESCAPED[bytes[at + 1]] : 0;
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
          this.#overflowString(start, to, at);
          return;
        }
        for (let i = 0; i < step; i++) bytes[to++] = bytes[at++];
      }
    }
    throw new BadRequestError(MALFORMED_STRING);
  }

  /** Continues at `from` with a string that no longer fits in place. `[start, end)` is done. */
  #overflowString(start: number, end: number, from: number): void {
    const { bytes, overflow } = this;
    const length = bytes.length;
    const overflowStart = overflow.end;
    const character = Buffer.alloc(4);
    overflow.pushRange(bytes, start, end);
    let at = from;
    while (at < length && bytes[at] !== QUOTE) {
      let code = REPLACEMENT;
      if (bytes[at] === BACKSLASH) {
        code = at + 1 < length ? UNESCAPED[bytes[at + 1]] : 0;
        if (code !== 0) at += 2;
        else {
          code = unicodeEscape(bytes, at);
          if (code < 0) throw new BadRequestError(BAD_ESCAPE);
          at += unicodeEscapeLength(code);
        }
      } else {
        const step = utf8Length(bytes, at, length);
        if (step > 0) {
          overflow.pushRange(bytes, at, at + step);
          at += step;
          continue;
        }
        at++;
      }
      overflow.pushRange(character, 0, writeUtf8(character, 0, code));
    }
    if (at >= length) throw new BadRequestError(MALFORMED_STRING);
    this.start = overflowStart;
    this.end = overflow.end;
    this.at = at + 1;
  }

  /** Skips the next value of any kind. Strings in it are not unescaped. */
  skipValue(): void {
    if (this.#long !== undefined && this.#skipLong(this.#long)) return;
    let depth = 0;
    do {
      const byte = this.peek();
      if (byte === 0x7b || byte === 0x5b) {
        if (depth === MAX_BODY_JSON_DEPTH) throw new BadRequestError(MAX_DEPTH_EXCEEDED);
        // The closing bracket is the opening one plus 2.
        NESTING[depth++] = byte + 2;
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
        if (next === NESTING[depth - 1]) {
          this.at++;
          depth--;
        } else if (next === 0x2c) {
          this.at++;
          if (NESTING[depth - 1] === 0x7d) this.#skipKey();
          break;
        } else {
          throw new BadRequestError(NESTING[depth - 1] === 0x7d ? MALFORMED_OBJECT : MALFORMED_ARRAY);
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
