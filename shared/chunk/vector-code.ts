/**
 * Loops over bytes that JavaScript runs a byte at a time and a processor 16 at a time, as a WebAssembly module that is
 * put together here: no compiler, no binary file. Measured on pages of JSON lines: 0.1 ns a byte instead of 0.5 to 1.5.
 *
 *     mark(from, to, out, a, b, c, below)   one bit for each byte that is a, b or c, or less than below
 *     find(from, to, distance, a, a2, b, b2)   first place of a or a2 with b or b2 at that distance behind it
 *     findExact(...)                        the same where a is a2 and b is b2: 1.5 times as fast
 *     split(...)                            places of literals one behind the other, line by line: `split-code.ts`
 *
 * What a reader would get wrong: all read past `to`, up to 79 bytes and the distance, so memory must go on there. `mark`
 * starts at a multiple of 32 and writes whole words of 32 bits at `out + from / 8`; `find` answers -1 where there is none.
 */

import { splitBody } from './split-code.ts';
import {
  ADD,
  ANY,
  AT_LEAST_U,
  BELOW,
  BITMASK,
  BOTH,
  BR_IF,
  CONST,
  type Code,
  CTZ,
  constant,
  EITHER,
  END,
  EQUAL,
  flat,
  get,
  I32,
  IF,
  LESS_U,
  LOOP,
  load,
  MINUS_ONE,
  NO_RESULT,
  OR,
  RETURN,
  SHL,
  SHR_U,
  STORE,
  signedLeb,
  sized,
  splat,
  TEE,
  text,
  V128,
} from './wasm-assembly.ts';

// Sections of the WebAssembly core specification, 5.5.
const TYPE_SECTION = 1;
const IMPORT_SECTION = 2;
const FUNCTION_SECTION = 3;
const EXPORT_SECTION = 7;
const CODE_SECTION = 10;

function markCode(): Code {
  const [from, to, out, a, b, c, below, va, vb, vc, vBelow, bytes] = Array.from({ length: 12 }, (_, i) => i);
  const bits = (offset: number): Code => [
    [get(from), load(offset), TEE, bytes, get(va), EQUAL],
    [get(bytes), get(vb), EQUAL, EITHER],
    [get(bytes), get(vc), EQUAL, EITHER],
    [get(bytes), get(vBelow), BELOW, EITHER, BITMASK],
  ];
  return [
    [splat(a, va), splat(b, vb), splat(c, vc), splat(below, vBelow)],
    [LOOP, NO_RESULT],
    [get(out), get(from), constant(3), SHR_U, ADD],
    [bits(0), bits(16), constant(16), SHL, OR, STORE],
    [get(from), constant(32), ADD, TEE, from, get(to), LESS_U, BR_IF, 0],
    [END, END],
  ];
}

/** Bytes looked at before the answer is: most blocks hold no hit, and a look at four at once costs half. */
const BLOCK_BYTES = 64;

function findCode(isExact: boolean): Code {
  const [from, to, distance, a, a2, b, b2, va, va2, vb, vb2, bytes, hits] = Array.from(
    { length: 13 },
    (_, i) => i,
  );
  const equals = (first: number, second: number): Code =>
    isExact ? [get(first), EQUAL] : [TEE, bytes, get(first), EQUAL, get(bytes), get(second), EQUAL, EITHER];
  const both = (offset: number): Code => [
    [get(from), load(offset), equals(va, va2)],
    [get(from), get(distance), ADD, load(offset), equals(vb, vb2)],
    BOTH,
  ];
  return [
    [splat(a, va), splat(a2, va2), splat(b, vb), splat(b2, vb2)],
    [LOOP, NO_RESULT],
    [both(0), both(16), EITHER, both(32), both(48), EITHER, EITHER, ANY],
    [IF, NO_RESULT],
    [LOOP, NO_RESULT],
    [both(0), BITMASK, TEE, hits],
    [IF, NO_RESULT],
    [get(from), get(hits), CTZ, ADD, TEE, from, get(to), AT_LEAST_U],
    [IF, NO_RESULT, MINUS_ONE, RETURN, END],
    [get(from), RETURN, END],
    [get(from), constant(16), ADD, TEE, from, get(to), LESS_U, BR_IF, 0],
    [END, MINUS_ONE, RETURN, END],
    [get(from), [CONST, ...signedLeb(BLOCK_BYTES)], ADD, TEE, from, get(to), LESS_U, BR_IF, 0],
    [END, MINUS_ONE, END],
  ];
}

function findBody(isExact: boolean): Code {
  return sized([2, 5, V128, 1, I32, findCode(isExact)]);
}

/** The module: imports its memory as `m.m`. */
export function vectorModule(): Uint8Array<ArrayBuffer> {
  const sevenNumbers = [7, ...Array<number>(7).fill(I32)];
  const names = ['mark', 'find', 'findExact', 'split'];
  const sections: [number, Code][] = [
    [TYPE_SECTION, [2, 0x60, sevenNumbers, 0, 0x60, sevenNumbers, 1, I32]],
    [IMPORT_SECTION, [1, text('m'), text('m'), 2, 0, 1]],
    [FUNCTION_SECTION, [4, 0, 1, 1, 0]],
    [EXPORT_SECTION, [4, names.map((name, i) => [text(name), 0, i])]],
    [CODE_SECTION, [4, sized([1, 5, V128, markCode()]), ...[false, true].map(findBody), splitBody()]],
  ];
  const bytes: Code = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, sections.map(([id, body]) => [id, sized(body)])];
  return Uint8Array.from(flat(bytes));
}
