/**
 * All chunks and indexes of a store, those of a tenant's day together, whether their keys begin with hashed characters or not:
 *
 *     keys without a hash   a/chunks/1/0/..  b/chunks/1/0/..  ┐
 *     00/                   00/a/chunks/1/3/..                ├─ merged by what follows the hash
 *     01/                   01/a/chunks/1/3/..  01/b/..       ┘
 *
 * Each beginning is listed by itself, a page at a time. A batch is what all pages in memory have before the first of their ends.
 */
import { mapAtOnce } from '../../base/model/at-once.ts';
import { compareUtf8 } from '../../base/model/bytes.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { HASH_DIGITS } from './chunk-record.ts';
import { parseObjectKey, type StoredObject } from './stored-objects.ts';

/** Listed first pages under way: S3 answers 100 listings a second and more. */
const LISTS_AT_ONCE = 32;
/** Keys of a page: 257 pages of about 120 bytes a key are 16 MB. */
const PAGE_KEYS = 500;
const PREFIXES = Array.from(
  { length: 16 ** HASH_DIGITS },
  (_, i) => `${i.toString(16).padStart(HASH_DIGITS, '0')}/`,
);

/** An object with its place in the order: its key without the hash. */
export interface ObjectOfDay extends StoredObject {
  readonly place: string;
}

/** Batches that ascend by place. `after`: a place; what is not behind it is left out. Batches are not empty. */
export async function* objectsByDay(
  store: ObjectStore,
  after?: string,
): AsyncGenerator<readonly ObjectOfDay[]> {
  const listings = ['', ...PREFIXES].map(prefix => new Listing(store, prefix, after));
  for (;;) {
    await mapAtOnce(
      listings.filter(({ needsPage }) => needsPage),
      LISTS_AT_ONCE,
      listing => listing.fill(),
    );
    const ends = listings.map(({ end }) => end).filter(end => end !== undefined);
    const bound = ends.length === 0 ? undefined : ends.reduce((a, b) => (compareUtf8(a, b) <= 0 ? a : b));
    const batch = listings.flatMap(listing => listing.takeUntil(bound));
    if (batch.length > 0) yield batch.sort((a, b) => compareUtf8(a.place, b.place));
    if (bound === undefined) return;
  }
}

/** Objects of one beginning, ascending by place. */
class Listing {
  readonly #store: ObjectStore;
  readonly #prefix: string;
  #page: ObjectOfDay[] = [];
  #next: string | undefined;
  #isAtEnd = false;

  /** @param prefix the hash, or nothing for keys without one */
  constructor(store: ObjectStore, prefix: string, after: string | undefined) {
    this.#store = store;
    this.#prefix = prefix;
    this.#next = after === undefined ? undefined : prefix + after;
  }

  get needsPage(): boolean {
    return this.#page.length === 0 && !this.#isAtEnd;
  }

  /** Nothing before this place is still to be listed; undefined if everything is in memory. */
  get end(): string | undefined {
    return this.#isAtEnd ? undefined : this.#page.at(-1)?.place;
  }

  /** Lists until there are objects, or the end. */
  async fill(): Promise<void> {
    while (this.needsPage) {
      const { objects, next } = await this.#store.list(this.#prefix, { after: this.#next, limit: PAGE_KEYS });
      for (const { key, size } of objects) {
        const parsed = parseObjectKey(key);
        // The listing without a prefix has all keys.
        if (parsed === undefined || (parsed.hasHashedKey === true) !== (this.#prefix !== '')) continue;
        this.#page.push({ ...parsed, size, place: key.slice(this.#prefix.length) });
      }
      this.#next = next;
      this.#isAtEnd = next === undefined;
    }
  }

  /** Takes out the objects up to a place, or all. */
  takeUntil(bound: string | undefined): ObjectOfDay[] {
    const end = bound === undefined ? -1 : this.#page.findIndex(({ place }) => compareUtf8(place, bound) > 0);
    return this.#page.splice(0, end === -1 ? this.#page.length : end);
  }
}
