/**
 * Maps object keys to file paths for every common file system. Names contain only lower-case letters, digits
 * and `! ' ( ) - _ .`. So case folding (`Acme` and `acme` are two tenants), Unicode normalization and
 * forbidden characters cannot merge two keys or leave the root. Every other byte is `%` and two hex digits.
 *
 *   key   Acme/2026-01-05/8f3c.chunk      path   %41cme/2026-01-05/8f3c.chunk=
 *
 * `=` ends the name of an object, so that the keys `a` and `a/b` can both exist. Common file systems limit
 * names to 255 bytes. A segment of 80 bytes or more therefore continues inside directories whose names end
 * with `+`. If nothing remains for the last name, it is `%`. A segment of exactly 80 bytes continues too.
 * Otherwise its directory would be next to the continued ones although its keys belong between theirs.
 */
import path from 'node:path';

/** Bytes of a segment per name. They escape to at most 240 bytes. */
const NAME_BYTES = 80;
const OBJECT_MARK = '=';
const CONTINUED_MARK = '+';
/** Name for zero bytes. In all other names, two digits follow `%`. */
const EMPTY_NAME = '%';

/**
 * Meaning of a name in a directory. Text is a string of UTF-8 bytes (one char each), which compares in byte
 * order.
 */
export interface PathEntry {
  readonly name: string;
  readonly isObject: boolean;
  /**
   * Bytes that the name adds to the key. For a directory they end with `/`, unless its segment continues
   * inside.
   */
  readonly keyBytes: string;
}

/** Path of an object below the root, for a key that `checkObjectKey` allows. */
export function objectPath(root: string, key: string): string {
  const segments = key.split('/');
  const last = segments.pop()!;
  return path.join(root, ...segments.flatMap(directoryNames), ...namesOfSegment(last, OBJECT_MARK));
}

/** Directory of a key prefix that is empty or ends with `/`; `undefined` if no key can have the prefix. */
export function prefixDirectory(root: string, prefix: string): string | undefined {
  const segments = prefix.split('/').slice(0, -1);
  if (segments.some(segment => segment === '' || segment === '.' || segment === '..')) return undefined;
  return path.join(root, ...segments.flatMap(directoryNames));
}

/** Parses a name; `undefined` if this store did not create it. */
export function parseEntry(name: string): PathEntry | undefined {
  const mark = name.at(-1);
  const isMarked = mark === OBJECT_MARK || mark === CONTINUED_MARK;
  const escaped = isMarked ? name.slice(0, -1) : name;
  const bytes = unescapeName(escaped);
  if (escapeName(bytes) !== escaped) return undefined;
  return { name, isObject: mark === OBJECT_MARK, keyBytes: isMarked ? bytes : bytes + '/' };
}

/** Converts a key to a string of its UTF-8 bytes. */
export function keyToBytes(key: string): string {
  return Buffer.from(key, 'utf8').latin1Slice();
}

export function bytesToKey(bytes: string): string {
  return Buffer.from(bytes, 'latin1').utf8Slice();
}

function directoryNames(segment: string): string[] {
  return namesOfSegment(segment, '');
}

function namesOfSegment(segment: string, mark: string): string[] {
  const bytes = keyToBytes(segment);
  const names: string[] = [];
  let start = 0;
  for (; bytes.length - start >= NAME_BYTES; start += NAME_BYTES) {
    names.push(escapeName(bytes.slice(start, start + NAME_BYTES)) + CONTINUED_MARK);
  }
  names.push(escapeName(bytes.slice(start)) + mark);
  return names;
}

// Keeps a dot only inside a name: a leading dot hides the file, and some systems drop a trailing dot.
function escapeName(bytes: string): string {
  if (bytes === '') return EMPTY_NAME;
  return bytes.replace(
    /[^a-z0-9!'()_.-]|^\.|\.$/g,
    byte => '%' + byte.charCodeAt(0).toString(16).padStart(2, '0'),
  );
}

function unescapeName(name: string): string {
  if (name === EMPTY_NAME) return '';
  return name.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
