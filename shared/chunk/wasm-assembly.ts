/**
 * What WebAssembly code is put together from (`vector-code.ts`, `split-code.ts`): opcodes by name and the encodings of
 * numbers and sections. What a reader would get wrong: code is nested lists of bytes, flattened at the end, so that a
 * part may stand for several instructions; and blocks are left by how many enclose the place, the innermost being 0.
 */

// Types and instructions of the WebAssembly core specification, 5.3 and 5.4.
export const I32 = 0x7f;
export const V128 = 0x7b;
export const NO_RESULT = 0x40;
export const [BLOCK, LOOP, IF, END, BR, BR_IF, RETURN] = [0x02, 0x03, 0x04, 0x0b, 0x0c, 0x0d, 0x0f];
export const [GET, SET, TEE, CONST] = [0x20, 0x21, 0x22, 0x41];
export const [EQZ, SAME, LESS_U, AT_LEAST, AT_LEAST_U] = [0x45, 0x46, 0x49, 0x4e, 0x4f];
export const [CTZ, ADD, SUB, OR, SHL, SHR_U] = [0x68, 0x6a, 0x6b, 0x72, 0x74, 0x76];
/** Store of 32 bits, aligned to 4 bytes. */
export const STORE = [0x36, 2, 0];
const vector = (opcode: number) => [0xfd, ...leb(opcode)];
export const SPLAT = vector(15);
export const EQUAL = vector(35);
export const BELOW = vector(38);
export const BOTH = vector(78);
export const EITHER = vector(80);
export const ANY = vector(83);
export const BITMASK = vector(100);
/** Load of 16 bytes at an offset; no alignment is promised. */
export const load = (offset: number) => [...vector(0), 0, ...leb(offset)];
/** Load of one byte into all places of a vector. */
export const LOAD_SPLAT = [...vector(7), 0, 0];
/** Load of 32 bits, aligned to 4 bytes, at an offset; of one byte. */
export const loadWord = (offset: number) => [0x28, 2, ...leb(offset)];
export const LOAD_BYTE = [0x2d, 0, 0];

export type Code = readonly (number | Code)[];

export const get = (local: number): Code => [GET, local];
export const set = (local: number): Code => [SET, local];
/** Of a number below 64. */
export const constant = (value: number): Code => [CONST, ...leb(value)];
/** -1. */
export const MINUS_ONE: Code = [CONST, 0x7f];
export const splat = (from: number, to: number): Code => [GET, from, SPLAT, SET, to];

/** Unsigned LEB128, for numbers below 64 also the signed one. */
export function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

/** Signed LEB128 of a number from 64 to 8191, which `leb` would make negative. */
export function signedLeb(value: number): number[] {
  return [(value & 0x7f) | 0x80, value >> 7];
}

export function text(name: string): Code {
  return sized([...Buffer.from(name)]);
}

export function sized(code: Code): Code {
  const bytes = flat(code);
  return [...leb(bytes.length), ...bytes];
}

export function flat(code: Code): number[] {
  return code.flatMap(part => (typeof part === 'number' ? [part] : flat(part)));
}
