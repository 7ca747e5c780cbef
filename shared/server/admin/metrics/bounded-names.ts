/** Bounds the number of names that become label values. Later names count under one common name. */

/** Replaces names beyond the bound. A tenant with this name counts there too. */
export const OTHER = 'other';

export class BoundedNames {
  readonly #names = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the name if it is known or fits, otherwise OTHER. */
  of(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#max) return OTHER;
    this.#names.add(name);
    return name;
  }
}
