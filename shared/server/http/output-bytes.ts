/** Growing buffer for the bytes of a response. */

/** Replacement of each byte; `undefined` writes the byte itself. */
export type EscapeTable = readonly (Buffer | undefined)[];

/** For fewer bytes, a loop is faster than a call out of JavaScript. */
const MIN_COPIED_BYTES = 24;
/** Length of the longest replacement. */
const MAX_ESCAPE_BYTES = 6;
const ZERO = 0x30;

export class OutputBytes {
  #buffer: Buffer;
  #at = 0;

  constructor(capacity: number) {
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(capacity, 64));
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#at++] = value;
  }

  bytes(source: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    if (end - start >= MIN_COPIED_BYTES) this.#at += source.copy(this.#buffer, this.#at, start, end);
    else for (let i = start; i < end; i++) this.#buffer[this.#at++] = source[i];
  }

  /** @param value whole number from 0 to 999,999,999 */
  nineDigits(value: number): void {
    this.#reserve(9);
    let rest = value;
    for (let place = this.#at + 8; place >= this.#at; place--) {
      const shorter = Math.floor(rest / 10);
      this.#buffer[place] = ZERO + (rest - shorter * 10);
      rest = shorter;
    }
    this.#at += 9;
  }

  escaped(source: Buffer, start: number, end: number, escapes: EscapeTable): void {
    this.#reserve((end - start) * MAX_ESCAPE_BYTES);
    const buffer = this.#buffer;
    let at = this.#at;
    for (let i = start; i < end; i++) {
      const byte = source[i];
      const replacement = escapes[byte];
      if (replacement === undefined) buffer[at++] = byte;
      else for (let j = 0; j < replacement.length; j++) buffer[at++] = replacement[j];
    }
    this.#at = at;
  }

  /** Bytes in a separate buffer, which can be moved to another thread. */
  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(0, this.#at));
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.ceil(this.#buffer.length * 1.5)));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}
