/**
 * Strings of a JSON body, their escapes resolved in place: the host's side of assembly/unquote.ts. A line of a push that is
 * itself JSON has a backslash every eight bytes, and a loop over bytes spent a fifth of the CPU of a push on them.
 *
 * What the kernel does not know (`\u`, longer characters of a body that is not valid UTF-8) ends a string, and the caller goes
 * on from there.
 */
import { isUtf8 } from 'node:buffer';
import { type Constant, KernelInstance } from './kernels.ts';

/** How far a text must move down at least. The decoder has that room: the text of a line's time stands before it. */
export const BLOCK_BYTES = 16;
/** Larger bodies are read without the kernel, so that its memory, which never shrinks, stays small. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Quotes behind the body: the kernel looks at 64 bytes at once. */
const GUARD_BYTES = 128;
const QUOTE = 0x22;

interface UnquoteKernel {
  readonly UNQUOTE_BODY: Constant;
  readonly UNQUOTE_ESCAPES: Constant;
  unquote(from: number, to: number, limit: number, longer: number): number;
  unquotedEnd(): number;
}

/** Bodies go through one memory, one after the other. */
let instance: KernelInstance<UnquoteKernel> | undefined;
/** A body lies in that memory. */
let isTaken = false;

/** A body in the kernel's memory; of use until it is closed. */
export class KernelBody {
  /** The body's copy: what is decoded. */
  readonly bytes: Buffer;
  readonly #run: UnquoteKernel;
  readonly #at: number;
  readonly #longer: number;
  #isOpen = true;

  private constructor(kernel: KernelInstance<UnquoteKernel>, body: Buffer, escapes: Uint8Array) {
    this.#run = kernel.run;
    this.#at = kernel.run.UNQUOTE_BODY.value;
    this.#longer = isUtf8(body) ? 0 : 0x80;
    const end = this.#at + body.length;
    kernel.reserve(end + GUARD_BYTES);
    const memory = kernel.bytes;
    memory.set(escapes, kernel.run.UNQUOTE_ESCAPES.value);
    this.bytes = memory.subarray(this.#at, end);
    this.bytes.set(body);
    // Not at once a quote: a backslash that ends the body would take it for what it escapes.
    memory[end] = 0;
    memory.fill(QUOTE, end + 1, end + GUARD_BYTES);
  }

  /** Undefined where the body is too large, or another one is open. `escapes`: by byte, what it stands for behind a backslash, or 0. */
  static open(body: Buffer, escapes: Uint8Array): KernelBody | undefined {
    if (isTaken || body.length > MAX_BODY_BYTES) return undefined;
    instance ??= new KernelInstance();
    isTaken = true;
    return new KernelBody(instance, body, escapes);
  }

  /** The next body may overwrite this one. */
  close(): void {
    if (this.#isOpen) isTaken = false;
    this.#isOpen = false;
  }

  /**
   * Moves the text of a string that begins at `from` to `to`, at most `from - BLOCK_BYTES`. Returns the offset of what
   * ended it: its quote, what the kernel does not know, or the end of the body or a few bytes behind it.
   */
  unquote(from: number, to: number): number {
    const limit = this.#at + this.bytes.length + 2;
    return this.#run.unquote(this.#at + from, this.#at + to, limit, this.#longer) - this.#at;
  }

  /** The offset behind the text that `unquote` wrote. */
  get written(): number {
    return this.#run.unquotedEnd() - this.#at;
  }
}
