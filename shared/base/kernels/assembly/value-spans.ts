/** Values of a column as spans of the lines: start and size of each. */
import { SPLIT_LINES } from './split-layout';

// @inline
export function startOf(spans: usize, i: usize): usize {
  return SPLIT_LINES + usize(load<u32>(spans + (i << 3)));
}

// @inline
export function bytesOf(spans: usize, i: usize): usize {
  return usize(load<u32>(spans + (i << 3), 4));
}
