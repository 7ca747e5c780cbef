/**
 * Values of a template. `undefined` is Go's invalid value: it prints `<no value>`, and a field of it is
 * invalid again. `null` is a nil inside a JSON value: a field of it is an error. A pipeline converts `null`
 * to `undefined`. JSON objects are Maps, so that no key can access a prototype.
 */
import { compareUtf8 } from '../../../base/model/bytes.ts';
import type { GoTime } from './time.ts';

type JsonObject = Map<string, Value>;
type JsonArray = Value[];
export type Value =
  | undefined
  | null
  | string
  | boolean
  /** A float64. */
  | number
  | GoInt
  | GoTime
  | LabelMap
  | JsonArray
  | JsonObject;

export type IntType = 'int' | 'int64' | 'uint8' | 'time.Duration' | 'time.Month' | 'time.Weekday';

/** Whole number with Go's type: an int prints `1000000`, whereas a float64 prints `1e+06`. */
export class GoInt {
  readonly value: bigint;
  readonly type: IntType;

  constructor(value: bigint, type: IntType) {
    this.value = value;
    this.type = type;
  }

  static of(value: bigint | number): GoInt {
    return new GoInt(BigInt(value), 'int');
  }

  /** Returns an int64; a value out of range wraps as in Go. */
  static int64(value: bigint): GoInt {
    return new GoInt(BigInt.asIntN(64, value), 'int64');
  }
}

/** Source of labels: the pipeline's row. */
export interface LabelSource {
  get(name: string): string | undefined;
  /** Returns labels sorted by name. */
  entries(): Iterable<readonly [string, string]>;
}

/** Dot of a template: labels, with Go's type `map[string]string`. */
export class LabelMap {
  readonly source: LabelSource;

  constructor(source: LabelSource) {
    this.source = source;
  }

  size(): number {
    let size = 0;
    for (const _ of this.source.entries()) size++;
    return size;
  }
}

export type ValueKind = 'invalid' | 'string' | 'bool' | 'float' | 'int' | 'uint' | 'array' | 'map' | 'struct';

export function kindOf(value: Value): ValueKind {
  if (value === undefined || value === null) return 'invalid';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float';
  }
  if (value instanceof GoInt) return value.type === 'uint8' ? 'uint' : 'int';
  if (Array.isArray(value)) return 'array';
  return value instanceof Map || value instanceof LabelMap ? 'map' : 'struct';
}

/** Returns Go's name of the type, as `%T` and error messages show it. */
export function typeName(value: Value): string {
  if (value === undefined || value === null) return 'interface {}';
  if (value instanceof GoInt) return value.type;
  switch (kindOf(value)) {
    case 'float':
      return 'float64';
    case 'array':
      return '[]interface {}';
    case 'map':
      return value instanceof LabelMap ? 'map[string]string' : 'map[string]interface {}';
    case 'struct':
      return 'time.Time';
    default:
      return kindOf(value);
  }
}

/** Returns whether `if`, `and` and `not` treat the value as true. */
export function isTrue(value: Value): boolean {
  if (typeof value === 'string') return value !== '';
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (value === undefined || value === null) return false;
  if (value instanceof GoInt) return value.value !== 0n;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  if (value instanceof LabelMap) return value.size() > 0;
  return true;
}

/** Returns keys and values in key order, as maps print and iterate. */
export function sortedEntries(map: JsonObject | LabelMap): Array<readonly [string, Value]> {
  if (map instanceof LabelMap) return [...map.source.entries()];
  return [...map].sort(([a], [b]) => compareUtf8(a, b));
}
