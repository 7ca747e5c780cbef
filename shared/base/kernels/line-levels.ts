/** Host side of assembly/line-levels.ts: detects the levels of lines. */
import { copyBytes } from '../model/copy-bytes.ts';
import { type Constant, KernelInstance } from './kernels.ts';

/** Maximum bytes of lines per call, unless a single line is longer. */
const MAX_CALL_BYTES = 1024 * 1024;
/** Size above which the memory is dropped after use; only a long line needs more. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** Padding after the lines, because loads of 16 bytes may begin at the last byte. */
const SLACK_BYTES = 64;
const PADDING = 16;

/**
 * Field names that may hold a level, with exact and with lower-case ASCII letters. An earlier field wins.
 */
interface LevelNames {
  readonly exact: readonly Uint8Array[];
  readonly folded: readonly Uint8Array[];
}

interface LevelKernel {
  readonly LEVEL_FIELDS: Constant;
  readonly LINE_LEVELS: Constant;
  readonly LINE_SPANS: Constant;
  readonly MAX_LEVEL_ROWS: Constant;
  detectLevels(rows: number, lines: number, maxDepth: number): void;
}

/** Kernel with field names in its memory, and the offset after them for lines. */
interface Loaded {
  readonly kernel: KernelInstance<LevelKernel>;
  readonly names: LevelNames;
  readonly linesAt: number;
}

let loaded: Loaded | undefined;

/**
 * Returns the level code (an index of DETECTED_LEVELS) of each selected line.
 *
 * @param starts, ends Offsets in `bytes` of all lines
 * @param which Numbers of the lines to read; adjacent lines should follow each other
 * @param maxDepth Maximum nesting depth of objects to search, 1 for the outermost; 0 or less is unlimited
 */
export function levelsOfLines(
  {
    bytes,
    starts,
    ends,
  }: { readonly bytes: Uint8Array; readonly starts: Uint32Array; readonly ends: Uint32Array },
  which: Uint32Array,
  names: LevelNames,
  maxDepth: number,
): Uint8Array {
  const levels = new Uint8Array(which.length);
  if (loaded?.names !== names) loaded = load(names);
  const { kernel, linesAt } = loaded;
  // Read once: reading a constant of the kernel is a call into the engine.
  const spansAt = kernel.run.LINE_SPANS.value >>> 2;
  const levelsAt = kernel.run.LINE_LEVELS.value;
  const maxRows = kernel.run.MAX_LEVEL_ROWS.value;
  for (let i = 0; i < which.length; ) {
    const first = i;
    let from = starts[which[i]];
    let to = ends[which[i]];
    for (i++; i < which.length && i - first < maxRows; i++) {
      const start = Math.min(from, starts[which[i]]);
      const end = Math.max(to, ends[which[i]]);
      if (end - start > MAX_CALL_BYTES) break;
      from = start;
      to = end;
    }
    kernel.reserve(linesAt + to - from + SLACK_BYTES);
    copyBytes(bytes.subarray(from, to), kernel.bytes, linesAt);
    for (let j = first; j < i; j++) {
      kernel.words[spansAt + 2 * (j - first)] = starts[which[j]] - from;
      kernel.words[spansAt + 2 * (j - first) + 1] = ends[which[j]] - from;
    }
    kernel.run.detectLevels(i - first, linesAt, maxDepth > 0 ? maxDepth : -1);
    levels.set(kernel.bytes.subarray(levelsAt, levelsAt + i - first), first);
  }
  if (kernel.bytes.length > MAX_KEPT_BYTES) loaded = undefined;
  return levels;
}

/** Returns the memory that the kernel uses, without the lines, bytes. */
export function levelKernelBytes(names: LevelNames): number {
  if (loaded?.names !== names) loaded = load(names);
  return loaded.linesAt;
}

/** Writes the field names to the memory, in the layout of assembly/line-levels.ts. */
function load(names: LevelNames): Loaded {
  const kernel = loaded?.kernel ?? new KernelInstance<LevelKernel>();
  const at = kernel.run.LEVEL_FIELDS.value;
  const count = names.exact.length;
  const entries = new Uint32Array(513 + 3 * count);
  const texts: Uint8Array[] = [];
  let textAt = at + entries.byteLength;
  const lay = (text: Uint8Array) => {
    texts.push(text);
    textAt += text.length;
    return textAt - text.length;
  };
  entries[512] = count;
  for (const [i, exact] of names.exact.entries()) {
    const folded = names.folded[i];
    const bit = 1 << Math.min(exact.length, 31);
    entries[exact[0]] |= bit;
    entries[256 + folded[0]] |= bit;
    entries[256 + upper(folded[0])] |= bit;
    entries.set([exact.length, lay(exact), lay(folded)], 513 + 3 * i);
  }
  const linesAt = textAt + PADDING;
  kernel.reserve(linesAt);
  kernel.words.set(entries, at >>> 2);
  kernel.bytes.set(Buffer.concat(texts), at + entries.byteLength);
  return { kernel, names, linesAt };
}

function upper(byte: number): number {
  return byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte;
}
