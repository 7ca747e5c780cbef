/**
 * Writes OTLP values as text (docs/dev/wire-format.md#otlp-names-and-values) for metadata and lines. A string stays in the body. Other text
 * is appended behind it; small numbers and booleans are appended once per push.
 *
 * Pitfall: the range of the text is in `start` and `end` of the writer, which the next call overwrites.
 */

import { NS_OF_SECOND } from '../../../base/model/time-units.ts';
import type { OverflowBuffer } from '../overflow-buffer.ts';
import { type AnyValue, ARRAY, BOOL, BYTES, DOUBLE, INT, MAP, STRING, type ValueTree } from './any-value.ts';
import type { Instant } from './instant.ts';
import { formatJsonNumber, JsonTextWriter } from './json-text.ts';

/** Numbers below this are written once: severities, flags, status codes, small counts. */
const SHARED_NUMBERS = 1024;
const ZERO = 0x30;
/**
 * Size of the buffer in which texts are assembled. Appending byte by byte cost 10 ns per byte.
 */
const BLOCK_BYTES = 16 * 1024;
/** Maximum length of a text that is written into the block byte by byte. IDs in hex have 32 bytes. */
const MAX_SHORT_TEXT = 64;
/** Bytes encoded at a time, a multiple of 3, so that no padding appears in the middle. */
const BASE64_STEP = 48 * 1024;
/** Two hex digits of each byte. */
const HIGH_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => (byte >> 4).toString(16).charCodeAt(0));
const LOW_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => (byte & 15).toString(16).charCodeAt(0));
/** Maximum decimals of a double that is formatted as a scaled whole number. */
const DECIMALS = 6;
const SCALE = 1e6;
/** Smaller numbers may have an exponent, and zero a sign. */
const MIN_SCALED = 10;
/**
 * Below this, every decimal of 15 digits is a different double, so the digits found are the shortest ones.
 */
const MAX_SCALED = 1e15;

export class ValueText {
  /** Range of the current text. */
  start = 0;
  end = 0;
  readonly #bytes: Buffer;
  readonly #overflow: OverflowBuffer;
  readonly #isShared: boolean;
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #blockLength = 0;
  /** Offset of the first byte of the block in the overflow. */
  #blockStart: number;
  /**
   * Offset of the text of each small number, or 0 if it is not written yet (the body is never empty then).
   */
  readonly #numberStart = new Uint32Array(SHARED_NUMBERS);
  readonly #numberEnd = new Uint32Array(SHARED_NUMBERS);
  readonly #boolStart = [-1, -1];
  readonly #digits = new Uint8Array(20);

  /** @param isShared others append to the overflow at any time, so no text may stay in the block */
  constructor(bytes: Buffer, overflow: OverflowBuffer, isShared: boolean) {
    this.#bytes = bytes;
    this.#overflow = overflow;
    this.#isShared = isShared;
    this.#blockStart = overflow.end;
  }

  /** Writes the text of a value. Maps and arrays are JSON. */
  ofValue(value: AnyValue): void {
    switch (value.kind) {
      case STRING:
        this.start = value.start;
        this.end = value.end;
        return;
      case BOOL:
        this.#ofBool(value.number);
        return;
      case INT:
        if (Number.isSafeInteger(value.number)) this.ofInteger(value.number);
        else this.#ofText(String(value.big));
        return;
      case DOUBLE:
        this.#ofDouble(value.number);
        return;
      case BYTES:
        this.#ofBase64(value.start, value.end);
        return;
      case ARRAY:
      case MAP:
        this.#ofJson(value.tree!);
        return;
      default:
        this.start = 0;
        this.end = 0;
    }
  }

  /** Writes a whole number that is exact as a double. */
  ofInteger(value: number): void {
    if (value >= 0 && value < SHARED_NUMBERS) {
      if (this.#numberStart[value] === 0) {
        this.#ofText(String(value));
        this.#numberStart[value] = this.start;
        this.#numberEnd[value] = this.end;
      }
      this.start = this.#numberStart[value];
      this.end = this.#numberEnd[value];
      return;
    }
    this.#begin();
    if (value < 0) this.#block[this.#blockLength++] = 0x2d;
    this.#writeDigits(Math.abs(value), 1);
    this.#finish();
  }

  /** Writes signed nanoseconds since 1970. */
  ofInstant({ seconds, nanos }: Instant): void {
    this.#begin();
    if (seconds >= 0) this.#writeNanoseconds(seconds, nanos);
    else {
      this.#block[this.#blockLength++] = 0x2d;
      if (nanos === 0) this.#writeNanoseconds(-seconds, 0);
      else this.#writeNanoseconds(-seconds - 1, NS_OF_SECOND - nanos);
    }
    this.#finish();
  }

