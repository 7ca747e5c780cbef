/**
 * Keys of JSON and logfmt lines by their bytes and the object that they stand in: each distinct key is decoded and
 * sanitised once. Two keys with different bytes may give the same label name (`a.b` and `a_b`, ` a` and `a`), which is
 * why a key and a name are kept apart here: a column belongs to one key, and a line in which another key of the same
 * name occurs is left to the parser.
 */
import { decodeUtf8, sanitizeName } from '../pipeline/text.ts';
import { KEPT_KEYS, MAX_KEY_BYTES, MAX_PAGE_KEYS } from './bounds.ts';
import { isReservedName } from './reserved-names.ts';

const SLOTS = 2 * MAX_PAGE_KEYS;
/** Places looked at for one key: beyond, keys were made to collide, and the line is left to the parser. */
const MAX_PROBES = 32;

export class FieldTable {
  readonly #slots = new Int32Array(SLOTS);
  #bytes = Buffer.allocUnsafe(4096);
  #byteCount = 0;
  readonly #hashes = new Int32Array(MAX_PAGE_KEYS);
  readonly #starts = new Int32Array(MAX_PAGE_KEYS + 1);
  readonly #parents = new Int32Array(MAX_PAGE_KEYS);
  /** For each key (less one: for the start of a line) the key that came next in the last line, plus 1. */
  readonly #followers = new Int32Array(MAX_PAGE_KEYS + 1);
  /** Distinct keys so far; entries are numbered from 0. */
  count = 0;
  /** Sanitised label name of each entry, joined with those of the objects around it; '' where it is ignored. */
  readonly names: string[] = [];
  /** Keys from the top down to the entry, as text. */
  readonly paths: (readonly string[])[] = [];
  /** 1 where the label is one that errors are told by: a line that sets it is left to the parser. */
  readonly reserved = new Uint8Array(MAX_PAGE_KEYS);

  /** Called before each page: begins anew where there are too many keys. */
  prepare(): void {
    if (this.count <= KEPT_KEYS) return;
    this.#slots.fill(0);
    this.#followers.fill(0);
    this.count = 0;
    this.#byteCount = 0;
    this.names.length = 0;
    this.paths.length = 0;
  }

  /** The entry that followed `entry` (-1: that began the line) when it was last met, or -1. */
  followerOf(entry: number): number {
    return this.#followers[entry + 1] - 1;
  }

  follow(entry: number, follower: number): void {
    this.#followers[entry + 1] = follower + 1;
  }

  /** Place behind the bytes at `start`, where they are the entry's key under `parent`; else -1. */
  match(entry: number, parent: number, source: Buffer, start: number, end: number): number {
    if (this.#parents[entry] !== parent) return -1;
    const from = this.#starts[entry];
    const length = this.#starts[entry + 1] - from;
    if (start + length > end) return -1;
    const bytes = this.#bytes;
    for (let i = 0; i < length; i++) if (bytes[from + i] !== source[start + i]) return -1;
    return start + length;
  }

  /**
   * Entry of the key `source[start..end)`, or -1 where there is no room for it.
   *
   * @param parent entry of the object around it plus 1, 0 at the top
   */
  find(source: Buffer, start: number, end: number, parent: number): number {
    const length = end - start;
    if (length > MAX_KEY_BYTES) return -1;
    let hash = length ^ Math.imul(parent, 0x9e3779b1);
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + source[i]) | 0;
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    let slot = (hash ^ (hash >>> 13)) & (SLOTS - 1);
    for (let probes = 0; probes < MAX_PROBES; probes++) {
      const entry = this.#slots[slot] - 1;
      if (entry < 0) {
        const added = this.#add(source, start, end, hash, parent);
        this.#slots[slot] = added + 1;
        return added;
      }
      const isLikely =
        this.#hashes[entry] === hash && this.#starts[entry + 1] - this.#starts[entry] === length;
      if (isLikely && this.match(entry, parent, source, start, end) >= 0) return entry;
      slot = (slot + 1) & (SLOTS - 1);
    }
    return -1;
  }

  #add(source: Buffer, start: number, end: number, hash: number, parent: number): number {
    const entry = this.count;
    if (entry === MAX_PAGE_KEYS) return -1;
    const length = end - start;
    if (this.#byteCount + length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * this.#bytes.length + length);
      this.#bytes.copy(larger, 0, 0, this.#byteCount);
      this.#bytes = larger;
    }
    source.copy(this.#bytes, this.#byteCount, start, end);
    this.#starts[entry] = this.#byteCount;
    this.#byteCount += length;
    this.#starts[entry + 1] = this.#byteCount;
    this.#hashes[entry] = hash;
    this.#parents[entry] = parent;
    const key = decodeUtf8(source, start, end);
    const path = parent === 0 ? '' : this.names[parent - 1];
    const isBlankAtTop = parent === 0 && sanitizeName('', key) === '';
    const name = isBlankAtTop ? '' : sanitizeName(path, key);
    this.names.push(name);
    this.paths.push(parent === 0 ? [key] : [...this.paths[parent - 1], key]);
    this.reserved[entry] = isReservedName(name) ? 1 : 0;
    this.count++;
    return entry;
  }
}
