/** Progress of the export of closed days: one object per tenant, next to the files. */
import { hiveValue } from './hive-path.ts';

/** Storage of files and notes. */
export interface OpenDataStore {
  /** Returns undefined if the object does not exist. */
  read(key: string): Promise<Uint8Array | undefined>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Does nothing if the object does not exist. */
  remove(key: string): Promise<void>;
}

/** Prefix of the keys of notes. */
export const NOTES_PREFIX = 'export-state/';
const VERSION = 1;

interface StoredNote {
  readonly version: number;
  /** Last completed UTC day, as days since 1970; null if there is none. */
  readonly through: number | null;
  /** Unix ns; all entries before it are exported. */
  readonly next: string;
  /** Files of the running step. */
  readonly pending: readonly string[];
}

export class DayNotes {
  readonly #store: OpenDataStore;

  constructor(store: OpenDataStore) {
    this.#store = store;
  }

  /** Returns the note of a tenant. Deletes the files of an interrupted step. Throws if the version of the note is unknown. */
  async open(tenant: string): Promise<DayNote> {
    const key = `${NOTES_PREFIX}${hiveValue(tenant)}.json`;
    const bytes = await this.#store.read(key);
    if (bytes === undefined) return new DayNote(this.#store, key, undefined);
    const stored = JSON.parse(Buffer.from(bytes).toString()) as StoredNote;
    if (stored.version !== VERSION)
      throw new Error(
        `${key} has version ${stored.version}, this program supports version ${VERSION}; upgrade Logboom`,
      );
    const note = new DayNote(this.#store, key, stored);
    await note.removePending(stored.pending);
    return note;
  }
}

class DayNote {
  /** Last completed UTC day. */
  through: number | undefined;
  /** All entries before it are exported. */
  nextNs: bigint;
  readonly #store: OpenDataStore;
  readonly #key: string;

  constructor(store: OpenDataStore, key: string, stored: StoredNote | undefined) {
    this.#store = store;
    this.#key = key;
    this.through = stored?.through ?? undefined;
    this.nextNs = BigInt(stored?.next ?? 0);
  }

  async removePending(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    for (const key of keys) await this.#store.remove(key);
    await this.#write([]);
  }

  /** Call it before the first file of the step is written. */
  stepBegins(files: readonly string[]): Promise<void> {
    return this.#write(files);
  }

  stepIsDone(endNs: bigint): Promise<void> {
    this.nextNs = endNs;
    return this.#write([]);
  }

  dayIsDone(day: number): Promise<void> {
    this.through = day;
    return this.#write([]);
  }

  #write(pending: readonly string[]): Promise<void> {
    const stored: StoredNote = {
      version: VERSION,
      through: this.through ?? null,
      next: `${this.nextNs}`,
      pending,
    };
    return this.#store.write(this.#key, Buffer.from(JSON.stringify(stored)));
  }
}
