/**
 * Texts of a column of a Parquet file. Texts are ranges of bytes: words with their starts and words with their ends, counted from the
 * address of the bytes. The host lays out the memory. Loads run up to SLACK past the bytes, stores up to SLACK past the output.
 */
import { areEqual, hashOf } from './text-equality';

/** Result of `numberTexts` for texts that hardly repeat, or whose search takes too long. */
export const TEXTS_DIFFER: u32 = 0xffffffff;

/**
 * Maximum search steps for each text, on average. Texts take about one in a table that is half full. Texts that a client
 * has made to share a slot would otherwise take as many as there are distinct ones.
 */
const MAX_STEPS: u32 = 8;

/** Search steps of the last call of `numberTexts`: slots with another text, and 8 bytes that were compared with one. */
let searchSteps: u32 = 0;

export function stepsOfSearch(): u32 {
  return searchSteps;
}

/**
 * Numbers the texts: equal ones have one number, in the order of their first occurrence. Stops as soon as over half of the texts up to
 * the current one, and over half of `tried`, are distinct, or their search takes too many steps.
 * @param numbers words of the numbers
 * @param firsts words of the first text of each number: `max(count, tried) / 2 + 1` of them
 * @param slots zeroed slots of 8 bytes, `mask + 1` of them, at least twice as many as distinct texts
 * @returns how many are distinct, or TEXTS_DIFFER
 */
export function numberTexts(
  bytes: usize,
  starts: usize,
  ends: usize,
  count: u32,
  tried: u32,
  numbers: usize,
  firsts: usize,
  slots: usize,
  mask: u32,
): u32 {
  let distinct: u32 = 0;
  searchSteps = 0;
  for (let i: usize = 0; i < usize(count); i++) {
    const start = bytes + usize(load<u32>(starts + (i << 2)));
    const length = bytes + usize(load<u32>(ends + (i << 2))) - start;
    const hash = hashOf(start, length);
    let slot = hash & mask;
    let number: u32;
    while (true) {
      const at = slots + (usize(slot) << 3);
      number = load<u32>(at);
      if (number === 0) {
        store<u32>(at, ++distinct);
        store<u32>(at, hash, 4);
        store<u32>(firsts + (usize(distinct - 1) << 2), u32(i));
        number = distinct;
        break;
      }
      if (load<u32>(at, 4) === hash) {
        const first = usize(load<u32>(firsts + (usize(number - 1) << 2)));
        const other = bytes + usize(load<u32>(starts + (first << 2)));
        const otherLength = bytes + usize(load<u32>(ends + (first << 2))) - other;
        if (otherLength === length) {
          if (areEqual(start, other, length)) break;
          searchSteps += u32(length >>> 3);
        }
      }
      searchSteps++;
      slot = (slot + 1) & mask;
    }
    store<u32>(numbers + (i << 2), number - 1);
    const seen = max<u32>(u32(i) + 1, tried);
    if (distinct * 2 > seen || searchSteps > MAX_STEPS * seen) return TEXTS_DIFFER;
  }
  return distinct;
}

/** End of the output of the last call of `writeTexts`. */
let writtenTo: usize = 0;

export function textsEnd(): usize {
  return writtenTo;
}

/** Writes texts from number `from` on, each after its length, until the output has `limit` bytes. Returns the number of the next text. */
export function writeTexts(
  bytes: usize,
  starts: usize,
  ends: usize,
  from: u32,
  to: u32,
  out: usize,
  limit: u32,
): u32 {
  let at = out;
  let i = from;
  for (; i < to && at - out < usize(limit); i++) {
    const start = bytes + usize(load<u32>(starts + (usize(i) << 2)));
    const length = bytes + usize(load<u32>(ends + (usize(i) << 2))) - start;
    store<u32>(at, u32(length));
    at += 4;
    for (let j: usize = 0; j < length; j += 16) v128.store(at + j, v128.load(start + j));
    at += length;
  }
  writtenTo = at;
  return i;
}
