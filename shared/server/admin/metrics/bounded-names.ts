/** Names as values of a label, so many and no more: what comes later counts under one common name. */

/** What names beyond the bound count as; a tenant of this very name counts there too. */
export const OTHER = 'other';

export class BoundedNames {
  readonly #names = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** The name itself where it was there before or there is room, else OTHER. */
  of(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#max) return OTHER;
    this.#names.add(name);
    return name;
  }
}
