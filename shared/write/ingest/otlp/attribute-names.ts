/**
 * Attributes of one push by their names while it is decoded: what becomes of each, and the name it is stored under.
 * Rules and sanitising run once for each distinct name; after that a name costs a hash and a comparison.
 *
 * As in name-table.ts the fast path has one slot per hash, overwritten on a clash; behind it stands a map.
 */
import { equalRange } from '../../../base/model/bytes.ts';
import { BadRequestError, messageOf } from '../../../base/model/errors.ts';
import type { OtlpAction } from '../../../base/model/limits.ts';
import { MAX_METADATA_NAMES, MAX_NAME_BYTES, MAX_NAME_CHARACTERS, tooMany } from '../bounds.ts';
import { sanitizeMetadataName } from '../metadata-name.ts';
import type { PushColumns } from '../push-columns.ts';
import type { AttributeRules } from './rules.ts';

export interface AttributeName {
  /** As it is stored, also as a label. Empty where the attribute is dropped. */
  readonly stored: string;
  readonly action: OtlpAction;
  /** Sent as `event_name`: gives way to the field of that name. */
  readonly isEventName: boolean;
  /** Place in `PushColumns.names`; -1 while no pair has it. */
  nameId: number;
  /** Members of a map under this name, by their keys. */
  members: Map<string, AttributeName> | undefined;
}

/** A power of two; records rarely have more than a few dozen attributes. */
const SLOTS = 256;
const EVENT_NAME = 'event_name';

/** Names that all three levels of a push make, counted together. */
export class NameBudget {
  #names = 0;
  #characters = 0;

  take(characters: number): void {
    if (++this.#names > MAX_METADATA_NAMES) throw tooMany('metadata names', MAX_METADATA_NAMES);
    this.#characters += characters;
    if (this.#characters > MAX_NAME_CHARACTERS) {
      throw tooMany('characters of metadata names', MAX_NAME_CHARACTERS);
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

  /** The attribute whose name is `bytes[start, end)` of the body. Throws ClientError where it is no name. */
  ofRange(start: number, end: number): AttributeName {
    const bytes = this.#bytes;
    // Of a few bytes only: names of one push differ in them, and those that do not are found by the map.
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

  /** The member of a map; its stored name begins with that of the map. */
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

/** Place of the stored name in the columns. */
export function nameIdOf(name: AttributeName, columns: PushColumns): number {
  if (name.nameId < 0) name.nameId = columns.nameId(name.stored);
  return name.nameId;
}

/** Throws where a key is longer than any name may be, before it becomes a string. */
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
