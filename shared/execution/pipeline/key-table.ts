/**
 * Table of keys of parsed lines, by their bytes: each distinct key is decoded, sanitized and looked up once;
 * later lines find it by hash. Each key is stored with its usual frame (`,"key":`). If the expected key
 * follows a value, a single comparison covers all bytes up to the next value. Keys are stored by parent (0 at
 * the top, otherwise the entry of the enclosing object plus 1), for the joined names of nested JSON.
 */

import { bytesOfText, textOfBytes } from '../../base/model/byte-text.ts';
import { enlarged } from '../../base/model/enlarged.ts';
import { sanitizeName, unescapeJson } from '../../base/text/text.ts';
import type { RowLabels } from './row-labels.ts';

/** Maximum entries and bytes. Beyond them, the table is cleared between two rows. */
const MAX_ENTRIES = 65_536;
const MAX_BYTES = 4 << 20;

/**
 * Maximum slots probed for one key. Longer probe sequences occur only for keys chosen to collide; such a key
 * is not stored.
 */
const MAX_PROBES = 64;

/**
 * Maximum characters of a label name, equal to the default limit for stream labels. A line of 256 KiB with
 * one long key over many leaves could have gigabytes of names. A longer name sets no label, nor do the names
 * below it.
 */
export const MAX_LABEL_NAME_CHARACTERS = 1024;
/** Path of a key without a name: it is too long whatever is appended. */
const TOO_LONG = '_'.repeat(MAX_LABEL_NAME_CHARACTERS + 1);

/**
 * Text around a key: between the value of the previous key and this key, and between this key and its value.
 */
interface KeyFrame {
  readonly before: string;
  readonly after: string;
}

export const JSON_FRAME: KeyFrame = { before: ',"', after: '":' };
export const LOGFMT_FRAME: KeyFrame = { before: ' ', after: '=' };

export class KeyTable {
  readonly #before: Buffer;
  readonly #after: Buffer;
  readonly #frameBytes: number;
  readonly #labels: RowLabels;
  #generation: number;
  #slots = new Int32Array(256);
  #count = 0;
  #bytes = Buffer.alloc(4096);
  #view = viewOf(this.#bytes);
  /** View of the bytes in which keys were last looked up, mostly a page's lines. */
  #source: Buffer | undefined;
  #sourceView = this.#view;
  #byteCount = 0;
  #hashes = new Int32Array(128);
  #starts = new Int32Array(129);
  #parents = new Int32Array(128);
  /**
   * For each entry (shifted by one: element 0 is the start of a line), the entry that followed it in the last
   * line, plus 1; 0 if unknown.
   */
  #followers = new Int32Array(129);
  #paths: string[] = [];
  /** Number of each entry's label name, -1 if the key is ignored. */
  nameIds = new Int32Array(128);
  /** Number of each entry's name with its suffix. */
  suffixedIds = new Int32Array(128);
  /** 1 if the query may need the entry's label. */
  wanted = new Uint8Array(128);
  /** 1 if the query may need a label below the entry's key. */
  wantedBelow = new Uint8Array(128);

  constructor(labels: RowLabels, { before, after }: KeyFrame) {
    this.#before = Buffer.from(before);
    this.#after = Buffer.from(after);
    this.#frameBytes = this.#before.length + this.#after.length;
    this.#labels = labels;
    this.#generation = labels.names.generation;
  }

  /** Clears the table if it is too large; called before each row. */
  prepare(): void {
    if (
      this.#count > MAX_ENTRIES ||
      this.#byteCount > MAX_BYTES ||
      this.#generation !== this.#labels.names.generation
    ) {
      this.#slots.fill(0);
      this.#followers.fill(0);
      this.#count = 0;
      this.#byteCount = 0;
      this.#paths = [];
      this.#generation = this.#labels.names.generation;
    }
  }

  /** Returns the key that followed `entry` (-1 for the start of the line) at its last lookup, or -1. */
  followerOf(entry: number): number {
    return this.#followers[entry + 1] - 1;
  }

  follow(entry: number, follower: number): void {
    this.#followers[entry + 1] = follower + 1;
  }

  /** Returns the offset after the bytes at `start` if they are the entry's key under `parent`, else -1. */
  match(entry: number, parent: number, source: Buffer, start: number, end: number): number {
    const from = this.#starts[entry] + this.#before.length;
    const length = this.#starts[entry + 1] - this.#starts[entry] - this.#frameBytes;
    return this.#equal(entry, parent, from, length, source, start, end);
  }

  /**
   * Returns the offset after the bytes at `start` if they are the entry's key under `parent` in its frame,
   * else -1.
   */
  matchFramed(entry: number, parent: number, source: Buffer, start: number, end: number): number {
    const from = this.#starts[entry];
    return this.#equal(entry, parent, from, this.#starts[entry + 1] - from, source, start, end);
  }

