/**
 * Table of the attribute names of one push during decoding: the action of each, and the name it is stored
 * under. Rules and sanitizing run once per distinct name. After that a name costs a hash and a comparison.
 *
 * As in name-table.ts the fast path has one slot per hash, overwritten on a collision, backed by a map.
 */
import { equalRange } from '../../../base/model/bytes.ts';
import { BadRequestError, messageOf } from '../../../base/model/errors.ts';
import type { OtlpAction } from '../../../base/model/limits.ts';
import { MAX_METADATA_NAME_CHARACTERS, MAX_METADATA_NAMES, MAX_NAME_BYTES, tooMany } from '../bounds.ts';
import { sanitizeMetadataName } from '../metadata-name.ts';
import type { PushColumns } from '../push-columns.ts';
import type { AttributeRules } from './rules.ts';

export interface AttributeName {
  /** Name as stored, also as a label. Empty if the attribute is dropped. */
  readonly stored: string;
  readonly action: OtlpAction;
  /** Whether it was sent as `event_name`. The record field of that name has precedence. */
  readonly isEventName: boolean;
  /** Index in `PushColumns.names`, or -1 while no pair has it. */
  nameId: number;
  /** Members of a map under this name, by key. */
  members: Map<string, AttributeName> | undefined;
}

/** A power of two. Records rarely have more than a few dozen attributes. */
const SLOTS = 256;
const EVENT_NAME = 'event_name';

/** Counts the names of all three levels of a push together. */
export class NameBudget {
  #names = 0;
  #characters = 0;

  take(characters: number): void {
    if (++this.#names > MAX_METADATA_NAMES) throw tooMany('metadata names', MAX_METADATA_NAMES);
    this.#characters += characters;
    if (this.#characters > MAX_METADATA_NAME_CHARACTERS) {
      throw tooMany('characters of metadata names', MAX_METADATA_NAME_CHARACTERS);
    }
  }
}

/** The names of one level: resource, scope or record. */
export class AttributeNames {
  readonly #bytes: Buffer;
  readonly #rules: AttributeRules;
  readonly #budget: NameBudget;
  readonly #byKey = new Map<string, AttributeName>();
  readonly #slotStart = new Uint32Array(SLOTS);
  readonly #slotEnd = new Uint32Array(SLOTS);
  readonly #slots: (AttributeName | undefined)[] = new Array<undefined>(SLOTS).fill(undefined);

  constructor(bytes: Buffer, rules: AttributeRules, budget: NameBudget) {
    this.#bytes = bytes;
    this.#rules = rules;
    this.#budget = budget;
  }

  /**
   * Returns the attribute whose name is `bytes[start, end)` of the body. Throws ClientError if the name is
   * invalid.
   */
  ofRange(start: number, end: number): AttributeName {
    const bytes = this.#bytes;
    // Hash of a few bytes only: names of one push differ in them, and the map resolves collisions.
    const length = end - start;
    let hash = length;
    if (length > 0) {
      hash = Math.imul(hash, 31) + bytes[start];
      hash = Math.imul(hash, 31) + bytes[start + (length >> 1)];
      hash = Math.imul(hash, 31) + bytes[end - (length > 2 ? 3 : 1)];
      hash = Math.imul(hash, 31) + bytes[end - 1];
    }
    const slot = (hash ^ (hash >>> 8)) & (SLOTS - 1);
    const known = this.#slots[slot];
    if (
      known !== undefined &&
      equalRange(bytes, start, end, bytes, this.#slotStart[slot], this.#slotEnd[slot])
    ) {
      return known;
    }
    checkKey(end - start);
    const name = this.ofKey(bytes.utf8Slice(start, end));
    this.#slots[slot] = name;
    this.#slotStart[slot] = start;
    this.#slotEnd[slot] = end;
    return name;
  }

  ofKey(key: string): AttributeName {
    let name = this.#byKey.get(key);
    if (name === undefined) {
      const action = this.#rules(key);
      this.#budget.take(key.length);
      // A dropped attribute may have any name.
      name = named(action === 'drop' ? '' : sanitized(key), action, key === EVENT_NAME);
      this.#byKey.set(key, name);
    }
    return name;
  }

  /** Returns the member of a map. Its stored name starts with the name of the map. */
  member(parent: AttributeName, key: string): AttributeName {
    parent.members ??= new Map();
    let name = parent.members.get(key);
    if (name === undefined) {
      this.#budget.take(parent.stored.length + key.length);
      name = named(sanitized(`${parent.stored}_${key}`), parent.action, parent.isEventName);
      parent.members.set(key, name);
    }
    return name;
  }
}

/** Returns the index of the stored name in the columns. */
export function nameIdOf(name: AttributeName, columns: PushColumns): number {
  if (name.nameId < 0) name.nameId = columns.nameId(name.stored);
  return name.nameId;
}

/** Throws if a key exceeds the maximum name length, before it becomes a string. */
export function checkKey(length: number): void {
  if (length > MAX_NAME_BYTES) throw tooMany('bytes of an attribute name', MAX_NAME_BYTES);
}

function named(stored: string, action: OtlpAction, isEventName: boolean): AttributeName {
  return { stored, action, isEventName, nameId: -1, members: undefined };
}

function sanitized(name: string): string {
  try {
    return sanitizeMetadataName(name);
  } catch (error) {
    throw new BadRequestError(`symbolizer lookup: ${messageOf(error)}`, { cause: error });
  }
}
