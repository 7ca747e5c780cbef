/**
 * Interns label names as small numbers, so that a row's labels are indexes into typed arrays. A table lives
 * as long as its pipeline. It drops names found in lines (keys of JSON and logfmt) when there are too many,
 * but never those of the query. Each drop invalidates the numbers: code that stores them compares
 * `generation`.
 */

/**
 * Maximum number of names from lines. Beyond it, they are dropped between two rows. The tables then use a few
 * MB; real logs have far fewer names.
 */
export const MAX_NAMES = 65_536;

export const ERROR_LABEL = '__error__';
export const ERROR_DETAILS_LABEL = '__error_details__';
export const PRESERVE_ERROR_LABEL = '__preserve_error__';
export const DUPLICATE_SUFFIX = '_extracted';

export class LabelNameTable {
  #ids = new Map<string, number>();
  #pinned = 0;
  readonly #suffixed: number[] = [];
  readonly texts: string[] = [];
  /** Incremented each time names are dropped. */
  generation = 0;

  get count(): number {
    return this.texts.length;
  }

  idOf(name: string): number {
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = this.texts.length;
      this.texts.push(name);
      this.#suffixed.push(-1);
      this.#ids.set(name, id);
    }
    return id;
  }

  /** Returns the number of a name's `_extracted` form. */
  suffixedIdOf(id: number): number {
    let suffixed = this.#suffixed[id];
    if (suffixed < 0) {
      suffixed = this.idOf(this.texts[id] + DUPLICATE_SUFFIX);
      this.#suffixed[id] = suffixed;
    }
    return suffixed;
  }

  /** Protects all current names from `trim`; called when the query is compiled. */
  pin(): void {
    for (let id = 0, count = this.count; id < count; id++) this.suffixedIdOf(id);
    this.#pinned = this.count;
  }

  /** Drops the names from lines if there are too many. Returns whether it did. */
  trim(): boolean {
    if (this.count - this.#pinned <= MAX_NAMES) return false;
    this.texts.length = this.#pinned;
    this.#suffixed.length = this.#pinned;
    for (let id = 0; id < this.#pinned; id++) {
      if (this.#suffixed[id] >= this.#pinned) this.#suffixed[id] = -1;
    }
    this.#ids = new Map(this.texts.map((text, id) => [text, id]));
    this.generation++;
    return true;
  }
}
