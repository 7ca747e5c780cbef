/**
 * Sets of code points as ascending, non-touching, inclusive pairs: `[48, 57, 97, 102]` is `[0-9a-f]`. Sets in
 * patterns are small (a few pairs; a Unicode category has some hundred), so all operations merge lists.
 */
export type CharSet = readonly number[];

export const MAX_CODE_POINT = 0x10ffff;
export const NO_CHARS: CharSet = [];
export const ALL_CHARS: CharSet = [0, MAX_CODE_POINT];
export const ALL_BUT_NEWLINE: CharSet = [0, 9, 11, MAX_CODE_POINT];

export function disjoint(a: CharSet, b: CharSet): boolean {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i + 1] < b[j]) i += 2;
    else if (b[j + 1] < a[i]) j += 2;
    else return false;
  }
  return true;
}

export function union(a: CharSet, b: CharSet): CharSet {
  if (a.length === 0) return b;
  if (b.length === 0 || a === b) return a;
  const out: number[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const fromA = j >= b.length || (i < a.length && a[i] <= b[j]);
    const low = fromA ? a[i] : b[j];
    const high = fromA ? a[i + 1] : b[j + 1];
    if (fromA) i += 2;
    else j += 2;
    if (out.length > 0 && low <= out[out.length - 1] + 1) {
      out[out.length - 1] = Math.max(out[out.length - 1], high);
    } else out.push(low, high);
  }
  return out;
}

/** Returns the number of code points in the set. */
export function size(set: CharSet): number {
  let total = 0;
  for (let i = 0; i < set.length; i += 2) total += set[i + 1] - set[i] + 1;
  return total;
}

export function equalSets(a: CharSet, b: CharSet): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
