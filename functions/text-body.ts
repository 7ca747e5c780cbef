/**
 * Recovers a compressed body that the gateway passed as text. The gateway recognizes text by the content type
 * alone, so `application/json` with `content-encoding: gzip` may come without the base64 flag. The text then
 * has one of these forms:
 *
 *     one character per byte         the bytes are unchanged
 *     base64 without the flag        decoded here
 *     JSON                           a proxy decompressed the body and left the header
 *     UTF-8 with replacements        lost: the bytes cannot be recovered
 */
import { BadRequestError } from '../shared/base/model/errors.ts';

export interface TextBody {
  readonly body: Uint8Array;
  /** False if the body is plain, whatever the header says. */
  readonly isEncoded: boolean;
}

const NOT_A_BYTE = /[^\0-\xff]/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const JSON_START = /^\s*[{[]/;
const ZSTD = 0xfd2fb528;

/** Throws BadRequestError if the bytes are lost. */
export function compressedText(text: string, encoding: string): TextBody {
  if (!NOT_A_BYTE.test(text)) {
    const bytes = Buffer.from(text, 'latin1');
    if (isCompressed(bytes)) return { body: bytes, isEncoded: true };
  }
  if (BASE64.test(text)) {
    const bytes = Buffer.from(text, 'base64');
    if (isCompressed(bytes)) return { body: bytes, isEncoded: true };
  }
  if (JSON_START.test(text)) return { body: Buffer.from(text), isEncoded: false };
  throw new BadRequestError(
    `the gateway passed a ${encoding} body as text and its bytes are lost; send protobuf, or JSON without content-encoding`,
  );
}

/** Checks the first bytes of gzip, zlib and zstd. JSON and the base64 of these formats start differently. */
function isCompressed(bytes: Buffer): boolean {
  if (bytes.length < 4) return false;
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const isZlib = (bytes[0] & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
  return isGzip || isZlib || bytes.readUInt32LE(0) === ZSTD;
}
