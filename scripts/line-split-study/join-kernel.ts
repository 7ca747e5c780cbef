/** The host's side of assembly/join.ts, which it compiles when the study begins. */
import { readFileSync } from 'node:fs';
import asc from 'assemblyscript/asc';
import { MARK, type SplitPage } from './split.ts';

const OPTIONS = ['-O3', '--enable', 'simd', '--runtime', 'stub', '--importMemory', '--noExportMemory'];
const BASE = 4096;
const SLACK = 64;
const PAGE_OF_MEMORY = 65_536;
const DECORATOR = /^\/\/ (@inline)$/gm;

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** What is used of a global that the types of Node leave out. */
interface WebAssemblyApi {
  readonly Memory: new (pages: { readonly initial: number }) => Memory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

const { Memory, Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi })
  .WebAssembly;

interface Exports {
  place(ids: number, starts: number, wanted: number, plain: number, lines: number): void;
  join(rows: number, out: number): number;
}

export interface LaidPage {
  /** Sets the cursors back and writes the wanted lines. Their bytes, valid until the next call. */
  join(): Uint8Array;
}

export class JoinKernel {
  private readonly memory: Memory;
  private readonly exports: Exports;

  constructor(module: object) {
    this.memory = new Memory({ initial: 1 });
    const instance = new Instance(module, {
      env: {
        memory: this.memory,
        abort: () => {
          throw new Error('the kernel gave up');
        },
      },
    });
    this.exports = instance.exports as unknown as Exports;
  }

  /** @param wanted of each row 1, or 0 to pass it over */
  lay(page: SplitPage, wanted: Uint8Array, lineBytes: number): LaidPage {
    const texts = page.templates.reduce((sum, { text }) => sum + text.length, 0);
    const values = page.columns.reduce((sum, column) => sum + column.length + SLACK, 0);
    const pieces = page.templates.reduce((sum, { columns }) => sum + columns.length + 1, 0);
    // A piece's text has slack of its own, as all that `take` gives.
    const words =
      pieces * (3 + (SLACK + 16) / 4) +
      page.templates.length +
      page.columns.length +
      page.plainLengths.length +
      64;
    const room =
      BASE + texts + values + 4 * words + 3 * page.rows + page.plainLines.length + lineBytes + 16 * SLACK;
    const missing = room - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE_OF_MEMORY));

    const bytes = new Uint8Array(this.memory.buffer);
    const numbers = new Uint32Array(this.memory.buffer);
    let free = BASE;
    const take = (size: number) => {
      const at = free;
      free = (free + size + SLACK) & ~15;
      return at;
    };
    const put = (content: Uint8Array) => {
      const at = take(content.length);
      bytes.set(content, at);
      return at;
    };

    const begins = Uint32Array.from(page.columns, column => put(column));
    const cursors = take(4 * begins.length);
    const starts = take(4 * page.templates.length + 4);
    let piece = take(12 * pieces);
    page.templates.forEach(({ text, columns }, i) => {
      numbers[(starts >> 2) + i + 1] = piece;
      let from = 0;
      for (let variable = 0; variable <= columns.length; variable++) {
        const mark = text.indexOf(MARK, from);
        const part = text.subarray(from, mark === -1 ? text.length : mark);
        const cursor = variable < columns.length ? cursors + 4 * columns[variable] : 0;
        numbers.set([put(part), part.length, cursor], piece >> 2);
        piece += 12;
        from = mark + 1;
      }
    });
    const ids = put(new Uint8Array(page.ids.buffer, page.ids.byteOffset, page.ids.byteLength));
    const plain = put(new Uint8Array(Uint32Array.from(page.plainLengths).buffer));
    this.exports.place(ids, starts, put(wanted), plain, put(page.plainLines));
    const out = take(lineBytes);
    return {
      join: () => {
        numbers.set(begins, cursors >> 2);
        return bytes.subarray(out, this.exports.join(page.rows, out));
      },
    };
  }
}

export async function compileJoin(): Promise<JoinKernel> {
  let compiled: Uint8Array<ArrayBuffer> | undefined;
  const { error } = await asc.main(['join.ts', ...OPTIONS, '--outFile', 'join.wasm'], {
    stdout: process.stderr,
    stderr: process.stderr,
    readFile: (name: string) => readSource(name),
    writeFile: (_: string, contents: unknown) => {
      if (contents instanceof Uint8Array) compiled = Uint8Array.from(contents);
    },
    listFiles: () => [],
  });
  if (error !== null || compiled === undefined) throw error ?? new Error('join.ts compiled to nothing');
  return new JoinKernel(new Module(compiled));
}

/** Null for a file that is not there, as the compiler wants it. */
function readSource(name: string): string | null {
  try {
    return readFileSync(new URL(`assembly/${name}`, import.meta.url), 'utf8').replace(DECORATOR, '@inline');
  } catch {
    return null;
  }
}
