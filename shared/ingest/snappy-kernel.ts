/**
 * The elements of a snappy block, decoded with copies of 16 bytes: what JavaScript copies 8 bytes at a time, with checks of
 * bounds for each. Input and output go through the kernel's memory, which costs a tenth of what is saved.
 *
 * What a reader would get wrong: copies go in whole steps and may write up to 15 bytes past their end, into what later
 * elements overwrite or into the slack behind the output. So each element is checked against what is left of input and
 * output before it is copied.
 */
import { type Code, op, type RunningKernel, startKernel } from './wasm-module.ts';

/** Larger blocks are decoded without the kernel, so that its memory, which never shrinks, stays small. */
const MAX_KERNEL_BYTES = 8 * 1024 * 1024;
/** Behind input and output: loads and stores run past the end. */
const SLACK_BYTES = 64;
const INPUT_AT = 64;
/** Literals of up to 60 bytes have their size in the tag; above it the tag tells in how many bytes the size follows. */
const MAX_SHORT_LITERAL = 60;

// Parameters (the output begins at START) and locals of the kernel. DONE is where the next byte goes.
const [AT, END, START, DONE, LIMIT, TAG, SIZE, OFFSET, FROM, TO] = Array.from({ length: 10 }, (_, i) => i);

const move = (local: number, by: readonly Code[]): readonly Code[] => [
  op.get(local),
  ...by,
  op.add,
  op.set(local),
];
/** Answers 0, which is no place of the output, where the condition on the stack holds. */
const failIf: Code = op.when(op.i32(0), op.answer);
/** Where fewer than so many bytes of the input are left. */
const failUnlessLeft = (bytes: readonly Code[]): readonly Code[] => [
  ...bytes,
  ...[op.get(END), op.get(AT), op.subtract, op.greater, failIf],
];
const failUnlessRoom: readonly Code[] = [
  op.get(SIZE),
  ...[op.get(LIMIT), op.get(DONE), op.subtract, op.greater, failIf],
];

/** Copies SIZE bytes from FROM to DONE in steps of so many bytes, and moves DONE behind them. */
function copy(step: number, load: Code, store: Code): readonly Code[] {
  return [
    ...[op.get(DONE), op.set(TO)],
    ...move(DONE, [op.get(SIZE)]),
    op.loop(
      ...[op.get(TO), op.get(FROM), load, store],
      ...move(FROM, [op.i32(step)]),
      ...[op.get(TO), op.i32(step), op.add, op.tee(TO), op.get(DONE), op.less, op.branchIf(0)],
    ),
  ];
}

const WIDE_COPY = copy(16, op.load128, op.store128);

const LITERAL: readonly Code[] = [
  ...[op.get(TAG), op.i32(2), op.shiftRight, op.i32(1), op.add, op.tee(SIZE)],
  ...[op.i32(MAX_SHORT_LITERAL), op.greater],
  op.when(
    // The bytes of the size, 1 to 4; above them other bytes were loaded.
    ...[op.get(SIZE), op.i32(MAX_SHORT_LITERAL), op.subtract, op.set(TAG)],
    ...failUnlessLeft([op.get(TAG)]),
    ...[op.get(AT), op.load32, op.i32(32), op.get(TAG), op.i32(3), op.shiftLeft, op.subtract, op.set(TO)],
    ...[op.get(TO), op.shiftLeft, op.get(TO), op.shiftRight, op.tee(SIZE)],
    // One less than the size, so that the largest does not become 0.
    ...[op.get(LIMIT), op.get(DONE), op.subtract, op.atLeast, failIf],
    ...move(SIZE, [op.i32(1)]),
    ...move(AT, [op.get(TAG)]),
  ),
  ...failUnlessLeft([op.get(SIZE)]),
  ...failUnlessRoom,
  ...[op.get(AT), op.set(FROM)],
  ...WIDE_COPY,
  ...move(AT, [op.get(SIZE)]),
];

const REPEAT: readonly Code[] = [
  ...[op.get(TAG), op.i32(2), op.shiftRight, op.i32(1), op.add, op.set(SIZE)],
  ...[op.get(TAG), op.i32(3), op.and, op.tee(FROM), op.i32(1), op.equal],
  op.either(
    [
      ...failUnlessLeft([op.i32(1)]),
      ...[op.get(TAG), op.i32(2), op.shiftRight, op.i32(7), op.and, op.i32(4), op.add, op.set(SIZE)],
      ...[op.get(TAG), op.i32(5), op.shiftRight, op.i32(8), op.shiftLeft],
      ...[op.get(AT), op.load8(0), op.or, op.set(OFFSET)],
      ...move(AT, [op.i32(1)]),
    ],
    [
      ...[op.get(FROM), op.i32(2), op.equal],
      op.either(
        [
          ...failUnlessLeft([op.i32(2)]),
          ...[op.get(AT), op.load16, op.set(OFFSET)],
          ...move(AT, [op.i32(2)]),
        ],
        [
          ...failUnlessLeft([op.i32(4)]),
          ...[op.get(AT), op.load32, op.set(OFFSET)],
          ...move(AT, [op.i32(4)]),
        ],
      ),
    ],
  ),
  ...[op.get(OFFSET), op.eqz, failIf],
  ...[op.get(OFFSET), op.get(DONE), op.get(START), op.subtract, op.greater, failIf],
  ...failUnlessRoom,
  ...[op.get(DONE), op.get(OFFSET), op.subtract, op.set(FROM)],
  // A copy that overlaps itself repeats a pattern: its steps may not be longer than that.
  ...[op.get(OFFSET), op.i32(16), op.atLeast],
  op.either(WIDE_COPY, [
    ...[op.get(OFFSET), op.i32(8), op.atLeast],
    op.either(copy(8, op.load64, op.store64), copy(1, op.load8(0), op.store8(0))),
  ]),
];

const BODY: readonly Code[] = [
  op.loop(
    ...[op.get(AT), op.get(END), op.less],
    op.when(
      ...[op.get(AT), op.load8(0), op.set(TAG)],
      ...move(AT, [op.i32(1)]),
      ...[op.get(TAG), op.i32(3), op.and],
      op.either(REPEAT, LITERAL),
      op.branch(1),
    ),
  ),
  op.get(DONE),
];

let kernel: RunningKernel | undefined;
let tried = false;

/**
 * Decodes the elements of `body` from `from` on into `out`. True where they yield exactly `length` bytes, false where they
 * do not, undefined where the kernel cannot say: the block is too large, or the runtime has no kernels.
 */
export function decodeInKernel(
  body: Uint8Array,
  from: number,
  out: Buffer,
  length: number,
): boolean | undefined {
  if (body.length > MAX_KERNEL_BYTES || length > MAX_KERNEL_BYTES) return undefined;
  if (!tried) {
    tried = true;
    const maxBytes = INPUT_AT + 2 * (MAX_KERNEL_BYTES + SLACK_BYTES);
    kernel = startKernel({ parameters: 5, locals: { i32: 5, v128: 0 }, body: BODY }, maxBytes);
  }
  if (kernel === undefined) return undefined;
  const end = INPUT_AT + body.length - from;
  const start = end + SLACK_BYTES;
  const memory = kernel.reserve(start + length + SLACK_BYTES);
  memory.set(body.subarray(from), INPUT_AT);
  if (kernel.call(INPUT_AT, end, start, start, start + length) !== start + length) return false;
  memory.copy(out, 0, start, start + length);
  return true;
}
