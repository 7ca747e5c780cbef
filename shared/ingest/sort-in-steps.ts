/** Stable sorting in steps: blocks that the runtime sorts, then merged pass by pass. */
import type { Steps } from '../model/steps.ts';

/** Sorted in one go: some tenths of a ms. */
const BLOCK = 512;
/** Merged in one step. */
const MERGED_NUMBERS_A_STEP = 32_768;
const MERGED_ITEMS_A_STEP = 2048;

/** The places of `times` in the order of these; places of equal times keep their order. */
export function* orderOfTimes(times: Float64Array): Steps<Uint32Array> {
  const count = times.length;
  let from = new Uint32Array(count);
  for (let i = 0; i < count; i++) from[i] = i;
  for (let start = 0; start < count; start += BLOCK) {
    from.subarray(start, start + BLOCK).sort((a, b) => times[a] - times[b] || a - b);
    if (start + BLOCK < count) yield;
  }
  let to = count > BLOCK ? new Uint32Array(count) : from;
  for (let width = BLOCK; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(start + width, count);
      const end = Math.min(start + 2 * width, count);
      let left = start;
      let right = middle;
      for (let at = start; at < end; ) {
        const stop = Math.min(end, at + MERGED_NUMBERS_A_STEP);
        for (; at < stop; at++) {
          const isLeft = left < middle && (right >= end || times[from[left]] <= times[from[right]]);
          to[at] = isLeft ? from[left++] : from[right++];
        }
        yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Sorts `items`, perhaps into another array: that is returned. Equal ones keep their order. */
export function* sortItems<T>(items: T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const count = items.length;
  if (count <= BLOCK) return items.sort(compare);
  let from: T[] = [];
  for (let start = 0; start < count; start += BLOCK) {
    for (const item of items.slice(start, start + BLOCK).sort(compare)) from.push(item);
    yield;
  }
  let to = new Array<T>(count);
  for (let width = BLOCK; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(start + width, count);
      const end = Math.min(start + 2 * width, count);
      let left = start;
      let right = middle;
      for (let at = start; at < end; ) {
        const stop = Math.min(end, at + MERGED_ITEMS_A_STEP);
        for (; at < stop; at++) {
          const isLeft = left < middle && (right >= end || compare(from[left], from[right]) <= 0);
          to[at] = isLeft ? from[left++] : from[right++];
        }
        yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
