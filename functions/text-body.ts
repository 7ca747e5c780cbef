/**
 * A compressed body that the gateway passes as text. It tells text by the content type alone, so `application/json` with
 * `content-encoding: gzip` may come without the mark of base64. What the text then is depends on the gateway:
 *
 *     a character for each byte      the bytes are as they were
 *     base64 without its mark        decoded
 *     JSON                           something on the way has decompressed it, and left the header
 *     UTF-8 with replacements        lost: the bytes cannot be told any more
 */
import { BadRequestError } from '../shared/base/model/errors.ts';

export interface TextBody {
  readonly body: Uint8Array;
  /** False: it is plain now, whatever the header says. */
  readonly isEncoded: boolean;
}

const NOT_A_BYTE = /[^\0-\xff]/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const JSON_START = /^\s*[{[]/;
const ZSTD = 0xfd2fb528;

/** Throws BadRequestError where the bytes are lost. */
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
    `the gateway has passed a body in ${encoding} as text, and its bytes are lost; send protobuf, or JSON without content-encoding`,
  );
}

/** By how gzip, zlib and zstd begin; no JSON and no base64 of these begins so. */
function isCompressed(bytes: Buffer): boolean {
  if (bytes.length < 4) return false;
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const isZlib = (bytes[0] & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
  return isGzip || isZlib || bytes.readUInt32LE(0) === ZSTD;
}
