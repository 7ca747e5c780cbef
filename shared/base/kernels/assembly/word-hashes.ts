/**
 * Hashes of words and of lines, computed eight bytes at a time. They are compared within one page and never
 * stored.
 */
import { addBytes, K1, K2, mix } from './hash-mix';
import {
  WORD_ENDS,
  WORD_HASHES,
  WORD_KINDS,
  WORD_SHAPES,
  WORD_SKELETONS,
  WORD_STARTS,
  WORD_TEXT,
} from './word-layout';

const WORD_MARK: u64 = 0x1f3;
const VALUE_MARK: u64 = 0x2f7;

/** Returns the hash of a text word; never 0. */
export function hashOfWord(start: usize, length: usize): u32 {
  return u32(addBytes(K1, start, length) >>> 32) | 1;
}

/**
 * Hashes the line from `from` to `to`, both addresses, with `count` words from index `first` on. The skeleton
 * is equal for equal gaps, the shape for equal gaps and text words.
 */
export function hashLineOfWords(row: usize, first: u32, count: u32, from: usize, to: usize): void {
  let skeleton = K2;
  let shape = K1;
  let at = from;
  for (let i = usize(first); i < usize(first + count); i++) {
    const start = usize(load<u32>(WORD_STARTS + (i << 2)));
    skeleton = mix(addBytes(skeleton, at, start - at) ^ WORD_MARK, K1);
    const isText = load<u8>(WORD_KINDS + i) === WORD_TEXT;
    shape = mix(shape ^ (isText ? u64(load<u32>(WORD_HASHES + (i << 2))) << 16 : VALUE_MARK), K1);
    at = usize(load<u32>(WORD_ENDS + (i << 2)));
  }
  skeleton = mix(addBytes(skeleton, at, to - at), K1);
  store<u32>(WORD_SKELETONS + (row << 2), u32(skeleton));
  store<u32>(WORD_SHAPES + (row << 2), u32(mix(shape ^ skeleton, K2)));
}
