/**
 * Loads the compiled kernels, and creates memories to run them on. A thread compiles the module once, or
 * receives it from the thread that starts it, because a module can be posted. Code that V8 has optimized in one thread
 * is then optimized in the other. Each instance has a separate memory, which one kernel lays out as its
 * source describes (README.md).
 *
 *     worker.postMessage({ kernels: kernelModule() });    // in the thread that starts another
 *     useKernelModule(message.kernels);                   // there, before the first kernel runs
 *
 * Pitfall: growing a memory detaches every view of it, so create new views after `reserve`.
 */
import { lowerBound } from '../model/binary-search.ts';
import { COMPILED } from './compiled.ts';

/** `WebAssembly.Module` as an opaque value. The host only instantiates it or posts it to threads. */
export type KernelModule = object;

export const MEMORY_PAGE_BYTES = 64 * 1024;

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** Part of the WebAssembly global that this file uses. The types of Node.js omit it. */
interface WebAssemblyApi {
  readonly Memory: new (pages: { readonly initial: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => KernelModule;
  readonly Instance: new (module: KernelModule, imports: object) => { readonly exports: unknown };
}

const { Memory, Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi })
  .WebAssembly;

let compiled: KernelModule | undefined;
let moduleImports: object = {};

export function kernelModule(): KernelModule {
  compiled ??= new Module(Buffer.from(COMPILED, 'base64'));
  return compiled;
}

/**
 * Sets the module for new instances; existing instances retain theirs.
 * @param imports Additional imports, for test modules that record each access to memory
 */
export function useKernelModule(module: KernelModule, imports: object = {}): void {
  compiled = module;
  moduleImports = imports;
}

/** Constant of a kernel, such as an address. */
export interface Constant {
  readonly value: number;
}

/**
 * Returns the end of the rows from `row` on that fit in one call, or `row` if its line alone does not.
 *
 * @param offsets Starts of all lines and the final end
 */
export function endOfCall(
  offsets: Uint32Array,
  row: number,
  rows: number,
  { maxRows, maxBytes }: { readonly maxRows: number; readonly maxBytes: number },
): number {
  const last = Math.min(rows, row + maxRows);
  return lowerBound(offsets, row, last + 1, offsets[row] + maxBytes + 1) - 1;
}

/** Host functions that kernels call. */
interface KernelImports {
  /** Names a key; see assembly/key-table.ts. */
  nameKey(table: number, number: number, start: number, length: number, parent: number): number;
  /** Writes the text of an escaped value; see assembly/field-cells.ts. */
  unescapeValue(list: number, start: number, length: number): number;
}

/** Imports for kernels that call no host function. */
const NO_HOST: KernelImports = { nameKey: () => 0, unescapeValue: () => -1 };

/** Memories of this thread. When a memory grows, it gets a new buffer and the old one becomes empty. */
const BUFFERS = new Set<WeakRef<ArrayBuffer>>();

/** Returns the bytes reserved by all kernel memories of this thread. */
export function kernelBytes(): number {
  let sum = 0;
  for (const reference of BUFFERS) {
    const bytes = reference.deref()?.byteLength ?? 0;
    if (bytes === 0) BUFFERS.delete(reference);
    sum += bytes;
  }
  return sum;
}

/** Instance of the module with a separate memory. `Exports` lists the exports that the caller uses. */
export class KernelInstance<Exports> {
  readonly #memory: Memory;
  readonly run: Exports;
  /** View of the whole memory. */
  bytes: Buffer<ArrayBuffer>;
  /** View of the whole memory, as words. */
  words: Uint32Array<ArrayBuffer>;

  constructor(host = NO_HOST) {
    const memory = new Memory({ initial: 1 });
    this.#memory = memory;
    this.run = new Instance(kernelModule(), { env: { memory, ...host, ...moduleImports } })
      .exports as Exports;
    this.bytes = Buffer.from(memory.buffer);
    this.words = new Uint32Array(memory.buffer);
    BUFFERS.add(new WeakRef(memory.buffer));
  }

  /**
   * Grows the memory to at least this size, with zeros. The operating system allocates memory only when it is
   * written.
   */
  reserve(bytes: number): void {
    if (bytes <= this.bytes.length) return;
    this.#memory.grow(Math.ceil((bytes - this.bytes.length) / MEMORY_PAGE_BYTES));
    this.bytes = Buffer.from(this.#memory.buffer);
    this.words = new Uint32Array(this.#memory.buffer);
    BUFFERS.add(new WeakRef(this.#memory.buffer));
  }
}

/** Returns a view of words of a memory, until it grows. */
export function memoryWords(
  { words }: KernelInstance<unknown>,
  { value }: Constant,
  count: number,
): Uint32Array {
  return words.subarray(value >>> 2, (value >>> 2) + count);
}
