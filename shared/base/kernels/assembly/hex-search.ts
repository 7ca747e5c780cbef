/**
 * Finds a text (sought-text.ts) in the values of a column with hexadecimal digits at fixed positions. They are stored packed, so
 * they are written out a few at a time.
 */
import { STATE_COUNT, STATE_DETAIL } from './column-read';
import { joinHex } from './join-lines';
import { find, NONE, soughtBytes } from './sought-text';
import { MAX_PATTERN } from './split-layout';

/** Values that are written out together. */
const VALUES: usize = 64;
/** Memory for values that are written out, with padding. */
export const HEX_ROOM: usize = VALUES * MAX_PATTERN + 64;

/** Sets the byte of each value at `marks` to whether it contains the text. Returns whether any does. */
export function markHexValues(state: usize, marks: usize, room: usize): bool {
  const count = usize(load<u32>(state, STATE_COUNT));
  const bytes = usize(load<u32>(state, STATE_DETAIL));
  memory.fill(marks, 0, count);
  let isAny = false;
  for (let first: usize = 0; first < count; first += VALUES) {
    const values = min(count - first, VALUES);
    for (let i: usize = 0; i < values; i++) joinHex(state, first + i, room + i * bytes);
    const end = room + values * bytes;
    let hit = find(room, end);
    while (hit !== NONE) {
      const i = (hit - room) / bytes;
      // A hit that continues in the next value counts for none.
      const valueEnd = room + (i + 1) * bytes;
      const isInside = hit + soughtBytes() <= valueEnd;
      if (isInside) store<u8>(marks + first + i, 1);
      isAny = isAny || isInside;
      hit = find(isInside ? valueEnd : hit + 1, end);
    }
  }
  return isAny;
}
