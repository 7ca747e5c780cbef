/**
 * Stores chunks and indexes: S3 in an AWS account, files on one machine. Keys are `/`-separated segments,
 * ASCII by convention, at most 900 bytes; object-key.ts has all rules (InvalidKeyError). Objects are
 * immutable: a key is put once, read in ranges, and deleted.
 */
export interface ObjectInfo {
  readonly key: string;
  /** Size in bytes. */
  readonly size: number;
}

export interface ListPage {
  /** Objects in ascending order of key (UTF-8 bytes). */
  readonly objects: readonly ObjectInfo[];
  /**
   * Cursor to pass as `after` for the next page; absent on the last page. A page may be empty and still have
   * a next page.
   */
  readonly next?: string;
}

export interface ReadOptions {
  /**
   * Aborted when the result is no longer needed. The read then rejects with the signal's reason. If
   * continuing costs nothing, as with files, it may return the bytes instead.
   */
  readonly signal?: AbortSignal | undefined;
}

/** Bytes of an object, whole or in parts. A large object need not be copied to be stored. */
export type ObjectBody = Uint8Array | readonly Uint8Array[];

export function partsOfBody(body: ObjectBody): readonly Uint8Array[] {
  return body instanceof Uint8Array ? [body] : body;
}

export function bytesOfBody(body: ObjectBody): number {
  return partsOfBody(body).reduce((sum, part) => sum + part.byteLength, 0);
}

/** Returns the body as one buffer; copies if it has several parts. */
export function wholeBody(body: ObjectBody): Uint8Array {
  return body instanceof Uint8Array ? body : Buffer.concat(body);
}

/** An object that is stored part by part. After the last call, `discard` must be called. */
export interface ObjectWriter {
  /** Appends a part. The writer owns it from now on, and may detach its buffer. */
  write(part: Uint8Array): Promise<void>;

  /** Reads bytes `start` (inclusive) to `end` (exclusive) of those that were written. The caller owns them. */
  read(start: number, end: number): Promise<Buffer>;

  /** Stores what was written, as `putIfAbsent` does. */
  put(key: string): Promise<boolean>;

  /** Frees what is not stored. */
  discard(): Promise<void>;
}

export interface ObjectStore {
  /** Whether every request waits for a network; see `Table`. */
  readonly isDistant?: boolean;

  /**
   * Begins an object whose parts need not stay in memory until it is stored. Absent if they must: callers use
   * `writerOf` (object-writer.ts).
   */
  readonly writer?: (() => ObjectWriter) | undefined;

  /**
   * Stores an object durably unless the key exists. Resolves to true if this call created it, to false if the
   * key existed, which is not an error. In both cases the object is durable then. After an error, the object
   * may exist or not, but never in part.
   */
  putIfAbsent(key: string, body: ObjectBody): Promise<boolean>;

  /** Reads the whole object. Throws ObjectNotFoundError. */
  get(key: string): Promise<Buffer>;

  /**
   * Reads bytes `start` (inclusive) to `end` (exclusive), cut at the end of the object. The caller owns them
   * and may change them or detach their buffer. Throws ObjectNotFoundError. Throws RangeError if the range is
   * empty, or if `start` is at or after the end of the object.
   */
  getRange(key: string, start: number, end: number, options?: ReadOptions): Promise<Buffer>;

  /**
   * Reads the last `length` bytes, at least 1 (all of a shorter object), and the total size. Throws
   * ObjectNotFoundError.
   */
  getTail(
    key: string,
    length: number,
    options?: ReadOptions,
  ): Promise<{ readonly bytes: Buffer; readonly size: number }>;

  /** Returns the size of an object, or undefined if it does not exist. */
  head(key: string): Promise<ObjectInfo | undefined>;

  /** Deletes an object; a missing key is not an error. */
  delete(key: string): Promise<void>;

  /**
   * Lists objects whose key starts with `prefix`, in pages of at most `limit` (default and maximum 1,000).
   * Only for maintenance.
   */
  list(prefix: string, options?: { readonly after?: string; readonly limit?: number }): Promise<ListPage>;
}

export class ObjectNotFoundError extends Error {
  constructor(key: string) {
    super(`no object with key ${key}`);
    this.name = 'ObjectNotFoundError';
  }
}
