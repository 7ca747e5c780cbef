/**
 * Where chunks and indexes live: S3 in an account, files on one machine. Keys are `/`-separated segments, ASCII by
 * custom, at most 900 bytes; what else a key must be says object-key.ts (InvalidKeyError). Objects never change: a
 * key is put once, read in ranges, and deleted.
 */
export interface ObjectInfo {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
}

export interface ListPage {
  /** Ascending by key (UTF-8 bytes). */
  readonly objects: readonly ObjectInfo[];
  /** Give it as `after` for the next page; absent on the last one. A page may be empty and have a next one. */
  readonly next?: string;
}

export interface ReadOptions {
  /**
   * Aborted: the answer is not wanted any more. The read then rejects with the signal's reason; where it costs nothing to go
   * on, as with files, it may answer all the same.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The bytes of an object, whole or in parts: a large one need not be copied to be stored. */
export type ObjectBody = Uint8Array | readonly Uint8Array[];

export function partsOfBody(body: ObjectBody): readonly Uint8Array[] {
  return body instanceof Uint8Array ? [body] : body;
}

export function bytesOfBody(body: ObjectBody): number {
  return partsOfBody(body).reduce((sum, part) => sum + part.byteLength, 0);
}

/** In one piece: a copy of several. */
export function wholeBody(body: ObjectBody): Uint8Array {
  return body instanceof Uint8Array ? body : Buffer.concat(body);
}

export interface ObjectStore {
  /** As of a table: see there. */
  readonly isDistant?: boolean;

  /**
   * Stores an object durably unless the key exists. Resolves to true where this call created it, to false where
   * the key was taken (which is no error: the caller decides; what is there is durable then). After an error the
   * object may be there or not, but never a part of it.
   */
  putIfAbsent(key: string, body: ObjectBody): Promise<boolean>;

  /** The whole object. Throws ObjectNotFoundError. */
  get(key: string): Promise<Buffer>;

  /**
   * Bytes `start` (inclusive) to `end` (exclusive), cut at the end of the object; they are the caller's alone, who may
   * change them or detach their buffer. Throws ObjectNotFoundError, and RangeError where `start` is at or past the end of the object or the range is empty.
   */
  getRange(key: string, start: number, end: number, options?: ReadOptions): Promise<Buffer>;

  /**
   * The last `length` bytes, at least 1 (all of a shorter object), with the size of the whole. Throws
   * ObjectNotFoundError.
   */
  getTail(
    key: string,
    length: number,
    options?: ReadOptions,
  ): Promise<{ readonly bytes: Buffer; readonly size: number }>;

  /** Size of an object, or undefined where there is none. */
  head(key: string): Promise<ObjectInfo | undefined>;

  /** Deletes; a missing key is no error. */
  delete(key: string): Promise<void>;

  /** Objects whose key starts with `prefix`, in pages of at most `limit` (default and most 1000). Maintenance only. */
  list(prefix: string, options?: { readonly after?: string; readonly limit?: number }): Promise<ListPage>;
}

export class ObjectNotFoundError extends Error {
  constructor(key: string) {
    super(`no object with key ${key}`);
    this.name = 'ObjectNotFoundError';
  }
}
