/**
 * Lists all chunks and indexes of a store, grouped by a tenant's day, with or without hashed characters in their keys:
 *
 *     keys without a hash   a/chunks/1/0/..  b/chunks/1/0/..  ┐
 *     00/                   00/a/chunks/1/3/..                ├─ merged by what follows the hash
 *     01/                   01/a/chunks/1/3/..  01/b/..       ┘
 *
 * Each prefix is listed separately, a page at a time. A batch is the part of all pages in memory up to the first page
 * end.
 */
import { mapAtOnce } from '../../base/model/at-once.ts';
import { compareUtf8 } from '../../base/model/bytes.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { HASH_DIGITS } from './chunk-record.ts';
import { parseObjectKey, type StoredObject } from './stored-objects.ts';

/** Concurrent listings of first pages. S3 answers at least 100 listings a second. */
const LISTS_AT_ONCE = 32;
/** Keys of a page. 257 pages of about 120 bytes a key are 16 MB. */
const PAGE_KEYS = 500;
const PREFIXES = Array.from(
  { length: 16 ** HASH_DIGITS },
  (_, i) => `${i.toString(16).padStart(HASH_DIGITS, '0')}/`,
);

/** An object with its position in the order: its key without the hash. */
export interface ObjectOfDay extends StoredObject {
  readonly position: string;
}

/** Yields non-empty batches that ascend by position. `after`: a position; only objects after it are listed. */
export async function* objectsByDay(
  store: ObjectStore,
  after?: string,
): AsyncGenerator<readonly ObjectOfDay[]> {
  const listings = ['', ...PREFIXES].map(prefix => new PrefixListing(store, prefix, after));
  for (;;) {
    await mapAtOnce(
      listings.filter(({ needsPage }) => needsPage),
      LISTS_AT_ONCE,
      listing => listing.fill(),
    );
    const ends = listings.map(({ end }) => end).filter(end => end !== undefined);
    const bound = ends.length === 0 ? undefined : ends.reduce((a, b) => (compareUtf8(a, b) <= 0 ? a : b));
    const batch = listings.flatMap(listing => listing.takeUntil(bound));
    if (batch.length > 0) yield batch.sort((a, b) => compareUtf8(a.position, b.position));
    if (bound === undefined) return;
  }
}

/** Objects of one prefix, ascending by position. */
class PrefixListing {
  readonly #store: ObjectStore;
  readonly #prefix: string;
  #page: ObjectOfDay[] = [];
  #next: string | undefined;
  #isAtEnd = false;

  /** @param prefix the hash, or an empty string for keys without one */
  constructor(store: ObjectStore, prefix: string, after: string | undefined) {
    this.#store = store;
    this.#prefix = prefix;
    this.#next = after === undefined ? undefined : prefix + after;
  }

  get needsPage(): boolean {
    return this.#page.length === 0 && !this.#isAtEnd;
  }

  /** Position up to which the listing is complete; undefined if all objects are in memory. */
  get end(): string | undefined {
    return this.#isAtEnd ? undefined : this.#page.at(-1)?.position;
  }

  /** Lists until there are objects, or the listing ends. */
  async fill(): Promise<void> {
    while (this.needsPage) {
      const { objects, next } = await this.#store.list(this.#prefix, { after: this.#next, limit: PAGE_KEYS });
      for (const { key, size } of objects) {
        const parsed = parseObjectKey(key);
        // Filters, because the listing without a prefix returns all keys.
        if (parsed === undefined || (parsed.hasHashedKey === true) !== (this.#prefix !== '')) continue;
        this.#page.push({ ...parsed, size, position: key.slice(this.#prefix.length) });
      }
      this.#next = next;
      this.#isAtEnd = next === undefined;
    }
  }

  /** Removes and returns the objects up to a position, or all. */
  takeUntil(bound: string | undefined): ObjectOfDay[] {
    const end =
      bound === undefined ? -1 : this.#page.findIndex(({ position }) => compareUtf8(position, bound) > 0);
    return this.#page.splice(0, end === -1 ? this.#page.length : end);
  }
}
