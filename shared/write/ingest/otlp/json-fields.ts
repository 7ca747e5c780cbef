/**
 * Looks up the field names of an OTLP JSON message by their bytes, without a string for each. It knows both
 * spellings of protobuf's JSON mapping: `timeUnixNano` and `time_unix_nano`.
 */

/** A power of two, several times the number of names of the largest message. */
const SLOTS = 128;

export class JsonFields {
  readonly #slots: { readonly bytes: Uint8Array; readonly field: number }[][] = Array.from(
    { length: SLOTS },
    () => [],
  );

  /** @param names names in camel case; their index is the field number */
  constructor(names: readonly string[]) {
    for (let field = 0; field < names.length; field++) {
      const snake = names[field].replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
      for (const name of new Set([names[field], snake])) {
        const bytes = Buffer.from(name);
        this.#slots[slotOf(bytes, 0, bytes.length)].push({ bytes, field });
      }
    }
  }

  /** Returns the number of the field `bytes[start, end)`, or -1. */
  of(bytes: Uint8Array, start: number, end: number): number {
    if (start === end) return -1;
    const slot = this.#slots[slotOf(bytes, start, end)];
    for (let i = 0; i < slot.length; i++) {
      const name = slot[i].bytes;
      if (name.length !== end - start) continue;
      let at = 0;
      while (at < name.length && name[at] === bytes[start + at]) at++;
      if (at === name.length) return slot[i].field;
    }
    return -1;
  }
}

function slotOf(bytes: Uint8Array, start: number, end: number): number {
  return (bytes[start] + 7 * bytes[end - 1] + 31 * (end - start)) & (SLOTS - 1);
}
