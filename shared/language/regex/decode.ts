/**
 * Decodes the bytes of a line as Go's regular expressions do: each byte that is not part of valid UTF-8
 * becomes one U+FFFD.
 */
import { textOfBytes } from '../../base/model/byte-text.ts';

export function decodeText(buffer: Buffer, start: number, end: number): string {
  return textOfBytes(buffer, start, end).toWellFormed();
}
