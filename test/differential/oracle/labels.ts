/**
 * Labels of one entry while it passes the stages (docs/dev/logql-semantics.md#labels-of-an-entry): three
 * categories, the two error slots, and the deleted and extracted names.
 */
import { type Bytes, runesOf } from './bytes.ts';

export type LabelMap = ReadonlyMap<Bytes, Bytes>;

export const ERROR = '__error__';
export const ERROR_DETAILS = '__error_details__';
export const PRESERVE_ERROR = '__preserve_error__';
const SUFFIX = '_extracted';

/** Labels that parsers of a metric query extract; undefined means all. */
export interface Hints {
  readonly names: ReadonlySet<Bytes>;
  readonly preserveError: boolean;
}

export class EntryLabels {
  error: Bytes = '';
  details: Bytes = '';
  readonly #stream: LabelMap;
  readonly #metadata = new Map<Bytes, Bytes>();
  readonly #parsed = new Map<Bytes, Bytes>();
  readonly #deleted = new Set<Bytes>();
  readonly #extracted = new Set<Bytes>();
  readonly #hints: Hints | undefined;

  constructor(stream: LabelMap, metadata: LabelMap, hints?: Hints) {
    this.#stream = stream;
    this.#hints = hints;
    for (const name of [...metadata.keys()].sort()) {
      const value = metadata.get(name)!;
      if (stream.has(name)) this.#metadata.set(name + SUFFIX, value);
      else if (name === ERROR) this.error = value;
      else if (name === ERROR_DETAILS) this.details = value;
      else this.#metadata.set(name, value);
    }
  }

  get(name: Bytes): Bytes | undefined {
    const added = this.#metadata.get(name) ?? this.#parsed.get(name);
    if (added !== undefined) return added;
    return this.#deleted.has(name) ? undefined : this.#stream.get(name);
  }

  /** Sets a parsed label, which replaces metadata of that name. */
  set(name: Bytes, value: Bytes): void {
    this.#metadata.delete(name);
    this.#parsed.set(name, value);
    this.#extracted.add(name);
  }

  delete(name: Bytes): void {
    this.#metadata.delete(name);
    this.#parsed.delete(name);
    this.#deleted.add(name);
  }

  /** The name that a parser uses: with a suffix if the stream has it, even after `drop`, or the metadata has it now. */
  nameFor(name: Bytes): Bytes {
    return this.collides(name) ? name + SUFFIX : name;
  }

  collides(name: Bytes): boolean {
    return this.#stream.has(name) || this.#metadata.has(name);
  }

  isExtracted(name: Bytes): boolean {
    return this.#extracted.has(name);
  }

  isWanted(name: Bytes): boolean {
    return this.#hints === undefined || this.#hints.names.has(name);
  }

  /** True if some wanted name begins with the path. */
  isWantedBelow(path: Bytes): boolean {
    return this.#hints === undefined || [...this.#hints.names].some(name => name.startsWith(path));
  }

  /** Parsers stop: every wanted name is there. */
  get hasAllWanted(): boolean {
    return this.#hints !== undefined && [...this.#hints.names].every(name => this.#extracted.has(name));
  }

  /** A parser sets a value unless the name was extracted before, or no stage needs it. */
  extract(name: Bytes, value: Bytes): void {
    const target = this.nameFor(name);
    if (this.isWanted(target) && !this.isExtracted(target)) this.set(target, value);
  }

  failParsing(kind: Bytes, details: Bytes | undefined): void {
    this.error = kind;
    if (details !== undefined) this.details = details;
    if (this.#hints?.preserveError) this.set(PRESERVE_ERROR, 'true');
  }

  /** Labels of the stream that are shown. */
  get stream(): Map<Bytes, Bytes> {
    const shown = new Map(this.#stream);
    for (const name of this.#stream.keys()) {
      if (this.#deleted.has(name) || this.#metadata.has(name) || this.#parsed.has(name)) shown.delete(name);
    }
    return shown;
  }

  get metadata(): LabelMap {
    return this.#metadata;
  }

  /** Parsed labels with the error labels. */
  get parsed(): Map<Bytes, Bytes> {
    const shown = new Map(this.#parsed);
    if (this.#isUntouched) return shown;
    if (this.error !== '') shown.set(ERROR, this.error);
    if (this.details !== '') shown.set(ERROR_DETAILS, this.details);
    return shown;
  }

  /** Details of an error are not shown if there are only stream labels. */
  get #isUntouched(): boolean {
    return (
      this.#parsed.size === 0 && this.#metadata.size === 0 && this.#deleted.size === 0 && this.error === ''
    );
  }

  /** All of them. */
  get all(): Map<Bytes, Bytes> {
    return new Map([...this.stream, ...this.#metadata, ...this.parsed]);
  }

  /** Names that `keep` visits. */
  get names(): Bytes[] {
    return [...this.stream.keys(), ...this.#metadata.keys(), ...this.#parsed.keys()];
  }
}

/** A label name made of a key (docs/dev/logql-semantics.md#label-names). */
export function sanitized(key: Bytes): Bytes {
  const name = trimmed(key).map(code => (isNameByte(code) ? String.fromCharCode(code) : '_'));
  return /^[0-9]/.test(name[0] ?? '') ? `_${name.join('')}` : name.join('');
}

function isNameByte(code: number): boolean {
  return /^[a-zA-Z0-9_]$/.test(String.fromCodePoint(code));
}

/** Characters without Unicode white space at the ends. */
export function trimmed(bytes: Bytes): number[] {
  const codes = runesOf(bytes);
  let [start, end] = [0, codes.length];
  while (start < end && isSpace(codes[start])) start++;
  while (end > start && isSpace(codes[end - 1])) end--;
  return codes.slice(start, end);
}

const SPACES = new Set([9, 10, 11, 12, 13, 32, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000]);

function isSpace(code: number): boolean {
  return SPACES.has(code) || (code >= 0x2000 && code <= 0x200a);
}
