/**
 * Resolves the escapes of JSON strings in place, 16 bytes at a time: a line of a push that is itself JSON has a backslash
 * every eight bytes, and a loop over bytes spent a fifth of the CPU of a push on them.
 *
 * What a reader would get wrong: whole blocks are written, so the text must move down by at least a block: bytes that
 * are still to be read would be overwritten else. The decoder has that room, because the text of a line's time stands
 * before it and has been read. What the kernel does not know (`\u`, longer characters of a body that is not valid UTF-8)
 * ends it, and the caller goes on from there.
 */
import { isUtf8 } from 'node:buffer';
import { op, type RunningKernel, startKernel } from './wasm-module.ts';

/** How far a text must move down at least. */
export const BLOCK_BYTES = 16;
/** Larger bodies are read without the kernel, so that its memory, which never shrinks, stays small. */
const MAX_KERNEL_BODY_BYTES = 8 * 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

// The memory: where the last write ended, what escapes stand for, the body, and quotes that end every string in it.
const ENDED_AT = 0;
const ESCAPED_AT = 256;
const BODY_AT = 512;
const GUARD_BYTES = 64;

// Parameters and locals of the kernel.
const [AT, TO, LONGER, MASK, CODE, BLOCK] = [0, 1, 2, 3, 4, 5];

const BODY = [
  op.loop(
    ...[op.get(TO), op.get(AT), op.load128, op.tee(BLOCK), op.store128],
    // The bytes that need a look: quotes, backslashes, and those of longer characters where LONGER is 128.
    ...[op.get(BLOCK), op.i32(QUOTE), op.splat8, op.equal8],
    ...[op.get(BLOCK), op.i32(BACKSLASH), op.splat8, op.equal8, op.or128],
    ...[op.get(BLOCK), op.get(LONGER), op.splat8, op.and128, op.or128],
    ...[op.bitmask8, op.tee(MASK), op.eqz],
    op.when(
      ...[op.get(AT), op.i32(BLOCK_BYTES), op.add, op.set(AT)],
      ...[op.get(TO), op.i32(BLOCK_BYTES), op.add, op.set(TO)],
      op.branch(1),
    ),
    ...[op.get(MASK), op.ctz, op.tee(MASK), op.get(AT), op.add, op.set(AT)],
    ...[op.get(TO), op.get(MASK), op.add, op.set(TO)],
    ...[op.get(AT), op.load8(0), op.i32(BACKSLASH), op.equal],
    op.when(
      ...[op.get(AT), op.load8(1), op.load8(ESCAPED_AT), op.tee(CODE)],
      op.when(
        ...[op.get(TO), op.get(CODE), op.store8(0)],
        ...[op.get(TO), op.i32(1), op.add, op.set(TO)],
        ...[op.get(AT), op.i32(2), op.add, op.set(AT)],
        op.branch(2),
      ),
    ),
  ),
  ...[op.i32(ENDED_AT), op.get(TO), op.store32(0)],
  op.get(AT),
];

/** Bodies go through one memory, one after the other: a body is decoded in one go. */
let kernel: RunningKernel | undefined;
let tried = false;

/** A body in the kernel's memory; of use until the next one is opened. */
export class KernelBody {
  /** The body's copy: what is decoded. */
  readonly bytes: Buffer;
  private readonly call: RunningKernel['call'];
  private readonly ended: DataView;
  private readonly longer: number;

  private constructor({ call, reserve }: RunningKernel, body: Buffer) {
    const memory = reserve(BODY_AT + body.length + GUARD_BYTES);
    const end = BODY_AT + body.length;
    this.call = call;
    this.bytes = memory.subarray(BODY_AT, end);
    this.bytes.set(body);
    // Not at once a quote: a backslash that ends the body would take it for what it escapes.
    memory[end] = 0;
    memory.fill(QUOTE, end + 1, end + GUARD_BYTES);
    this.ended = new DataView(memory.buffer);
    this.longer = isUtf8(body) ? 0 : 0x80;
  }

  /** Undefined where the body is too large or the runtime has no kernels. `escapes`: see json-scanner. */
  static open(body: Buffer, escapes: Uint8Array): KernelBody | undefined {
    if (body.length > MAX_KERNEL_BODY_BYTES) return undefined;
    if (!tried) {
      tried = true;
      const maxBytes = BODY_AT + MAX_KERNEL_BODY_BYTES + GUARD_BYTES;
      kernel = startKernel({ parameters: 3, locals: { i32: 2, v128: 1 }, body: BODY }, maxBytes);
      kernel?.reserve(BODY_AT).set(escapes, ESCAPED_AT);
    }
    return kernel === undefined ? undefined : new KernelBody(kernel, body);
  }

  /**
   * Moves the text of a string that begins at `from` to `to`, at most `from - BLOCK_BYTES`. Returns the offset of what
   * ended it: its quote, what the kernel does not know, or the end of the body or a few bytes behind it.
   */
  unquote(from: number, to: number): number {
    return this.call(BODY_AT + from, BODY_AT + to, this.longer) - BODY_AT;
  }

  /** The offset behind the text that `unquote` wrote. */
  get written(): number {
    return this.ended.getInt32(ENDED_AT, true) - BODY_AT;
  }
}
