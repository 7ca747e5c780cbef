/**
 * Decodes attributes and values of OTLP JSON. Strings stay in the body, and their escapes are resolved there.
 *
 * Pitfall: because of that no value can be read twice. A value that comes before its key is skipped and read
 * once the key is known.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import { MAX_OTLP_DEPTH, MAX_OTLP_VALUE_BYTES, MAX_OTLP_VALUES, tooMany } from '../bounds.ts';
import type { JsonScanner } from '../json-scanner.ts';
import {
  AnyValue,
  ARRAY,
  BOOL,
  BYTES,
  DOUBLE,
  EMPTY,
  INT,
  MAP,
  STRING,
  treeOf,
  type ValueMember,
  type ValueTree,
} from './any-value.ts';
import { type AttributeName, type AttributeNames, checkKey } from './attribute-names.ts';
import { JsonFields } from './json-fields.ts';
import { readBool, readBytes, readDouble, readInteger } from './json-scalars.ts';
import type { AttributeOwner, LogColumns } from './log-columns.ts';

const KEY_VALUE = new JsonFields(['key', 'value']);
const ANY_VALUE = new JsonFields([
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'arrayValue',
  'kvlistValue',
  'bytesValue',
]);
/** Value kind of each of these fields. */
const KINDS = [STRING, BOOL, INT, DOUBLE, ARRAY, MAP, BYTES] as const;
const LIST = new JsonFields(['values']);

/** Fields of a KeyValue. */
const KEY = 0;

/** Returns the number of the current key among the fields of a message, or -1. */
export function fieldNumber(scanner: JsonScanner, fields: JsonFields): number {
  return scanner.isInOverflow() ? -1 : fields.of(scanner.bytes, scanner.start, scanner.end);
}

/** Returns the error for a repeated field, which cannot be read again. */
export function duplicateField(name: string): BadRequestError {
  return new BadRequestError(`duplicate field "${name}"`);
}

export class JsonValues {
  readonly #scanner: JsonScanner;
  readonly #value = new AnyValue();
  // Range of the key of the current KeyValue.
  #keyStart = 0;
  #keyEnd = 0;
  // Remaining budget of the current record, resource or scope.
  #bytesLeft = MAX_OTLP_VALUE_BYTES;
  #valuesLeft = MAX_OTLP_VALUES;

  constructor(scanner: JsonScanner) {
    this.#scanner = scanner;
  }

  /** Starts a record, a resource or a scope. */
  begin(): void {
    this.#bytesLeft = MAX_OTLP_VALUE_BYTES;
    this.#valuesLeft = MAX_OTLP_VALUES;
  }

