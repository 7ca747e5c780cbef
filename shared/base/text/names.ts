/**
 * Label names as small numbers, so that a row's labels are places in typed arrays. A table lives as long as its
 * pipeline; names met in lines (keys of JSON and logfmt) are forgotten when there are too many of them, those of
 * the query never. Numbers are void after a forgetting: whoever keeps them compares `generation`.
 */

/** Names beyond this many are forgotten between two rows: a few MB of tables, far above what real logs have. */
export const MAX_NAMES = 65_536;

export const ERROR_LABEL = '__error__';
export const ERROR_DETAILS_LABEL = '__error_details__';
export const PRESERVE_ERROR_LABEL = '__preserve_error__';
export const DUPLICATE_SUFFIX = '_extracted';

export class NameTable {
  #ids = new Map<string, number>();
  #pinned = 0;
  readonly #suffixed: number[] = [];
  readonly texts: string[] = [];
  /** Raised by every forgetting. */
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

  /** The number of a name's `_extracted` form. */
  suffixedIdOf(id: number): number {
    let suffixed = this.#suffixed[id];
    if (suffixed < 0) {
      suffixed = this.idOf(this.texts[id] + DUPLICATE_SUFFIX);
      this.#suffixed[id] = suffixed;
    }
    return suffixed;
  }

  /** What is there now stays: called when the query is compiled. */
  pin(): void {
    for (let id = 0, count = this.count; id < count; id++) this.suffixedIdOf(id);
    this.#pinned = this.count;
  }

  /** Forgets the names of lines where there are too many. True where it did. */
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
