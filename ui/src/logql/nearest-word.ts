/** Finds the known word closest to a misspelled one. */

/** Maximum distance; with more differences it is another word. */
const MAX_DISTANCE = 2;

/**
 * Known word with the smallest distance: at most 2, and less than half of the word's length. The first one
 * wins ties.
 */
export function nearestWord(word: string, known: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  let nearest: string | undefined;
  let least = Math.min(MAX_DISTANCE, Math.floor((word.length - 1) / 2)) + 1;
  for (const candidate of known) {
    const distance = distanceOf(lower, candidate);
    if (distance < least) [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/** Edit distance: missing, added or replaced letters, or two swapped neighbors. */
function distanceOf(a: string, b: string): number {
  // Words of LogQL are short, so a much longer text needs no table.
  if (Math.abs(a.length - b.length) > MAX_DISTANCE) return Math.max(a.length, b.length);
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + same);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length];
}
