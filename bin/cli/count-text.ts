/** Number with its noun: `1 entry`, `2 entries`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function entriesText(count: number): string {
  return countText(count, 'entry', 'entries');
}

/**
 * Number with its digits in groups and at most three decimals: `12,345.678`. `toLocaleString` prints the same, but its first call takes
 * 14 ms, because it loads the tables of languages.
 */
export function groupedText(value: number): string {
  const [whole, ...decimals] = String(Number.isInteger(value) ? value : Number(value.toFixed(3))).split('.');
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...decimals].join('.');
}
