/**
 * Writes OTLP maps and arrays as JSON text, byte for byte as the reference does. Keys are sorted by bytes,
 * and the last value of equal keys is used. `<`, `>` and `&` are escaped. Bytes are base64, and an empty
 * value is null.
 */
import { compareUtf8 } from '../../../base/model/bytes.ts';
import { utf8Length } from '../../../base/model/utf8.ts';
import { tooMany } from '../bounds.ts';
import type { OverflowBuffer } from '../overflow-buffer.ts';
import { ARRAY, BOOL, BYTES, DOUBLE, EMPTY, INT, MAP, STRING, type ValueTree } from './any-value.ts';

/** A string of the overflow is copied as text, which V8 limits to 512 Mi characters. */
const MAX_COPIED_BYTES = 256 * 1024 * 1024;
const BASE64_STEP = 48 * 1024;
const REPLACEMENT = Buffer.from('\\ufffd');
const QUOTE = 0x22;

/** Escape sequence of each ASCII byte, or undefined if the byte is written as it is. */
const ESCAPES: readonly (Buffer | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (char === '"' || char === '\\') return Buffer.from(`\\${char}`);
  const short = { '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' }[char];
  if (short !== undefined) return Buffer.from(short);
  if (code >= 0x20 && !'<>&'.includes(char)) return undefined;
  return Buffer.from(`\\u${code.toString(16).padStart(4, '0')}`);
});

export class JsonTextWriter {
  readonly #bytes: Buffer;
  readonly #overflow: OverflowBuffer;

  constructor(bytes: Buffer, overflow: OverflowBuffer) {
    this.#bytes = bytes;
    this.#overflow = overflow;
  }

  /**
   * Appends the text to the overflow. Returns false if the tree has a number without a JSON form; the appended text is then
   * invalid.
   */
  write(tree: ValueTree): boolean {
    switch (tree.kind) {
      case EMPTY:
        this.#ascii('null');
        return true;
      case STRING:
        this.#string(tree.start, tree.end);
        return true;
      case BYTES:
        this.#base64(tree.start, tree.end);
        return true;
      case BOOL:
        this.#ascii(tree.number === 1 ? 'true' : 'false');
        return true;
      case INT:
        this.#ascii(Number.isSafeInteger(tree.number) ? String(tree.number) : String(tree.big));
        return true;
      case DOUBLE:
        this.#ascii(formatJsonNumber(tree.number));
        return Number.isFinite(tree.number);
      case ARRAY: {
        this.#ascii('[');
        for (let i = 0; i < tree.values.length; i++) {
          if (i > 0) this.#ascii(',');
          if (!this.write(tree.values[i])) return false;
        }
        this.#ascii(']');
        return true;
      }
      case MAP: {
        const last = new Map(tree.members.map(({ key, value }) => [key, value]));
        const keys = [...last.keys()].sort(compareUtf8);
        this.#ascii('{');
        for (let i = 0; i < keys.length; i++) {
          if (i > 0) this.#ascii(',');
          const key = Buffer.from(keys[i]);
          this.#stringOf(key, 0, key.length);
          this.#ascii(':');
          if (!this.write(last.get(keys[i])!)) return false;
        }
        this.#ascii('}');
        return true;
      }
    }
  }

  /** Writes a range of the body or of the overflow. */
  #string(start: number, end: number): void {
    if (start < this.#bytes.length || start === end) {
      this.#stringOf(this.#bytes, start, end);
      return;
    }
    if (end - start > MAX_COPIED_BYTES) throw tooMany('bytes of a string', MAX_COPIED_BYTES);
    const copy = Buffer.from(this.#overflow.text(start, end));
    this.#stringOf(copy, 0, copy.length);
  }

  #stringOf(bytes: Uint8Array, start: number, end: number): void {
    const overflow = this.#overflow;
    overflow.push(QUOTE);
    let from = start;
    for (let at = start; at < end; ) {
      const byte = bytes[at];
      const length = byte < 0x80 ? 1 : utf8Length(bytes, at, end);
      const escaped = byte < 0x80 ? ESCAPES[byte] : escapeOf(bytes, at, length);
      const next = at + Math.max(length, 1);
      if (escaped !== undefined) {
        overflow.pushRange(bytes, from, at);
        overflow.pushRange(escaped, 0, escaped.length);
        from = next;
      }
      at = next;
    }
    overflow.pushRange(bytes, from, end);
    overflow.push(QUOTE);
  }

  #base64(start: number, end: number): void {
    this.#overflow.push(QUOTE);
    for (let at = start; at < end; at += BASE64_STEP) {
      this.#ascii(this.#bytes.toString('base64', at, Math.min(end, at + BASE64_STEP)));
    }
    this.#overflow.push(QUOTE);
  }

  #ascii(text: string): void {
    for (let i = 0; i < text.length; i++) this.#overflow.push(text.charCodeAt(i));
  }
}

/**
 * Returns the escape of a multibyte character: for invalid bytes, and for two line separators that JavaScript
 * once rejected.
 */
function escapeOf(bytes: Uint8Array, at: number, length: number): Uint8Array | undefined {
  if (length === 0) return REPLACEMENT;
  if (length !== 3 || bytes[at] !== 0xe2 || bytes[at + 1] !== 0x80) return undefined;
  if (bytes[at + 2] === 0xa8) return Buffer.from('\\u2028');
  return bytes[at + 2] === 0xa9 ? Buffer.from('\\u2029') : undefined;
}

/**
 * Formats a double in the shortest JSON form. Returns the reference's error text for a value that JSON lacks.
 */
export function formatJsonNumber(value: number): string {
  if (Number.isNaN(value)) return 'json: unsupported value: NaN';
  if (!Number.isFinite(value)) return `json: unsupported value: ${value > 0 ? '+Inf' : '-Inf'}`;
  // JavaScript and Go format exponents alike, but differ in the sign of zero.
  return Object.is(value, -0) ? '-0' : String(value);
}
