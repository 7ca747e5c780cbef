/**
 * Host side of assembly/snappy.ts: decodes the elements of a snappy block. Copying input and output through
 * the kernel's memory costs a tenth of the time it saves.
 */
import { KernelInstance } from './kernels.ts';

/**
 * Maximum block size; the caller decodes larger blocks. The kernel's memory never shrinks, so this bounds it.
 */
const MAX_BYTES = 8 * 1024 * 1024;
/** Padding after input and output, because loads and stores run past their end. */
const SLACK_BYTES = 64;
const INPUT_AT = 4096;

interface SnappyKernel {
  decodeSnappy(at: number, end: number, start: number, limit: number): number;
}

let instance: KernelInstance<SnappyKernel> | undefined;

/**
 * Decodes the elements of `body` from `from` on into `out`. Returns true if they yield exactly `length`
 * bytes, false if not, and undefined if the block is too large.
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
