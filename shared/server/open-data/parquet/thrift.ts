/** Encodes structures in Thrift's compact protocol, for the footer and the page headers of a Parquet file. */
import type { ByteSink } from './bytes.ts';

export interface ThriftValue {
  readonly type: number;
  write(out: ByteSink): void;
}

const TRUE = 1;
const FALSE = 2;
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;
/** Lists with more elements store their size as a separate number. */
const MAX_SHORT_LIST = 14;

export const i32 = (value: number): ThriftValue => ({ type: I32, write: out => out.zigzag(BigInt(value)) });
export const i64 = (value: bigint | number): ThriftValue => ({
  type: I64,
  write: out => out.zigzag(BigInt(value)),
});
/** Valid only as a field, because its type contains its value. */
export const bool = (value: boolean): ThriftValue => ({
  type: value ? TRUE : FALSE,
  write: () => undefined,
});
export function binary(value: Uint8Array | string): ThriftValue {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return {
    type: BINARY,
    write(out) {
      out.varint(bytes.length);
      out.bytes(bytes);
    },
  };
}

/** @param of type of the elements, for an empty list */
export function list(values: readonly ThriftValue[], of = STRUCT): ThriftValue {
  return {
    type: LIST,
    write(out) {
      const type = values[0]?.type ?? of;
      if (values.length <= MAX_SHORT_LIST) out.byte(values.length * 16 + type);
      else {
        out.byte(0xf0 + type);
        out.varint(values.length);
      }
      for (const value of values) value.write(out);
    },
  };
}

/** Structure with fields by number, ascending. Omits `undefined` fields. */
export function struct(fields: Readonly<Record<number, ThriftValue | undefined>>): ThriftValue {
  return {
    type: STRUCT,
    write(out) {
      let before = 0;
      // JavaScript iterates integer keys in ascending order.
      for (const [key, value] of Object.entries(fields)) {
        if (value === undefined) continue;
        const id = Number(key);
        // Short form: field numbers in this program never differ by 16 or more.
        out.byte((id - before) * 16 + value.type);
        value.write(out);
        before = id;
      }
      out.byte(0);
    },
  };
}
