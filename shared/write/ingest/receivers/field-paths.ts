/**
 * Paths of fields (`kubernetes.pod.name`) with their role in an entry. They are found by the bytes of their
 * last key without a string, because documents of one push repeat the same few fields thousands of times.
 *
 * The most recent ones are in a table with one slot per hash, overwritten on a collision. Chosen names cannot
 * make it slow.
 */
import { equalRange } from '../../../base/model/bytes.ts';
import { BadRequestError } from '../../../base/model/errors.ts';
import { MAX_METADATA_NAME_CHARACTERS, MAX_METADATA_NAMES, tooMany } from '../bounds.ts';
import { sanitizeMetadataName } from '../metadata-name.ts';
import { MAX_PATH_LENGTH } from './bounds.ts';
import type { FieldOptions } from './field-options.ts';

/** A power of two. Documents of one push rarely have more than a few hundred fields. */
const SLOTS = 1024;
/** Parent of the top-level keys of a document. */
export const ROOT = -1;
const NONE = -2;

/** Role of a field. */
export const FieldRole = { metadata: 0, time: 1, message: 2, label: 3, ignored: 4, unstorable: 5 } as const;
export type FieldRole = (typeof FieldRole)[keyof typeof FieldRole];

interface FieldPath {
  readonly name: string;
  readonly nameBytes: number;
  readonly role: FieldRole;
  /** Index in its list: of time fields, message fields, or label names. */
  readonly rank: number;
}

export class FieldPaths {
  readonly paths: FieldPath[] = [];
  /** Label names by rank. */
  readonly labels: readonly string[];
  readonly #bytes: Buffer;
  readonly #options: FieldOptions;
  readonly #idByName = new Map<string, number>();
  readonly #slotParent = new Int32Array(SLOTS);
  readonly #slotStart = new Uint32Array(SLOTS);
  readonly #slotEnd = new Uint32Array(SLOTS);
  /** ID plus 1. 0 is an empty slot. */
  readonly #slotId = new Uint32Array(SLOTS);
  #tooLong = NONE;
  #characters = 0;

  /** @param bytes the body, whose keys must not change while it is decoded */
  constructor(bytes: Buffer, options: FieldOptions) {
    this.#bytes = bytes;
    this.#options = options;
    this.labels = [...new Set(options.labelOfField.values())];
  }

  /**
   * Returns the path of the key `bytes[start, end)` below `parent`. Throws TooLargeError if there are too
   * many paths.
   */
  child(parent: number, start: number, end: number, isEscaped: boolean): number {
    const bytes = this.#bytes;
    if (end - start > MAX_PATH_LENGTH || parent === this.#tooLong) return this.#tooLongId();
    let hash = Math.imul(parent + 2, 0x9e3779b1) + end - start;
    for (let i = start; i < end; i++) hash = Math.imul(hash, 31) + bytes[i];
    const slot = (hash ^ (hash >>> 10) ^ (hash >>> 20)) & (SLOTS - 1);
    const known = this.#slotId[slot];
    if (
      known > 0 &&
      this.#slotParent[slot] === parent &&
      equalRange(bytes, start, end, bytes, this.#slotStart[slot], this.#slotEnd[slot])
    ) {
      return known - 1;
    }
    const key = isEscaped ? unescaped(bytes, start, end) : bytes.utf8Slice(start, end);
    const name = parent === ROOT ? key : `${this.paths[parent].name}.${key}`;
    if (name.length > MAX_PATH_LENGTH) return this.#tooLongId();
    const id = this.#idOf(name);
    this.#slotId[slot] = id + 1;
    this.#slotParent[slot] = parent;
    this.#slotStart[slot] = start;
    this.#slotEnd[slot] = end;
    return id;
  }

  /** Returns the shared path of all fields whose names are too long. */
  #tooLongId(): number {
    if (this.#tooLong === NONE) {
      this.#tooLong = this.paths.length;
      this.paths.push({ name: '', nameBytes: 0, role: FieldRole.unstorable, rank: 0 });
    }
    return this.#tooLong;
  }

  #idOf(name: string): number {
    const known = this.#idByName.get(name);
    if (known !== undefined) return known;
    const id = this.paths.length;
    if (id === MAX_METADATA_NAMES) throw tooMany('metadata names', MAX_METADATA_NAMES);
    this.#characters += name.length;
    if (this.#characters > MAX_METADATA_NAME_CHARACTERS)
      throw tooMany('characters of metadata names', MAX_METADATA_NAME_CHARACTERS);
    this.paths.push({ name, nameBytes: Buffer.byteLength(name), ...this.#roleOf(name) });
    this.#idByName.set(name, id);
    return id;
  }

  #roleOf(name: string): { role: FieldRole; rank: number } {
    const { timeFields, messageFields, labelOfField, ignoreFields } = this.#options;
    const time = timeFields.indexOf(name);
    if (time >= 0) return { role: FieldRole.time, rank: time };
    const message = messageFields.indexOf(name);
    if (message >= 0) return { role: FieldRole.message, rank: message };
    const label = labelOfField.get(name);
    if (label !== undefined) return { role: FieldRole.label, rank: this.labels.indexOf(label) };
    if (ignoreFields.some(ignored => isIgnored(name, ignored))) return { role: FieldRole.ignored, rank: 0 };
    return { role: isStorable(name) ? FieldRole.metadata : FieldRole.unstorable, rank: 0 };
  }
}

function isIgnored(name: string, ignored: string): boolean {
  return ignored.endsWith('*') ? name.startsWith(ignored.slice(0, -1)) : name === ignored;
}

/** Whether a name can be stored. A name of nothing but symbols would make the whole push fail. */
function isStorable(name: string): boolean {
  try {
    sanitizeMetadataName(name);
    return true;
  } catch (error) {
    if (error instanceof BadRequestError) return false;
    throw error;
  }
}

/**
 * Returns the text of a JSON string whose escapes were checked. Raw control characters are accepted, as
 * everywhere.
 */
export function unescaped(bytes: Buffer, start: number, end: number): string {
  const text = bytes.utf8Slice(start, end).replace(/[\0-\x1f]/g, control => {
    return `\\u00${control.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return String(JSON.parse(`"${text}"`)).toWellFormed();
}
