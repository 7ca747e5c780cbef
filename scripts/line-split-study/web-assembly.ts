/** Compiles the study's kernels on load, and declares the parts of WebAssembly that Node's types omit. */
import { readFileSync } from 'node:fs';
import asc from 'assemblyscript/asc';

const OPTIONS = ['-O3', '--enable', 'simd', '--runtime', 'stub', '--importMemory', '--noExportMemory'];
const DECORATOR = /^\/\/ (@inline)$/gm;

export interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface WebAssemblyApi {
  readonly Memory: new (pages: { readonly initial: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

const { Memory, Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi })
  .WebAssembly;

export function newMemory(): Memory {
  return new Memory({ initial: 1 });
}

const PAGE_OF_MEMORY = 65_536;

export function growTo(memory: Memory, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_OF_MEMORY));
}

export function instanceOf(module: object, memory: Memory): unknown {
  const abort = () => {
    throw new Error('the kernel gave up');
  };
  return new Instance(module, { env: { memory, abort } }).exports;
}

/** @param file name in the folder `assembly` */
export async function compileModule(file: string): Promise<object> {
  let compiled: Uint8Array<ArrayBuffer> | undefined;
  const { error } = await asc.main([file, ...OPTIONS, '--outFile', 'out.wasm'], {
    stdout: process.stderr,
    stderr: process.stderr,
    readFile: (name: string) => readSource(name),
    writeFile: (_: string, contents: unknown) => {
      if (contents instanceof Uint8Array) compiled = Uint8Array.from(contents);
    },
    listFiles: () => [],
  });
  if (error !== null || compiled === undefined) throw error ?? new Error(`${file} compiled to nothing`);
  return new Module(compiled);
}

/** Returns null for a missing file, as the compiler requires. */
function readSource(name: string): string | null {
  try {
    return readFileSync(new URL(`assembly/${name}`, import.meta.url), 'utf8').replace(DECORATOR, '@inline');
  } catch {
    return null;
  }
}
