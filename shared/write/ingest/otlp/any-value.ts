/**
 * Holds an OTLP value (`AnyValue`) between decoding and storing. Both encodings decode into the same form, so
 * the code that stores values exists once.
 *
 * Scalars are decoded into one reused object. Only maps and arrays, which are rare, become trees.
 */

export const EMPTY = 0;
export const STRING = 1;
export const BOOL = 2;
export const INT = 3;
export const DOUBLE = 4;
export const BYTES = 5;
export const ARRAY = 6;
export const MAP = 7;

/** The most recently decoded value. `kind` decides which fields are valid. */
export class AnyValue {
  kind = EMPTY;
  /**
   * STRING, BYTES: range in the body, or behind it if the value is in the overflow. BYTES are raw and never in the overflow.
   */
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
  | { readonly kind: typeof MAP; readonly members: readonly ValueMember[] };

export interface ValueMember {
  readonly key: string;
  readonly value: ValueTree;
}

/** Returns the value as a tree node. */
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

/** Sets the current value from a tree node. */
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
