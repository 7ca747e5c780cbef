/**
 * Host side of assembly/unquote.ts: unescapes strings of a JSON body in place. A line of a push that is
 * itself JSON has a backslash every eight bytes. A loop over bytes used a fifth of the CPU time of a push for
 * them.
 *
 * An escape that the kernel does not support ends the scan, and the caller continues from there. Such escapes
 * are `\u`, and longer characters of a body that is not valid UTF-8.
 */
import { isUtf8 } from 'node:buffer';
import { copyBytes } from '../model/copy-bytes.ts';
import { type Constant, KernelInstance } from './kernels.ts';

/**
 * Minimum distance by which a text must move down. The text of a line's timestamp precedes the line, so the
 * decoder has that space.
 */
export const BLOCK_BYTES = 16;
/**
 * Maximum body size; larger bodies are read without the kernel. The kernel's memory never shrinks, so this
 * bounds it.
 */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Padding of quotes after the body, because the kernel reads 64 bytes at a time. */
const GUARD_BYTES = 128;
const QUOTE = 0x22;

interface UnquoteKernel {
  readonly UNQUOTE_BODY: Constant;
  readonly UNQUOTE_ESCAPES: Constant;
  unquote(from: number, to: number, limit: number, longer: number): number;
  unquotedEnd(): number;
}

/** Shared memory that all bodies use in sequence. */
let instance: KernelInstance<UnquoteKernel> | undefined;
/** Whether a body occupies that memory. */
let isTaken = false;

/** Body in the kernel's memory; valid until it is closed. */
export class KernelBody {
  /** Copy of the body, which is decoded in place. */
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
    copyBytes(body, memory, this.#at);
    // Zero byte first: a backslash at the end of the body must not escape a quote of the padding.
    memory[end] = 0;
    memory.fill(QUOTE, end + 1, end + GUARD_BYTES);
  }

  /**
   * Opens a body. Returns undefined if the body is too large, or another one is open. `escapes` maps each
   * byte after a backslash to its meaning, or 0.
   */
  static open(body: Buffer, escapes: Uint8Array): KernelBody | undefined {
    if (isTaken || body.length > MAX_BODY_BYTES) return undefined;
    instance ??= new KernelInstance();
    isTaken = true;
    return new KernelBody(instance, body, escapes);
  }

  /** Closes the body; the next body may overwrite it. */
  close(): void {
    if (this.#isOpen) isTaken = false;
    this.#isOpen = false;
  }

  /**
   * Moves the text of a string that begins at `from` to `to`, at most `from - BLOCK_BYTES`. Returns the
   * offset at which the scan ended. That is the closing quote, an unsupported escape, or the end of the body
   * or a few bytes after it.
   */
  unquote(from: number, to: number): number {
    const limit = this.#at + this.bytes.length + 2;
    return this.#run.unquote(this.#at + from, this.#at + to, limit, this.#longer) - this.#at;
  }

  /** Offset after the text that `unquote` wrote. */
  get written(): number {
    return this.#run.unquotedEnd() - this.#at;
  }
}
