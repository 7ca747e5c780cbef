/** The parts of a 64-bit ELF file that are needed to make a program smaller. Plain JavaScript for any Node from 20. */

/** Positions in the header: of the program headers, of the section headers, and the number of each. */
export const ELF = {
  programs: 32,
  sections: 40,
  programSize: 54,
  programCount: 56,
  sectionCount: 60,
  bytes: 64,
};
/** Positions in a program header, which describes a segment. */
export const PROGRAM = {
  kind: 0,
  offset: 8,
  address: 16,
  physical: 24,
  fileSize: 32,
  memorySize: 40,
  alignment: 48,
};
export const LOAD = 1;
export const NOTE = 4;

const MAGIC = 0x7f454c46;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;

export function isElf(head) {
  if (head.length < ELF.bytes) return false;
  return head.readUInt32BE(0) === MAGIC && head[4] === CLASS_64 && head[5] === LITTLE_ENDIAN;
}

export function number(buffer, at) {
  return Number(buffer.readBigUInt64LE(at));
}

/** A copy of a program header with other numbers. */
export function withNumbers(program, numbers) {
  const copy = Buffer.from(program);
  for (const [name, value] of Object.entries(numbers)) copy.writeBigUInt64LE(BigInt(value), PROGRAM[name]);
  return copy;
}
