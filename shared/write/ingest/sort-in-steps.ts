/** Sorts stably in steps: blocks that the runtime sorts, then merged pass by pass. */
import type { Steps } from '../../base/model/steps.ts';

/** Items sorted in a single step: a few tenths of a millisecond. */
const BLOCK = 512;
/** Items merged per step. */
const MERGED_NUMBERS_A_STEP = 32_768;
const MERGED_ITEMS_A_STEP = 2048;

/** Returns the indexes of `times` in ascending order. Indexes of equal times keep their order. */
export function* orderOfTimes(times: Float64Array): Steps<Uint32Array> {
  const count = times.length;
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  for (let start = 0; start < count; start += BLOCK) {
    order.subarray(start, start + BLOCK).sort((a, b) => times[a] - times[b] || a - b);
    if (start + BLOCK < count) yield;
  }
  if (count <= BLOCK) return order;
  return yield* mergeBlocks(
    order,
    new Uint32Array(count),
    (a, b) => times[a] <= times[b],
    MERGED_NUMBERS_A_STEP,
  );
}

/** Sorts `items` and returns them, possibly as another array. Equal items keep their order. */
export function* sortItems<T>(items: T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const count = items.length;
  if (count <= BLOCK) return items.sort(compare);
  const blocks: T[] = [];
  for (let start = 0; start < count; start += BLOCK) {
    for (const item of items.slice(start, start + BLOCK).sort(compare)) blocks.push(item);
    yield;
  }
  return yield* mergeBlocks(blocks, new Array<T>(count), (a, b) => compare(a, b) <= 0, MERGED_ITEMS_A_STEP);
}

/** An array or a typed array. */
interface SortableList {
  readonly length: number;
  [index: number]: unknown;
}

/** Merges sorted blocks of BLOCK items, in passes between the two lists. Returns the list with the result. */
function* mergeBlocks<L extends SortableList>(
  blocks: L,
  spare: L,
  isInOrder: (a: L[number], b: L[number]) => boolean,
  mergedAStep: number,
): Steps<L> {
  const count = blocks.length;
  let [from, to] = [blocks, spare];
  for (let width = BLOCK; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(start + width, count);
      const end = Math.min(start + 2 * width, count);
      let left = start;
      let right = middle;
      for (let at = start; at < end; ) {
        const stop = Math.min(end, at + mergedAStep);
        for (; at < stop; at++) {
          const isLeft = left < middle && (right >= end || isInOrder(from[left], from[right]));
          to[at] = isLeft ? from[left++] : from[right++];
        }
        yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
