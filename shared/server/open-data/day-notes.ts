/** How far the export of each tenant is: an object for each, beside the files. */
import { hiveValue } from './hive-path.ts';

/** Where files and notes are kept. */
export interface OpenDataStore {
  /** Undefined if there is no such object. */
  read(key: string): Promise<Uint8Array | undefined>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** Does nothing if there is no such object. */
  remove(key: string): Promise<void>;
}

/** What the keys of notes begin with. */
export const NOTES_PREFIX = 'export-state/';
const VERSION = 1;

interface StoredNote {
  readonly version: number;
  /** The last UTC day that is exported to its end, as days since 1970; null: none is. */
  readonly through: number | null;
  /** Unix ns: everything before it is exported. */
  readonly next: string;
  /** Files of a step that is not done. */
  readonly pending: readonly string[];
}

export class DayNotes {
  readonly #store: OpenDataStore;

  constructor(store: OpenDataStore) {
    this.#store = store;
  }

  /** The note of a tenant. What a run that was cut has left is deleted. Throws if the note cannot be understood. */
  async open(tenant: string): Promise<DayNote> {
    const key = `${NOTES_PREFIX}${hiveValue(tenant)}.json`;
    const bytes = await this.#store.read(key);
    if (bytes === undefined) return new DayNote(this.#store, key, undefined);
    const stored = JSON.parse(Buffer.from(bytes).toString()) as StoredNote;
    if (stored.version !== VERSION)
      throw new Error(`${key} has version ${stored.version}, and this program knows version ${VERSION}`);
    const note = new DayNote(this.#store, key, stored);
    await note.removePending(stored.pending);
    return note;
  }
}

export class DayNote {
  /** The last UTC day that is exported to its end. */
  through: number | undefined;
  /** Everything before it is exported. */
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

  /** To be called before the first of the files is written. */
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
