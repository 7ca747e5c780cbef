/**
 * The members of a page's lines: for each pair of a line its key (an entry of a FieldTable) and where its value stands.
 * Typed arrays that grow and are used again for the next page; no object for a line or a member.
 */
import { MAX_PAGE_MEMBERS } from './bounds.ts';

// What stands at a member.
/** Its bytes are its value, but for UTF-8 that is broken. */
export const VALUE = 0;
/** Inside of a quoted text with escapes. */
export const ESCAPED = 1;
/** An object or an array. */
export const STRUCTURE = 2;
/** JSON's null: no label. */
export const NOTHING = 3;

const FIRST_SIZE = 16 * 1024;

export class LineMembers {
  count = 0;
  entries = new Int32Array(FIRST_SIZE);
  rows = new Uint32Array(FIRST_SIZE);
  starts = new Uint32Array(FIRST_SIZE);
  ends = new Uint32Array(FIRST_SIZE);
  kinds = new Uint8Array(FIRST_SIZE);

  clear(): void {
    this.count = 0;
  }

  /** False where a page has no room for more. */
  add(entry: number, row: number, start: number, end: number, kind: number): boolean {
    const at = this.count;
    if (at === this.entries.length && !this.#grow()) return false;
    this.entries[at] = entry;
    this.rows[at] = row;
    this.starts[at] = start;
    this.ends[at] = end;
    this.kinds[at] = kind;
    this.count = at + 1;
    return true;
  }

  #grow(): boolean {
    const size = this.count * 2;
    if (size > MAX_PAGE_MEMBERS) return false;
    const entries = new Int32Array(size);
    entries.set(this.entries);
    this.entries = entries;
    this.rows = larger(this.rows, size);
    this.starts = larger(this.starts, size);
    this.ends = larger(this.ends, size);
    const kinds = new Uint8Array(size);
    kinds.set(this.kinds);
    this.kinds = kinds;
    return true;
  }
}

function larger(array: Uint32Array, size: number): Uint32Array<ArrayBuffer> {
  const copy = new Uint32Array(size);
  copy.set(array);
  return copy;
}
