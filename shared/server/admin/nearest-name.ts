/** Finds the known name that is closest to a misspelled one. */

/** Longer names are not misspelled names. The work grows with the square of the length. */
const MAX_NAME_LENGTH = 100;

/** `undefined` if more than a third of the letters differ for every name. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > MAX_NAME_LENGTH) return undefined;
  let nearest: string | undefined;
  let least = Math.floor(written.length / 3) + 1;
  for (const name of names) {
    const changes = changesBetween(written.toLowerCase(), name);
    if (changes < least) [nearest, least] = [name, changes];
  }
  return nearest;
}

/** Number of inserted, removed or replaced letters (Levenshtein distance). */
function changesBetween(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = above[column - 1] + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, above[column] + 1, current[column - 1] + 1));
    }
    above = current;
  }
  return above[to.length];
}
