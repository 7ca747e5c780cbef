/** Growing buffer of bytes, with numbers in the formats of Parquet and Thrift's compact protocol. */

const FIRST_BYTES = 4096;
/** Maximum UTF-8 bytes of a code unit. */
const MAX_BYTES_PER_UNIT = 3;

export class ByteSink {
  #buffer: Buffer;
  #at = 0;

  constructor(capacity = FIRST_BYTES) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#at;
  }

  /** Bytes written so far. Valid until the next write. */
  written(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#at++] = value;
  }

  /** Writes 4 bytes, lowest first. */
  uint32(value: number): void {
    this.#reserve(4);
    this.#at = this.#buffer.writeUInt32LE(value, this.#at);
  }

  int64(value: bigint): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeBigInt64LE(value, this.#at);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#at);
    this.#at += value.length;
  }

  /** Writes a text as Parquet stores it: 4 bytes of length, then UTF-8. */
  text(value: string): void {
    this.#reserve(4 + MAX_BYTES_PER_UNIT * value.length);
    const bytes = this.#buffer.write(value, this.#at + 4);
    this.#buffer.writeUInt32LE(bytes, this.#at);
    this.#at += 4 + bytes;
  }

  /** Writes a whole number from 0 to 2^53 with 7 bits per byte, lowest first. */
  varint(value: number): void {
    let rest = value;
    while (rest >= 128) {
      this.byte((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    this.byte(rest);
  }

  /** Writes a signed whole number within 2^63. */
  zigzag(value: bigint): void {
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    for (; rest >= 128n; rest >>= 7n) this.byte(Number(rest & 127n) + 128);
    this.byte(Number(rest));
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}
