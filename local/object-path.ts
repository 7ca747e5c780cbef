/**
 * Object keys as paths of files, for every file system a developer may have: names hold only lower-case letters,
 * digits and `! ' ( ) - _ .`, so neither case folding (`Acme` and `acme` are two tenants), nor normalisation of
 * letters, nor forbidden characters can join two keys or leave the root. Every other byte is `%` and two hex digits.
 *
 *   key   Acme/2026-01-05/8f3c.chunk      path   %41cme/2026-01-05/8f3c.chunk=
 *
 * `=` ends the name of an object, so that the keys `a` and `a/b` can both exist. Names are at most 255 bytes long on
 * common file systems, so a segment of 80 bytes or more continues inside directories whose names end with `+`; where
 * nothing is left for the last name it is `%`. (Of 80 or more: were one of exactly 80 not continued, its own
 * directory would lie beside the continued ones although its keys belong between theirs.)
 */
import path from 'node:path';

/** A name of 80 bytes escapes to at most 240. */
const PIECE_BYTES = 80;
const OBJECT_MARK = '=';
const CONTINUED_MARK = '+';
/** The name of no bytes: elsewhere `%` is followed by two digits. */
const EMPTY_NAME = '%';

/** What a name in a directory stands for. Text is a string of UTF-8 bytes (one char each): it compares as bytes. */
export interface PathEntry {
  readonly name: string;
  readonly isObject: boolean;
  /** What it adds to the key: of a directory its last byte is `/`, unless its segment goes on inside. */
  readonly keyBytes: string;
}

/** The path of an object below the root, for a key that `checkObjectKey` allows. */
export function objectPath(root: string, key: string): string {
  const segments = key.split('/');
  const last = segments.pop()!;
  return path.join(root, ...segments.flatMap(directoryNames), ...pieceNames(last, OBJECT_MARK));
}

/** The directory of a prefix of keys that ends with `/` or is empty; undefined where no key can have it. */
export function prefixDirectory(root: string, prefix: string): string | undefined {
  const segments = prefix.split('/').slice(0, -1);
  if (segments.some(segment => segment === '' || segment === '.' || segment === '..')) return undefined;
  return path.join(root, ...segments.flatMap(directoryNames));
}

/** Reads a name back; undefined where this store did not make it. */
export function parseEntry(name: string): PathEntry | undefined {
  const mark = name.at(-1);
  const isMarked = mark === OBJECT_MARK || mark === CONTINUED_MARK;
  const escaped = isMarked ? name.slice(0, -1) : name;
  const bytes = unescapeName(escaped);
  if (escapeName(bytes) !== escaped) return undefined;
  return { name, isObject: mark === OBJECT_MARK, keyBytes: isMarked ? bytes : bytes + '/' };
}

/** A key as a string of its UTF-8 bytes. */
export function keyToBytes(key: string): string {
  return Buffer.from(key, 'utf8').latin1Slice();
}

export function bytesToKey(bytes: string): string {
  return Buffer.from(bytes, 'latin1').utf8Slice();
}

function directoryNames(segment: string): string[] {
  return pieceNames(segment, '');
}

function pieceNames(segment: string, mark: string): string[] {
  const bytes = keyToBytes(segment);
  const names: string[] = [];
  let start = 0;
  for (; bytes.length - start >= PIECE_BYTES; start += PIECE_BYTES) {
    names.push(escapeName(bytes.slice(start, start + PIECE_BYTES)) + CONTINUED_MARK);
  }
  names.push(escapeName(bytes.slice(start)) + mark);
  return names;
}

// A dot is kept inside a name only: at its start it would hide the file, at its end some systems drop it.
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
