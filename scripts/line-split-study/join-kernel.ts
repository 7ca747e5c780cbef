/** Host of assembly/join.ts. */
import { MARK, type SplitPage } from './split.ts';
import { compileModule, growTo, instanceOf, type Memory, newMemory } from './web-assembly.ts';

const BASE = 4096;
const SLACK = 64;

interface Exports {
  place(ids: number, starts: number, wanted: number, plain: number, lines: number): void;
  join(rows: number, out: number): number;
}

interface LaidPage {
  /** Resets the cursors and writes the wanted lines. Returns their bytes, valid until the next call. */
  join(): Uint8Array;
}

export class JoinKernel {
  readonly #memory: Memory;
  readonly #exports: Exports;

  constructor(module: object) {
    this.#memory = newMemory();
    this.#exports = instanceOf(module, this.#memory) as Exports;
  }

  /** @param wanted 1 per wanted row, 0 to skip it */
  lay(page: SplitPage, wanted: Uint8Array, lineBytes: number): LaidPage {
    const texts = page.templates.reduce((sum, { text }) => sum + text.length, 0);
    const values = page.columns.reduce((sum, column) => sum + column.length + SLACK, 0);
    const pieces = page.templates.reduce((sum, { columns }) => sum + columns.length + 1, 0);
    // A piece's text has its own slack, like everything that `take` returns.
    const words =
      pieces * (3 + (SLACK + 16) / 4) +
      page.templates.length +
      page.columns.length +
      page.plainLengths.length +
      64;
    const room =
      BASE + texts + values + 4 * words + 3 * page.rows + page.plainLines.length + lineBytes + 16 * SLACK;
    growTo(this.#memory, room);

    const bytes = new Uint8Array(this.#memory.buffer);
    const numbers = new Uint32Array(this.#memory.buffer);
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
    this.#exports.place(ids, starts, put(wanted), plain, put(page.plainLines));
    const out = take(lineBytes);
    return {
      join: () => {
        numbers.set(begins, cursors >> 2);
        return bytes.subarray(out, this.#exports.join(page.rows, out));
      },
    };
  }
}

export async function compileJoin(): Promise<JoinKernel> {
  return new JoinKernel(await compileModule('join.ts'));
}
