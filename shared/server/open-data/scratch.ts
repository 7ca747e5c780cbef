/** Arrays for one column chunk, used again for the next: new ones would keep the garbage collector busy. */

interface ArrayType<T> {
  new (length: number): T;
}

const ARRAYS = new Map<string, Uint8Array | Uint32Array | Float64Array>();

/** Array of this length with any content. Valid until the next call with the same name. */
export function scratch<T extends Uint8Array | Uint32Array | Float64Array>(
  name: string,
  Type: ArrayType<T>,
  length: number,
): T {
  let array = ARRAYS.get(name);
  if (array === undefined || array.length < length) {
    array = new Type(length);
    ARRAYS.set(name, array);
  }
  return array.subarray(0, length) as T;
}
