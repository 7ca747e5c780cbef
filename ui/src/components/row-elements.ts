/**
 * Numbers of the elements that show the rows of a list. A row keeps its element. If no row stays, as when the scroll
 * bar is dragged, the elements are reused: changing their text takes less time than building others.
 */
export class RowElements {
  #numbers = new Map<string, number>();
  #next = 0;

  /** Element of each row, in order. */
  numbersFor(keys: readonly string[]): readonly number[] {
    const before = this.#numbers;
    const free = keys.some(key => before.has(key)) ? [] : [...before.values()];
    this.#numbers = new Map(keys.map((key, i) => [key, before.get(key) ?? free[i] ?? this.#next++]));
    return [...this.#numbers.values()];
  }
}
