/**
 * Reads the protocol buffer wire format over a byte range, with the errors of the usual Go decoders. The
 * caller keeps `end` at the end of the current message and `at` after the bytes that it read.
 */
import { BadRequestError } from '../../base/model/errors.ts';
import { MAX_FIELDS_OF_ENTRY, tooMany } from './bounds.ts';

const MAX_VARINT_BYTES = 10;
/** Maximum nesting of groups in fields that are skipped. */
export const MAX_GROUP_DEPTH = 100;

export class ProtobufReader {
  readonly bytes: Buffer;
  at = 0;
  end: number;
  /** Fields left until `startFields` is called again. */
  #fieldsLeft = MAX_FIELDS_OF_ENTRY;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  /** Reads a varint as a signed 64-bit integer: exact below 2^53, otherwise to the precision of a double. */
  varint(): number {
    const bytes = this.bytes;
    const at = this.at;
    if (at >= this.end) throw unexpectedEnd();
    const first = bytes[at];
    if (first < 128) {
      this.at = at + 1;
      return first;
    }
    if (at + 5 <= this.end) {
      const second = bytes[at + 1];
      let value = (first & 127) | ((second & 127) << 7);
      if (second < 128) {
        this.at = at + 2;
        return value;
      }
      const third = bytes[at + 2];
      value |= (third & 127) << 14;
      if (third < 128) {
        this.at = at + 3;
        return value;
      }
      const fourth = bytes[at + 3];
      value |= (fourth & 127) << 21;
      if (fourth < 128) {
        this.at = at + 4;
        return value;
      }
      const fifth = bytes[at + 4];
      if (fifth < 128) {
        this.at = at + 5;
        return value + fifth * 0x10000000;
      }
    }
    return this.#longVarint();
  }

  /** Reads a length. Throws if the message ends before that many bytes. */
  length(): number {
    const length = this.varint();
    if (length < 0) throw new BadRequestError('proto: negative length found during unmarshaling');
    if (length > this.end - this.at) throw unexpectedEnd();
    return length;
  }

  /**
   * Enters an embedded message: `end` becomes its end. The caller restores the `end` of the outer message.
   */
  enter(): void {
    const length = this.length();
    this.end = this.at + length;
  }

  /** Starts a part that is read in a single step and has a limited number of fields. */
  startFields(): void {
    this.#fieldsLeft = MAX_FIELDS_OF_ENTRY;
  }

  /** Counts a field. Throws TooLargeError if there were too many. */
  countField(): void {
    if (--this.#fieldsLeft < 0) throw tooMany('fields of one entry', MAX_FIELDS_OF_ENTRY);
  }

  /** Counts bytes that are processed one by one, as the number of fields that take the same time. */
  countBytes(bytes: number): void {
    this.#fieldsLeft -= bytes >>> 5;
  }

  /** Skips the value of an unused field. */
  skip(tag: number): void {
    let depth = 0;
    let wire = tag % 8;
    for (;;) {
      this.countField();
      if (wire === 0) this.varint();
      else if (wire === 1) this.#advance(8);
      else if (wire === 2) this.#advance(this.length());
      else if (wire === 3) {
        if (++depth > MAX_GROUP_DEPTH) throw new BadRequestError('proto: groups nested too deeply');
      } else if (wire === 4) {
        if (depth-- === 0) throw new BadRequestError('proto: unexpected end of group');
      } else if (wire === 5) this.#advance(4);
      else throw new BadRequestError(`proto: illegal wireType ${wire}`);
      if (depth === 0) return;
      wire = this.varint() & 7;
    }
  }

  #advance(count: number): void {
    if (count > this.end - this.at) throw unexpectedEnd();
    this.at += count;
  }

  #longVarint(): number {
    let low = 0;
    let high = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      if (this.at >= this.end) throw unexpectedEnd();
      const byte = this.bytes[this.at++];
      const part = byte & 127;
      if (i < 4) low |= part << (7 * i);
      else if (i === 4) {
        low |= part << 28;
        high = part >>> 4;
      } else high |= part << (7 * i - 32);
      if (byte < 128) return (high | 0) * 0x100000000 + (low >>> 0);
    }
    throw new BadRequestError('proto: integer overflow');
  }
}

export function unexpectedEnd(): BadRequestError {
  return new BadRequestError('unexpected EOF');
}

/** Returns the error of a known field with the wrong wire type. */
export function wrongWireType(tag: number, field: string): BadRequestError {
  return new BadRequestError(`proto: wrong wireType = ${tag % 8} for field ${field}`);
}

/** Returns the error of an invalid tag: number 0, or the end of a group that never started. */
export function illegalTag(message: string, tag: number): BadRequestError {
  return new BadRequestError(`proto: ${message}: illegal tag ${Math.floor(tag / 8)} (wire type ${tag % 8})`);
}
