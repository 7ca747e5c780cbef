/** Version of assembly/text-columns.ts that works text by text. */
import type { TextRanges } from '../../../shared/base/kernels/text-columns.ts';

export function textsOf({ bytes, starts, ends }: TextRanges): readonly Buffer[] {
  return Array.from(starts, (start, i) => bytes.subarray(start, ends[i]));
}

/** Undefined as soon as over half of the texts up to one, and over half of `tried`, are distinct. */
export function numberedTexts(texts: readonly Buffer[], tried: number) {
  const known = new Map<string, number>();
  const firsts: number[] = [];
  const numbers: number[] = [];
  for (const [i, text] of texts.entries()) {
    const key = text.toString('latin1');
    if (!known.has(key)) known.set(key, firsts.push(i) - 1);
    numbers.push(known.get(key)!);
    if (2 * firsts.length > Math.max(i + 1, tried)) return undefined;
  }
  return { numbers, firsts };
}

/** Texts after their lengths, up to the first one that reaches the limit. */
export function writtenTexts(texts: readonly Buffer[], limit: number): Buffer {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (const text of texts) {
    if (bytes >= limit) break;
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    pieces.push(length, text);
    bytes += 4 + text.length;
  }
  return Buffer.concat(pieces);
}
