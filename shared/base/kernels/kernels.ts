/**
 * The compiled kernels, and memories to run them on. The module is compiled once; a thread may be given the one of another
 * thread (it can be posted), so that code that V8 has optimized there is optimized here. Each instance has a memory of its
 * own, which one kernel lays out as its source says (README.md).
 *
 *     worker.postMessage({ kernels: kernelModule() });    // in the thread that starts another
 *     useKernelModule(message.kernels);                   // there, before the first kernel runs
 *
 * Pitfall: growing a memory detaches every view of it, so views are taken again after `reserve`.
 */
import { COMPILED } from './compiled.ts';

/** A `WebAssembly.Module`: it can be posted to threads, and nothing else is done with it here. */
export type KernelModule = object;

export const PAGE_BYTES = 64 * 1024;

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** What is used of a global that the types of Node leave out. */
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
 * Instances that there are already keep theirs.
 * @param imports what the module asks for besides, as those of tests do that watch each access to memory
 */
export function useKernelModule(module: KernelModule, imports: object = {}): void {
  compiled = module;
  moduleImports = imports;
}

/** A constant of a kernel, such as an address. */
export interface Constant {
  readonly value: number;
}

/** Functions of the host that kernels call. */
export interface KernelImports {
  /** See assembly/key-table.ts. */
  nameKey(table: number, number: number, start: number, length: number, parent: number): number;
}

/** For instances of kernels that call none. */
const NO_HOST: KernelImports = { nameKey: () => 0 };

/** Those of this thread. A memory that has grown has another buffer, and the one before is empty. */
const BUFFERS = new Set<WeakRef<ArrayBuffer>>();

/** Bytes that the memories of the instances in this thread have reserved. */
export function kernelBytes(): number {
  let sum = 0;
  for (const reference of BUFFERS) {
    const bytes = reference.deref()?.byteLength ?? 0;
    if (bytes === 0) BUFFERS.delete(reference);
    sum += bytes;
  }
  return sum;
}

/** An instance of the module with a memory of its own. `Exports`: what the caller uses of it. */
export class KernelInstance<Exports> {
  readonly #memory: Memory;
  readonly run: Exports;
  /** All of the memory. */
  bytes: Buffer<ArrayBuffer>;
  /** The same. */
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

  /** Makes the memory at least so large, with zeros. None of it is taken from the machine before it is written. */
  reserve(bytes: number): void {
    if (bytes <= this.bytes.length) return;
    this.#memory.grow(Math.ceil((bytes - this.bytes.length) / PAGE_BYTES));
    this.bytes = Buffer.from(this.#memory.buffer);
    this.words = new Uint32Array(this.#memory.buffer);
    BUFFERS.add(new WeakRef(this.#memory.buffer));
  }
}
