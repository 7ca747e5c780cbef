/**
 * A value of OTLP (`AnyValue`) between reading and storing. Both encodings read into the same form, so that what
 * becomes of values is written once.
 *
 * Scalars are read into one object that is used again; only maps and arrays, which are rare, become trees.
 */

export const EMPTY = 0;
export const STRING = 1;
export const BOOL = 2;
export const INT = 3;
export const DOUBLE = 4;
export const BYTES = 5;
export const ARRAY = 6;
export const MAP = 7;

/** The newest value that was read. Which fields count depends on `kind`. */
export class AnyValue {
  kind = EMPTY;
  /** STRING, BYTES: range of the body, or behind it where it was spilled. BYTES are raw and never spilled. */
  start = 0;
  end = 0;
  /** BOOL: 0 or 1. INT: exact below 2^53. DOUBLE. */
  number = 0;
  /** INT beyond 2^53. */
  big = 0n;
  /** ARRAY, MAP. */
  tree: ValueTree | undefined;
}

export type ValueTree =
  | { readonly kind: typeof EMPTY }
  | { readonly kind: typeof STRING | typeof BYTES; readonly start: number; readonly end: number }
  | { readonly kind: typeof BOOL | typeof DOUBLE; readonly number: number }
  | { readonly kind: typeof INT; readonly number: number; readonly big: bigint }
  | { readonly kind: typeof ARRAY; readonly values: readonly ValueTree[] }
  | { readonly kind: typeof MAP; readonly members: readonly Member[] };

export interface Member {
  readonly key: string;
  readonly value: ValueTree;
}

/** The value as a part of a tree. */
export function treeOf(value: AnyValue): ValueTree {
  switch (value.kind) {
    case STRING:
      return { kind: STRING, start: value.start, end: value.end };
    case BYTES:
      return { kind: BYTES, start: value.start, end: value.end };
    case BOOL:
      return { kind: BOOL, number: value.number };
    case DOUBLE:
      return { kind: DOUBLE, number: value.number };
    case INT:
      return { kind: INT, number: value.number, big: value.big };
    case ARRAY:
    case MAP:
      return value.tree!;
    default:
      return { kind: EMPTY };
  }
}

/** Makes a part of a tree the newest value. */
export function setValue(into: AnyValue, tree: ValueTree): void {
  into.kind = tree.kind;
  into.tree = undefined;
  switch (tree.kind) {
    case STRING:
    case BYTES:
      into.start = tree.start;
      into.end = tree.end;
      return;
    case INT:
      into.number = tree.number;
      into.big = tree.big;
      return;
    case BOOL:
    case DOUBLE:
      into.number = tree.number;
      return;
    case ARRAY:
    case MAP:
      into.tree = tree;
      return;
  }
}
