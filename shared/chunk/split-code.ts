/**
 * The loop behind `line-splitter.ts`: finds in each of some lines the literals of a program, one behind the other, and
 * writes where each stands.
 *
 *     split(rows, rowsEnd, lead, program, programEnd, out, stride)
 *
 * `rows` up to `rowsEnd` are the words of where lines start, and behind the last where it ends; the search starts `lead`
 * bytes into a line. For each line the places go to `out`, which then moves by `stride`; where a literal is not found, it
 * and all behind it have the place -1. What a reader would get wrong: literals are found by their
 * first and last byte 16 places at once, so memory past the last line is read, up to 15 bytes and a literal.
 */
import {
  ADD,
  AT_LEAST,
  BITMASK,
  BLOCK,
  BOTH,
  BR,
  BR_IF,
  type Code,
  CTZ,
  constant,
  END,
  EQUAL,
  EQZ,
  get,
  I32,
  IF,
  LESS_U,
  LOAD_BYTE,
  LOAD_SPLAT,
  LOOP,
  load,
  loadWord,
  MINUS_ONE,
  NO_RESULT,
  SAME,
  STORE,
  SUB,
  set,
  sized,
  TEE,
  V128,
} from './wasm-assembly.ts';

/** A step of a program: a literal, and its length as a word behind MAX_LITERAL_BYTES. */
export const STEP_BYTES = 36;
export const MAX_LITERAL_BYTES = 32;

export function splitBody(): Code {
  return sized([2, 7, I32, 2, V128, splitCode()]);
}

function splitCode(): Code {
  const [rows, rowsEnd, lead, program, programEnd, out, stride, at, end, step, to, tail, hits, i] =
    Array.from({ length: 14 }, (_, local) => local);
  const [first, last] = [14, 15];
  const bump = (local: number, by: number): Code => [get(local), constant(by), ADD, set(local)];
  /** The literal does not fit behind `at` any more. */
  const isPast: Code = [get(at), get(tail), ADD, get(end), AT_LEAST];
  return [
    [LOOP, NO_RESULT],
    [get(rows), loadWord(0), get(lead), ADD, set(at)],
    [get(rows), loadWord(4), set(end), get(program), set(step), get(out), set(to)],
    // Left where a literal is not found.
    [BLOCK, NO_RESULT, LOOP, NO_RESULT],
    [get(step), loadWord(MAX_LITERAL_BYTES), constant(1), SUB, set(tail)],
    [get(step), LOAD_SPLAT, set(first), get(step), get(tail), ADD, LOAD_SPLAT, set(last)],
    // Left where it is found.
    [BLOCK, NO_RESULT, LOOP, NO_RESULT],
    [isPast, IF, NO_RESULT, LOOP, NO_RESULT, get(to), MINUS_ONE, STORE, bump(to, 4)],
    [get(step), constant(STEP_BYTES), ADD, TEE, step, get(programEnd), LESS_U, BR_IF, 0, END, BR, 4, END],
    [get(at), load(0), get(first), EQUAL, get(at), get(tail), ADD, load(0), get(last), EQUAL, BOTH],
    [BITMASK, TEE, hits, EQZ, IF, NO_RESULT, bump(at, 16), BR, 1, END],
    [get(at), get(hits), CTZ, ADD, set(at), isPast, BR_IF, 0],
    [constant(1), set(i), LOOP, NO_RESULT],
    [get(i), get(tail), AT_LEAST, BR_IF, 2],
    [get(at), get(i), ADD, LOAD_BYTE, get(step), get(i), ADD, LOAD_BYTE, SAME],
    [IF, NO_RESULT, bump(i, 1), BR, 1, END, END],
    [bump(at, 1), BR, 0, END, END],
    [get(to), get(at), STORE, bump(to, 4)],
    [get(at), get(tail), ADD, constant(1), ADD, set(at)],
    [get(step), constant(STEP_BYTES), ADD, TEE, step, get(programEnd), LESS_U, BR_IF, 0],
    [END, END],
    [get(out), get(stride), ADD, set(out)],
    [get(rows), constant(4), ADD, TEE, rows, get(rowsEnd), LESS_U, BR_IF, 0],
    [END, END],
  ];
}