  #equal(
    entry: number,
    parent: number,
    from: number,
    length: number,
    source: Buffer,
    start: number,
    end: number,
  ): number {
    if (this.#parents[entry] !== parent || start + length > end) return -1;
    if (length < 4) {
      const bytes = this.#bytes;
      for (let i = 0; i < length; i++) if (bytes[from + i] !== source[start + i]) return -1;
      return start + length;
    }
    if (source !== this.#source) this.#enter(source);
    // Compare four bytes per step; the last step may compare some again.
    const key = this.#view;
    const line = this.#sourceView;
    const last = length - 4;
    for (let i = 0; i < last; i += 4) if (key.getInt32(from + i) !== line.getInt32(start + i)) return -1;
    return key.getInt32(from + last) === line.getInt32(start + last) ? start + length : -1;
  }

  #enter(source: Buffer): void {
    this.#source = source;
    this.#sourceView = viewOf(source);
  }

  /** Returns the entry of a key as written in the line. */
  find(source: Buffer, start: number, end: number, parent: number): number {
    const length = end - start;
    const framed = length + this.#frameBytes;
    let hash = length ^ Math.imul(parent, 0x9e3779b1);
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + source[i]) | 0;
    const mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) | 0;
    const mask = this.#slots.length - 1;
    let slot = (mixed ^ (mixed >>> 15)) & mask;
    for (let probes = 0; probes < MAX_PROBES; probes++) {
      const entry = this.#slots[slot] - 1;
      if (entry < 0) {
        this.#slots[slot] = this.#add(source, start, end, mixed, parent) + 1;
        if (this.#count * 2 > this.#slots.length) this.#rehash();
        return this.#count - 1;
      }
      const isLikely =
        this.#hashes[entry] === mixed && this.#starts[entry + 1] - this.#starts[entry] === framed;
      if (isLikely && this.match(entry, parent, source, start, end) >= 0) return entry;
      slot = (slot + 1) & mask;
    }
    return this.#add(source, start, end, mixed, parent);
  }

  /** Returns the entry of the content of a JSON string, or -1 if it has an invalid escape. */
  findJson(source: Buffer, start: number, end: number, parent: number): number {
    for (let i = start; i < end; i++) {
      if (source[i] !== 0x5c) continue;
      const key = unescapeJson(source, start, end);
      return key === undefined ? -1 : this.findText(key, parent);
    }
    return this.find(source, start, end, parent);
  }

  /** Returns the entry of a key passed as text. */
  findText(key: string, parent: number): number {
    const bytes = bytesOfText(key);
    return this.find(bytes, 0, bytes.length, parent);
  }

  #add(source: Buffer, start: number, end: number, mixed: number, parent: number): number {
    const entry = this.#count;
    if (entry === this.nameIds.length) this.#grow();
    const length = end - start + this.#frameBytes;
    if (this.#byteCount + length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#byteCount + length));
      this.#bytes.copy(larger, 0, 0, this.#byteCount);
      this.#bytes = larger;
      this.#view = viewOf(larger);
    }
    this.#starts[entry] = this.#byteCount;
    this.#byteCount += this.#before.copy(this.#bytes, this.#byteCount);
    this.#byteCount += source.copy(this.#bytes, this.#byteCount, start, end);
    this.#byteCount += this.#after.copy(this.#bytes, this.#byteCount);
    this.#starts[entry + 1] = this.#byteCount;
    this.#hashes[entry] = mixed;
    this.#parents[entry] = parent;
    this.#name(entry, parent, textOfBytes(source, start, end));
    this.#count++;
    return entry;
  }

  #name(entry: number, parent: number, key: string): void {
    const labels = this.#labels;
    const path = parent === 0 ? '' : this.#paths[parent - 1];
    if (path.length + (path === '' ? 0 : 1) + key.length > MAX_LABEL_NAME_CHARACTERS) {
      this.#paths[entry] = TOO_LONG;
      this.wantedBelow[entry] = 0;
      this.#ignore(entry);
      return;
    }
    const name = sanitizeName(path, key);
    // At the top, a blank key sets no label; below, it means the path itself.
    const ignored = name === '' || (parent === 0 && sanitizeName('', key) === '');
    this.#paths[entry] = name;
    this.wantedBelow[entry] = labels.wantsPrefix(name) ? 1 : 0;
    if (ignored) {
      this.#ignore(entry);
      return;
    }
    const id = labels.intern(name);
    const suffixed = labels.intern(
      parent === 0 ? `${name}_extracted` : sanitizeName(path, `${key}_extracted`),
    );
    this.nameIds[entry] = id;
    this.suffixedIds[entry] = suffixed;
    this.wanted[entry] = labels.wants(id) || labels.wants(suffixed) ? 1 : 0;
  }

  #ignore(entry: number): void {
    this.nameIds[entry] = -1;
    this.suffixedIds[entry] = -1;
    this.wanted[entry] = 0;
  }

  #grow(): void {
    const size = this.nameIds.length * 2;
    this.#hashes = enlarged(this.#hashes, new Int32Array(size));
    this.#starts = enlarged(this.#starts, new Int32Array(size + 1));
    this.#parents = enlarged(this.#parents, new Int32Array(size));
    this.#followers = enlarged(this.#followers, new Int32Array(size + 1));
    this.nameIds = enlarged(this.nameIds, new Int32Array(size));
    this.suffixedIds = enlarged(this.suffixedIds, new Int32Array(size));
    const wanted = new Uint8Array(size);
    wanted.set(this.wanted);
    this.wanted = wanted;
    const wantedBelow = new Uint8Array(size);
    wantedBelow.set(this.wantedBelow);
    this.wantedBelow = wantedBelow;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.#count; entry++) {
      const mixed = this.#hashes[entry];
      let slot = (mixed ^ (mixed >>> 15)) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry + 1;
    }
    this.#slots = slots;
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
