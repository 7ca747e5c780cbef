/** Number with its noun: `1 entry`, `2 entries`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function entriesText(count: number): string {
  return countText(count, 'entry', 'entries');
}
