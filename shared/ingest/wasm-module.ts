/**
 * The smallest WebAssembly module that a kernel needs: one exported function over one memory, given as its instructions.
 *
 * Why: what JavaScript does byte by byte (escapes of JSON), SIMD does for 16 bytes at once, and no compiler is needed for a
 * few dozen instructions. Numbers and names are those of the WebAssembly core specification, chapter 5.
 *
 * What a reader would get wrong: growing a memory detaches every view of it, so views are made anew after `reserve`.
 */

export const I32 = 0x7f;
export const V128 = 0x7b;
/** Type of a block or loop that leaves nothing on the stack. */
const EMPTY_BLOCK = 0x40;

export type Code = readonly number[];

/** Unsigned LEB128. */
function unsigned(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  out.push(rest);
  return out;
}

/** Signed LEB128 of a number from 0 to 2^31 - 1. */
function constant(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  while (rest >= 0x40) {
    out.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  out.push(rest);
  return out;
}

const simd = (opcode: number): number[] => [0xfd, ...unsigned(opcode)];

/** Instructions. Those that take operands from the stack have none here; `offset` is added to an address. */
export const op = {
  get: (local: number): Code => [0x20, ...unsigned(local)],
  set: (local: number): Code => [0x21, ...unsigned(local)],
  tee: (local: number): Code => [0x22, ...unsigned(local)],
  i32: (value: number): Code => [0x41, ...constant(value)],
  add: [0x6a] as Code,
  subtract: [0x6b] as Code,
  and: [0x71] as Code,
  or: [0x72] as Code,
  shiftLeft: [0x74] as Code,
  shiftRight: [0x76] as Code,
  ctz: [0x68] as Code,
  eqz: [0x45] as Code,
  equal: [0x46] as Code,
  // Comparisons of unsigned numbers.
  less: [0x49] as Code,
  greater: [0x4b] as Code,
  atLeast: [0x4f] as Code,
  load8: (offset: number): Code => [0x2d, 0, ...unsigned(offset)],
  load16: [0x2f, 0, 0] as Code,
  load32: [0x28, 0, 0] as Code,
  load64: [0x29, 0, 0] as Code,
  store8: (offset: number): Code => [0x3a, 0, ...unsigned(offset)],
  store32: (offset: number): Code => [0x36, 2, ...unsigned(offset)],
  store64: [0x37, 0, 0] as Code,
  load128: [...simd(0x00), 0, 0] as Code,
  store128: [...simd(0x0b), 0, 0] as Code,
  splat8: simd(0x0f) as Code,
  equal8: simd(0x23) as Code,
  and128: simd(0x4e) as Code,
  or128: simd(0x50) as Code,
  /** The highest bit of each byte. */
  bitmask8: simd(0x64) as Code,
  /** Goes on behind a block, or at the beginning of a loop; 0 is the innermost. */
  branch: (depth: number): Code => [0x0c, ...unsigned(depth)],
  /** The same where the number on the stack is not 0. */
  branchIf: (depth: number): Code => [0x0d, ...unsigned(depth)],
  /** Ends the function with the number on the stack. */
  answer: [0x0f] as Code,
  loop: (...body: readonly Code[]): Code => [0x03, EMPTY_BLOCK, ...body.flat(), 0x0b],
  when: (...body: readonly Code[]): Code => [0x04, EMPTY_BLOCK, ...body.flat(), 0x0b],
  either: (then: readonly Code[], otherwise: readonly Code[]): Code => [
    ...[0x04, EMPTY_BLOCK, ...then.flat()],
    ...[0x05, ...otherwise.flat(), 0x0b],
  ],
} as const;

export interface Kernel {
  /** How many numbers go in; one comes out. All are i32. */
  readonly parameters: number;
  /** Types of the locals behind the parameters, in groups: I32 ones, then V128 ones. */
  readonly locals: { readonly i32: number; readonly v128: number };
  readonly body: readonly Code[];
}

const PAGE_BYTES = 65_536;

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** What is used of the runtime's WebAssembly, which the types of Node leave out. */
interface WebAssemblyApi {
  validate(bytes: Uint8Array): boolean;
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { readonly m: { readonly m: Memory } },
  ) => { readonly exports: { readonly f: (...numbers: number[]) => number } };
}

export interface RunningKernel {
  readonly call: (...numbers: number[]) => number;
  /** Makes the memory at least so large; the whole of it. Earlier views are of no use then. */
  reserve(bytes: number): Buffer;
}

/** Compiles and starts a kernel. Undefined where the runtime has no WebAssembly with SIMD. */
export function startKernel(kernel: Kernel, maxBytes: number): RunningKernel | undefined {
  const bytes = encodeModule(kernel);
  const api = (globalThis as unknown as { readonly WebAssembly?: WebAssemblyApi }).WebAssembly;
  if (api?.validate(bytes) !== true) return undefined;
  const memory = new api.Memory({ initial: 1, maximum: Math.ceil(maxBytes / PAGE_BYTES) });
  const { exports } = new api.Instance(new api.Module(bytes), { m: { m: memory } });
  let view = Buffer.from(memory.buffer);
  return {
    call: exports.f,
    reserve(wanted) {
      if (wanted > view.length) {
        memory.grow(Math.ceil((wanted - view.length) / PAGE_BYTES));
        view = Buffer.from(memory.buffer);
      }
      return view;
    },
  };
}

function encodeModule({ parameters, locals, body }: Kernel): Uint8Array<ArrayBuffer> {
  const section = (id: number, content: Code): number[] => [id, ...unsigned(content.length), ...content];
  const name = (text: string): number[] => [text.length, ...Buffer.from(text)];
  const type = [0x60, parameters, ...new Array<number>(parameters).fill(I32), 1, I32];
  const code = [2, locals.i32, I32, locals.v128, V128, ...body.flat(), 0x0b];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, ...type]),
    // A memory from outside, of at least one page.
    ...section(2, [1, ...name('m'), ...name('m'), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name('f'), 0, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ]);
}
