/**
 * The elements of a snappy block: the host's side of assembly/snappy.ts. Input and output go through the kernel's memory, which
 * costs a tenth of what is saved.
 */
import { KernelInstance } from './kernels.ts';

/** Larger blocks are left to the caller, so that the kernel's memory, which never shrinks, stays small. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Behind input and output: loads and stores run past the end. */
const SLACK_BYTES = 64;
const INPUT_AT = 4096;

interface SnappyKernel {
  decodeSnappy(at: number, end: number, start: number, limit: number): number;
}

let instance: KernelInstance<SnappyKernel> | undefined;

/**
 * Decodes the elements of `body` from `from` on into `out`. True where they yield exactly `length` bytes, false where they
 * do not, undefined where the block is too large.
 */
export function decodeInKernel(
  body: Uint8Array,
  from: number,
  out: Buffer,
  length: number,
): boolean | undefined {
  if (body.length > MAX_BYTES || length > MAX_BYTES) return undefined;
  instance ??= new KernelInstance();
  const end = INPUT_AT + body.length - from;
  const start = end + SLACK_BYTES;
  const limit = start + length;
  instance.reserve(limit + SLACK_BYTES);
  const { bytes, run } = instance;
  bytes.set(body.subarray(from), INPUT_AT);
  if (run.decodeSnappy(INPUT_AT, end, start, limit) !== limit) return false;
  bytes.copy(out, 0, start, limit);
  return true;
}
