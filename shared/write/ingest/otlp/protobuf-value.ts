/**
 * Decodes attributes and values of OTLP in protobuf. Strings and bytes stay in the body. Fields may come in
 * any order and repeatedly. The last of the value fields is used.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import { MAX_OTLP_DEPTH, MAX_OTLP_VALUE_BYTES, MAX_OTLP_VALUES, tooMany } from '../bounds.ts';
import { illegalTag, type ProtobufReader, unexpectedEnd, wrongWireType } from '../protobuf-reader.ts';
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
import { checkKey } from './attribute-names.ts';
import type { AttributeOwner, LogColumns } from './log-columns.ts';

// Tags: field number and wire type 0 (varint), 1 (64 bits), 2 (length-delimited).
const KEY = 0x0a;
const VALUE = 0x12;
const STRING_VALUE = 0x0a;
const BOOL_VALUE = 0x10;
const INT_VALUE = 0x18;
const DOUBLE_VALUE = 0x21;
const ARRAY_VALUE = 0x2a;
const KVLIST_VALUE = 0x32;
const BYTES_VALUE = 0x3a;
const VALUES = 0x0a;

const KIND_FIELDS = [
  'StringValue',
  'BoolValue',
  'IntValue',
  'DoubleValue',
  'ArrayValue',
  'KvlistValue',
  'BytesValue',
] as const;

export class ProtobufValues {
  readonly #reader: ProtobufReader;
  readonly #view: DataView;
  readonly #value = new AnyValue();
  // Range of the key of the current KeyValue.
  #keyStart = 0;
  #keyEnd = 0;
  #valueStart = 0;
  #valueEnd = 0;
  // Remaining budget of the current record, resource or scope.
  #bytesLeft = MAX_OTLP_VALUE_BYTES;
  #valuesLeft = MAX_OTLP_VALUES;

  constructor(reader: ProtobufReader) {
    const { bytes } = reader;
    this.#reader = reader;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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

  #countValue(): void {
    if (--this.#valuesLeft < 0) throw tooMany('values in arrays and maps of one record', MAX_OTLP_VALUES);
  }

  /** Reads the attribute that the reader has entered (its `end` is that of the KeyValue). */
  attribute(logs: LogColumns, level: AttributeOwner): void {
    const reader = this.#reader;
    const value = this.#value;
    if (this.#shortAttribute(logs, level)) return;
    this.#keyValue();
    const name = logs.names[level].ofRange(this.#keyStart, this.#keyEnd);
    if (name.action === 'drop') return;
    reader.at = this.#valueStart;
    reader.end = this.#valueEnd;
    this.read(value, 0);
    logs.attribute(level, name, value);
  }

  /**
   * Reads the common form of an attribute, a key and a string of fewer than 126 bytes, without its ten
   * varints. A read past the end returns undefined, which equals no tag.
   */
  #shortAttribute(logs: LogColumns, level: AttributeOwner): boolean {
    const { bytes, at, end } = this.#reader;
    const keyBytes = bytes[at + 1];
    const inner = at + keyBytes + 4;
    const length = bytes[inner - 1];
    if (bytes[at] !== KEY || keyBytes >= 128 || length >= 128 || inner + length !== end) return false;
    if (bytes[inner - 2] !== VALUE || bytes[inner] !== STRING_VALUE || bytes[inner + 1] !== length - 2)
      return false;
    const name = logs.names[level].ofRange(at + 2, inner - 2);
    if (name.action === 'drop') return true;
    const value = this.#value;
    value.kind = STRING;
    value.start = inner + 2;
    value.end = end;
    logs.attribute(level, name, value);
    return true;
  }

  /** Reads the value that the reader has entered, up to its `end`. */
  read(into: AnyValue, depth: number): void {
    const reader = this.#reader;
    const { end } = reader;
    into.kind = EMPTY;
    while (reader.at < end) {
      reader.countField();
      const tag = reader.varint();
      switch (tag) {
        case STRING_VALUE:
        case BYTES_VALUE: {
          const length = reader.length();
          if (tag === BYTES_VALUE && depth === 0) this.#countBytes(length);
          into.kind = tag === STRING_VALUE ? STRING : BYTES;
          into.start = reader.at;
          into.end = reader.at + length;
          reader.at = into.end;
          break;
        }
        case BOOL_VALUE:
          into.kind = BOOL;
          into.number = reader.varint() === 0 ? 0 : 1;
          break;
        case INT_VALUE:
          this.#integer(into);
          break;
        case DOUBLE_VALUE:
          if (reader.at + 8 > end) throw unexpectedEnd();
          into.kind = DOUBLE;
          into.number = this.#view.getFloat64(reader.at, true);
          reader.at += 8;
          break;
        case ARRAY_VALUE:
        case KVLIST_VALUE:
          reader.enter();
          if (depth === 0) this.#countBytes(reader.end - reader.at);
          into.tree = tag === ARRAY_VALUE ? this.#array(depth + 1) : this.#map(depth + 1);
          into.kind = into.tree.kind;
          reader.at = reader.end;
          reader.end = end;
          break;
        default:
          skipField(reader, tag, 'AnyValue', KIND_FIELDS);
      }
    }
  }

  /** Reads a KeyValue up to the reader's `end`, and records the ranges of its key and value. */
  #keyValue(): void {
    const reader = this.#reader;
    this.#keyStart = 0;
    this.#keyEnd = 0;
    this.#valueStart = 0;
    this.#valueEnd = 0;
    while (reader.at < reader.end) {
      reader.countField();
      const tag = reader.varint();
      if (tag === KEY) {
        const length = reader.length();
        reader.countBytes(length);
        this.#keyStart = reader.at;
        this.#keyEnd = reader.at + length;
        reader.at = this.#keyEnd;
      } else if (tag === VALUE) {
        const length = reader.length();
        this.#valueStart = reader.at;
        this.#valueEnd = reader.at + length;
        reader.at = this.#valueEnd;
      } else skipField(reader, tag, 'KeyValue', ['Key', 'Value']);
    }
  }

  #array(depth: number): ValueTree {
    const reader = this.#reader;
    const { end } = reader;
    checkDepth(depth);
    const values: ValueTree[] = [];
    const value = new AnyValue();
    while (reader.at < end) {
      reader.countField();
      this.#countValue();
      const tag = reader.varint();
      if (tag === VALUES) {
        reader.enter();
        this.read(value, depth);
        values.push(treeOf(value));
        reader.end = end;
      } else skipField(reader, tag, 'ArrayValue', ['Values']);
    }
    return { kind: ARRAY, values };
  }

  #map(depth: number): ValueTree {
    const reader = this.#reader;
    const { end } = reader;
    checkDepth(depth);
    const members: ValueMember[] = [];
    const value = new AnyValue();
    while (reader.at < end) {
      reader.countField();
      this.#countValue();
      const tag = reader.varint();
      if (tag === VALUES) {
        reader.enter();
        const behind = reader.end;
        this.#keyValue();
        const keyStart = this.#keyStart;
        const keyEnd = this.#keyEnd;
        checkKey(keyEnd - keyStart);
        reader.at = this.#valueStart;
        reader.end = this.#valueEnd;
        this.read(value, depth);
        members.push({ key: reader.bytes.utf8Slice(keyStart, keyEnd), value: treeOf(value) });
        reader.at = behind;
        reader.end = end;
      } else skipField(reader, tag, 'KeyValueList', ['Values']);
    }
    return { kind: MAP, members };
  }

  /** Reads a 64-bit varint. A value above 2^53 is read again, exactly. */
  #integer(into: AnyValue): void {
    const reader = this.#reader;
    const start = reader.at;
    into.kind = INT;
    into.number = reader.varint();
    if (Number.isSafeInteger(into.number)) return;
    let big = 0n;
    for (let at = start, shift = 0n; at < reader.at; at++, shift += 7n) {
      big |= BigInt(reader.bytes[at] & 127) << shift;
    }
    into.big = BigInt.asIntN(64, big);
  }
}

function checkDepth(depth: number): void {
  if (depth > MAX_OTLP_DEPTH) throw new BadRequestError(`values nested deeper than ${MAX_OTLP_DEPTH}`);
}

/** Skips an unknown field. `fields` are the known names from number 1, or '' if any wire type is accepted. */
export function skipField(
  reader: ProtobufReader,
  tag: number,
  message: string,
  fields: readonly string[],
): void {
  const number = Math.floor(tag / 8);
  if (number <= 0 || tag % 8 === 4) throw illegalTag(message, tag);
  const known = fields[number - 1] ?? '';
  if (known !== '') throw wrongWireType(tag, known);
  reader.skip(tag);
}