  /** Counts bytes that become text in a single step. */
  #countBytes(bytes: number): void {
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0)
      throw tooMany('bytes of arrays, maps and bytes in one record', MAX_OTLP_VALUE_BYTES);
  }

  /** Reads an array of attributes. */
  attributes(logs: LogColumns, level: AttributeOwner): void {
    const scanner = this.#scanner;
    const value = this.#value;
    const names = logs.names[level];
    scanner.enterArray();
    while (scanner.nextElement()) {
      if (scanner.skipNull()) continue;
      this.#keyValue(value, 0, names);
      const name = this.#nameOf(names);
      if (name.action !== 'drop') logs.attribute(level, name, value);
    }
  }

  /** Reads a value. */
  read(into: AnyValue, depth: number): void {
    const scanner = this.#scanner;
    into.kind = EMPTY;
    scanner.enterObject();
    while (scanner.nextKey()) {
      const field = fieldNumber(scanner, ANY_VALUE);
      if (field < 0) scanner.skipValue();
      else if (!scanner.skipNull()) this.#readKind(into, field, depth);
    }
  }

  #readKind(into: AnyValue, field: number, depth: number): void {
    const scanner = this.#scanner;
    const kind = KINDS[field];
    switch (kind) {
      case STRING:
      case BYTES:
        if (kind === BYTES) readBytes(scanner, length => this.#countBytes(length));
        else {
          scanner.string();
          // A string outside arrays and maps stays in the body.
          if (depth > 0) this.#countBytes(scanner.end - scanner.start);
        }
        into.start = scanner.start;
        into.end = scanner.end;
        break;
      case BOOL:
        into.number = readBool(scanner);
        break;
      case INT:
        readInteger(scanner, into);
        break;
      case DOUBLE:
        into.number = readDouble(scanner);
        break;
      default:
        if (depth === MAX_OTLP_DEPTH)
          throw new BadRequestError(`values nested deeper than ${MAX_OTLP_DEPTH}`);
        into.tree =
          kind === ARRAY
            ? { kind: ARRAY, values: this.#list(() => this.#element(depth + 1)) }
            : { kind: MAP, members: this.#list(() => this.#member(depth + 1)) };
    }
    into.kind = kind;
  }

  /** Reads `{"values": [...]}`. */
  #list<T>(read: () => T): T[] {
    const scanner = this.#scanner;
    const list: T[] = [];
    scanner.enterObject();
    while (scanner.nextKey()) {
      const isValues = fieldNumber(scanner, LIST) === 0;
      if (!isValues) scanner.skipValue();
      else if (!scanner.skipNull()) {
        scanner.enterArray();
        while (scanner.nextElement()) {
          if (--this.#valuesLeft < 0)
            throw tooMany('values in arrays and maps of one record', MAX_OTLP_VALUES);
          list.push(read());
        }
      }
    }
    return list;
  }

  #element(depth: number): ValueTree {
    if (this.#scanner.skipNull()) return { kind: EMPTY };
    const value = new AnyValue();
    this.read(value, depth);
    return treeOf(value);
  }

  #member(depth: number): ValueMember {
    const value = new AnyValue();
    this.#keyValue(value, depth, undefined);
    this.#countBytes(this.#keyEnd - this.#keyStart);
    return { key: this.#keyText(), value: treeOf(value) };
  }

  /** Reads a KeyValue. The value of an attribute that `names` drops is skipped. */
  #keyValue(into: AnyValue, depth: number, names: AttributeNames | undefined): void {
    const scanner = this.#scanner;
    into.kind = EMPTY;
    into.tree = undefined;
    let keyStart = 0;
    let keyEnd = 0;
    let hasKey = false;
    let isRead = false;
    let waitsAt = -1;
    scanner.enterObject();
    while (scanner.nextKey()) {
      const field = fieldNumber(scanner, KEY_VALUE);
      if (field < 0) scanner.skipValue();
      else if (scanner.skipNull()) continue;
      else if (field === KEY) {
        scanner.string();
        keyStart = scanner.start;
        keyEnd = scanner.end;
        hasKey = true;
      } else if (hasKey) {
        if (isRead) throw duplicateField('value');
        isRead = true;
        this.#keyStart = keyStart;
        this.#keyEnd = keyEnd;
        this.#readOrSkip(into, depth, names);
      } else {
        waitsAt = scanner.at;
        scanner.skipValue();
      }
    }
    this.#keyStart = keyStart;
    this.#keyEnd = keyEnd;
    if (waitsAt < 0 || isRead) return;
    const behind = scanner.at;
    scanner.at = waitsAt;
    this.#readOrSkip(into, depth, names);
    scanner.at = behind;
    this.#keyStart = keyStart;
    this.#keyEnd = keyEnd;
  }

  #readOrSkip(into: AnyValue, depth: number, names: AttributeNames | undefined): void {
    if (names !== undefined && this.#nameOf(names).action === 'drop') this.#scanner.skipValue();
    else this.read(into, depth);
  }

  #nameOf(names: AttributeNames): AttributeName {
    const keyStart = this.#keyStart;
    const keyEnd = this.#keyEnd;
    if (keyStart < this.#scanner.bytes.length) return names.ofRange(keyStart, keyEnd);
    return names.ofKey(this.#keyText());
  }

  #keyText(): string {
    const scanner = this.#scanner;
    const keyStart = this.#keyStart;
    const keyEnd = this.#keyEnd;
    checkKey(keyEnd - keyStart);
    if (keyStart >= scanner.bytes.length) return scanner.overflow.text(keyStart, keyEnd);
    return scanner.bytes.utf8Slice(keyStart, keyEnd);
  }
}
