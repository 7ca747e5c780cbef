/**
 * Encodes label sets as JSON objects. A result has many sets with the same names, so each name is encoded once, and a value
 * without escapes is copied. That takes 0.4 of the time of an object for each set and `JSON.stringify`.
 */
import type { Labels } from '../../base/model/labels.ts';

/** Texts that JSON stores unchanged. */
const PLAIN = /^[ !#-[\]-~]*$/;

export class LabelsEncoder {
  /** End of the value before a name, the name, and the start of its value. */
  readonly #names = new Map<string, string>();

  /**
   * Returns the object, with names in the order of the set. If a name repeats, the last value counts.
   *
   * @param shown changes values with other characters than printable ASCII; by default, bytes that are not UTF-8 become
   * U+FFFD
   */
  encode(labels: Labels, shown = wellFormed): string {
    const parts = new Array<string>(2 * labels.length + 1);
    let count = 0;
    for (let i = 0; i < labels.length; i++) {
      const { name, value } = labels[i];
      // Labels are sorted, so equal names are adjacent.
      if (i + 1 < labels.length && labels[i + 1].name === name) continue;
      const start = this.#startOf(name);
      parts[count] = count === 0 ? `{${start.slice(2)}` : start;
      parts[count + 1] = PLAIN.test(value) ? value : JSON.stringify(shown(value)).slice(1, -1);
      count += 2;
    }
    if (count === 0) return '{}';
    parts[count++] = '"}';
    if (count < parts.length) parts.length = count;
    return parts.join('');
  }

  #startOf(name: string): string {
    let start = this.#names.get(name);
    if (start === undefined) {
      start = `",${JSON.stringify(name)}:"`;
      this.#names.set(name, start);
    }
    return start;
  }
}

function wellFormed(value: string): string {
  return value.toWellFormed();
}
