/**
 * Bytes of a line to text, as Go's regular expressions see them: every byte that is not part of valid UTF-8 is one
 * U+FFFD.
 */
import { textOfBytes } from '../../base/model/byte-text.ts';

export function decodeText(buffer: Buffer, start: number, end: number): string {
  return textOfBytes(buffer, start, end).toWellFormed();
}
