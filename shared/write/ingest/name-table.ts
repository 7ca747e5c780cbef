/**
 * Maps the bytes of a metadata name of one push to its index in `PushColumns.names`, without a string if the
 * same name was seen shortly before.
 *
 * The fast path is a table with one slot per hash, overwritten on a collision. Chosen names cannot make it
 * slow.
 */
import { equalRange } from '../../base/model/bytes.ts';
import { MAX_METADATA_NAME_CHARACTERS, MAX_METADATA_NAMES, MAX_NAME_BYTES, tooMany } from './bounds.ts';
import type { PushColumns } from './push-columns.ts';

/** A power of two. Pushes rarely have more than a few dozen names. */
const SLOTS = 256;

/** No slots. Most pushes have no metadata, and need none. */
const NO_SLOTS = new Uint32Array(0);

export class NameTable {
  readonly #columns: PushColumns;
  #slotStart = NO_SLOTS;
  #slotEnd = NO_SLOTS;
  /** Index of the name plus 1. 0 is an empty slot. */
  #slotName = NO_SLOTS;
  #names = 0;
  #characters = 0;

  constructor(columns: PushColumns) {
    this.#columns = columns;
  }

  /**
   * Returns the index of the name `bytes[start, end)` of the body, which is UTF-8 and must not change while
   * decoding.
   */
  idOf(start: number, end: number): number {
    const bytes = this.#columns.bytes;
    checkNameSize(end - start);
    if (this.#slotName.length === 0) {
      this.#slotStart = new Uint32Array(SLOTS);
      this.#slotEnd = new Uint32Array(SLOTS);
      this.#slotName = new Uint32Array(SLOTS);
    }
    let hash = end - start;
    for (let i = start; i < end; i++) hash = Math.imul(hash, 31) + bytes[i];
    const slot = (hash ^ (hash >>> 8)) & (SLOTS - 1);
    const known = this.#slotName[slot];
    if (known > 0 && equalRange(bytes, start, end, bytes, this.#slotStart[slot], this.#slotEnd[slot])) {
      return known - 1;
    }
    const id = this.idOfText(bytes.utf8Slice(start, end));
    this.#slotName[slot] = id + 1;
    this.#slotStart[slot] = start;
    this.#slotEnd[slot] = end;
    return id;
  }

  /** Returns the index of a name that is not in the body. */
  idOfText(name: string): number {
    checkNameSize(name.length);
    const id = this.#columns.nameId(name);
    if (id < this.#names) return id;
    this.#names = id + 1;
    this.#characters += name.length;
    if (id === MAX_METADATA_NAMES) throw tooMany('metadata names', MAX_METADATA_NAMES);
    if (this.#characters > MAX_METADATA_NAME_CHARACTERS)
      throw tooMany('characters of metadata names', MAX_METADATA_NAME_CHARACTERS);
    return id;
  }
}

/** Throws if a name exceeds the maximum length, before it becomes a string. */
export function checkNameSize(length: number): void {
  if (length > MAX_NAME_BYTES) throw tooMany('bytes of one metadata name', MAX_NAME_BYTES);
}
