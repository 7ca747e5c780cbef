/**
 * Compiles the names of the fields that may hold a level (`log_level_fields`) for lookup by bytes. One table
 * read rejects nearly all keys: no listed field has that first byte and that length.
 */

export interface LevelFields {
  /** Names in the order of the list. An earlier field has precedence. */
  readonly names: readonly string[];
  /** Bytes of `names`. */
  readonly exact: readonly Uint8Array[];
  /** Bytes of `names`, with ASCII letters in lower case. */
  readonly folded: readonly Uint8Array[];
  /**
   * Bit n is set for a first byte (in both cases) if a field of length n starts with it. Bit 31 stands for
   * longer fields.
   */
  readonly foldedLengths: Int32Array;
  /** Index in `names` by name. */
  readonly rank: ReadonlyMap<string, number>;
}

const COMPILED = new WeakMap<readonly string[], LevelFields>();

/** Returns the compiled form of a list, created once per list. Empty names are skipped. */
export function levelFields(list: readonly string[]): LevelFields {
  let fields = COMPILED.get(list);
  if (fields === undefined) {
    fields = compile(list.filter(name => name !== ''));
    COMPILED.set(list, fields);
  }
  return fields;
}

function compile(names: readonly string[]): LevelFields {
  const exact = names.map(name => Buffer.from(name));
  const folded = exact.map(name => name.map(lower));
  const foldedLengths = new Int32Array(256);
  for (let i = 0; i < names.length; i++) {
    const bit = lengthBit(exact[i].length);
    foldedLengths[folded[i][0]] |= bit;
    foldedLengths[upper(folded[i][0])] |= bit;
  }
  const rank = new Map<string, number>();
  for (let i = names.length - 1; i >= 0; i--) rank.set(names[i], i);
  return { names, exact, folded, foldedLengths, rank };
}

/**
 * Returns the index of the first field that equals the key `bytes[start, end)` in any letter case, or the
 * number of fields.
 */
export function rankOfKey(fields: LevelFields, bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const count = fields.folded.length;
  if ((fields.foldedLengths[bytes[start]] & lengthBit(length)) === 0) return count;
  for (let f = 0; f < count; f++) {
    const name = fields.folded[f];
    if (name.length !== length) continue;
    let i = 0;
    while (i < length && lower(bytes[start + i]) === name[i]) i++;
    if (i === length) return f;
  }
  return count;
}

function lengthBit(length: number): number {
  return 1 << Math.min(length, 31);
}

function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

function upper(byte: number): number {
  return byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte;
}