  /** Writes up to 32 bytes of the body in lower-case hex. */
  ofHex(start: number, end: number): void {
    this.#begin();
    const bytes = this.#bytes;
    const block = this.#block;
    let to = this.#blockLength;
    for (let i = start; i < end; i++) {
      const byte = bytes[i];
      block[to++] = HIGH_DIGIT[byte];
      block[to++] = LOW_DIGIT[byte];
    }
    this.#blockLength = to;
    this.#finish();
  }

  /** Moves the block into the overflow, before others read or write there. */
  flush(): void {
    this.#overflow.pushRange(this.#block, 0, this.#blockLength);
    this.#blockLength = 0;
    this.#blockStart = this.#overflow.end;
  }

  #ofText(text: string): void {
    this.#begin();
    if (text.length > MAX_SHORT_TEXT) {
      const bytes = Buffer.from(text);
      this.flush();
      this.#overflow.pushRange(bytes, 0, bytes.length);
      this.#finishText();
      return;
    }
    for (let i = 0; i < text.length; i++) this.#block[this.#blockLength++] = text.charCodeAt(i);
    this.#finish();
  }

  #ofDouble(value: number): void {
    const scaled = Math.round(Math.abs(value) * SCALE);
    // The division shows whether these digits represent the same double.
    if (!(scaled >= MIN_SCALED && scaled < MAX_SCALED) || scaled / SCALE !== Math.abs(value)) {
      this.#ofText(formatJsonNumber(value));
      return;
    }
    const whole = Math.trunc(scaled / SCALE);
    let fraction = scaled - whole * SCALE;
    let decimals = DECIMALS;
    for (; decimals > 0 && fraction % 10 === 0; decimals--) fraction /= 10;
    this.#begin();
    if (value < 0) this.#block[this.#blockLength++] = 0x2d;
    this.#writeDigits(whole, 1);
    if (decimals > 0) {
      this.#block[this.#blockLength++] = 0x2e;
      this.#writeDigits(fraction, decimals);
    }
    this.#finish();
  }

  #ofBool(value: number): void {
    if (this.#boolStart[value] < 0) {
      this.#ofText(value === 1 ? 'true' : 'false');
      this.#boolStart[value] = this.start;
    }
    this.start = this.#boolStart[value];
    this.end = this.start + (value === 1 ? 4 : 5);
  }

  #ofBase64(start: number, end: number): void {
    this.flush();
    this.start = this.#overflow.end;
    for (let at = start; at < end; at += BASE64_STEP) {
      const text = this.#bytes.toString('base64', at, Math.min(end, at + BASE64_STEP));
      this.#overflow.pushRange(Buffer.from(text, 'latin1'), 0, text.length);
    }
    this.#finishText();
  }

  #ofJson(tree: ValueTree): void {
    this.flush();
    this.start = this.#overflow.end;
    const isWritten = new JsonTextWriter(this.#bytes, this.#overflow).write(tree);
    this.#finishText();
    // As in the reference: a number that JSON lacks leaves the text empty.
    if (!isWritten) this.end = this.start;
  }

  #writeNanoseconds(seconds: number, nanos: number): void {
    if (seconds > 0) {
      this.#writeDigits(seconds, 1);
      this.#writeDigits(nanos, 9);
    } else this.#writeDigits(nanos, 1);
  }

  /** Writes the digits of a whole number below 2^53, padded with zeros to `minDigits` digits. */
  #writeDigits(value: number, minDigits: number): void {
    const digits = this.#digits;
    const block = this.#block;
    let count = 0;
    let remaining = value;
    while (remaining > 0x7fffffff) {
      const next = Math.floor(remaining / 10);
      digits[count++] = ZERO + (remaining - next * 10);
      remaining = next;
    }
    // The remaining digits fit in 32 bits, which the CPU divides without doubles.
    let small = remaining | 0;
    while (small > 0) {
      const next = (small / 10) | 0;
      digits[count++] = ZERO + small - next * 10;
      small = next;
    }
    while (count < minDigits) digits[count++] = ZERO;
    let to = this.#blockLength;
    while (count > 0) block[to++] = digits[--count];
    this.#blockLength = to;
  }

  /** Starts a text of at most MAX_SHORT_TEXT bytes in the block. */
  #begin(): void {
    if (this.#blockLength === 0) this.#blockStart = this.#overflow.end;
    else if (this.#blockLength + MAX_SHORT_TEXT > BLOCK_BYTES) this.flush();
    this.start = this.#blockStart + this.#blockLength;
  }

  #finish(): void {
    this.end = this.#blockStart + this.#blockLength;
    if (this.#isShared) this.flush();
  }

  #finishText(): void {
    this.end = this.#overflow.end;
    this.#blockStart = this.end;
  }
}
