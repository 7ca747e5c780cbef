/**
 * Line memory: kernels search lines in place, without a copy (kernels/assembly/byte-search.ts,
 * line-split.ts). Lines of the current page are unpacked into the line space; cached lines are in separate
 * regions (`line-pool.ts`). All other lines are searched in JavaScript, with the same results. Those are
 * lines that a stage changed, copies, lines stored uncompressed, and lines larger than the space.
 *
 *     0            lineBytes                        + 64 KiB
 *     | lines       | padding for reads              | a bit for each byte of the lines of one page | scratch | join area | captures |
 *
 * Pitfall: a thread has only one line space. Its lines are valid until the lines of the next page are read.
 * Do not use them after an await.
 */

import { type Constant, KernelInstance, MEMORY_PAGE_BYTES } from '../kernels/kernels.ts';
import { PAGE_MAX_ROWS } from '../model/page.ts';

/**
 * Size of the line space: as much scratch memory as a decoder uses. A page ends at 1 MiB; only a single line
 * can be longer.
 */
export const SPACE_BYTES = 8 * 1024 * 1024;
/** Padding after lines: loops read up to 79 bytes past the end, plus the distance of a pair. */
const MARGIN_BYTES = 64 * 1024;
const BITS_BYTES = MARGIN_BYTES + SPACE_BYTES / 8;
/** Size of the scratch area for inputs and outputs of loops. */
export const SCRATCH_BYTES = 64 * 1024;
/** Maximum program size of a search (kernels/assembly/multi-search.ts, set-search.ts). */
export const PROGRAM_BYTES = 32 * 1024;
/** Maximum size of lines joined from templates and columns, and of those inputs. */
export const MAX_JOINED_BYTES = 2 * 1024 * 1024;
/** Size of the join area: templates and columns, up to 6.5 MiB for the reader, times, offsets, and a last line. */
const JOIN_BYTES = 2 * MAX_JOINED_BYTES + 8 * 1024 * 1024 + 8 * PAGE_MAX_ROWS;

interface LineKernels {
  findAny(from: number, to: number, program: number): number;
  multiFoundLength(): number;
  findSets(from: number, to: number, program: number, sets: number, length: number): number;
  findExactPair(from: number, to: number, distance: number, a: number, b: number): number;
  findPair(from: number, to: number, distance: number, a: number, a2: number, b: number, b2: number): number;
  markBytes(from: number, to: number, out: number, a: number, b: number, c: number, below: number): void;
  splitLines(
    rows: number,
    rowsEnd: number,
    lead: number,
    program: number,
    programEnd: number,
    out: number,
  ): void;
}

/** See kernels/assembly/capture-numbers.ts. */
interface CaptureKernel {
  readonly CAPTURE_TABLE_BYTES: Constant;
  readonly CAPTURE_TEXTS: Constant;
  readonly MAX_CAPTURE_NUMBERS: Constant;
  captureStarts(table: number, out: number): number;
  clearCaptures(table: number): void;
  numberCaptures(
    rows: number,
    rowsEnd: number,
    lead: number,
    stops: number,
    steps: number,
    capture: number,
    before: number,
    table: number,
    out: number,
  ): void;
}

/** Kernels whose tables are in the join area; see join-lines.ts, split-search.ts and row-hash.ts. */
interface JoinKernel {
  readonly DIGITS_BYTES: Constant;
  readonly MAX_SOUGHT: Constant;
  readonly SOUGHT_BYTES: Constant;
  readonly SOUGHT_OTHERS: Constant;
  openSplit(at: number, end: number, rows: number): number;
  laySplit(at: number, times: number, base: number): number;
  joinLines(from: number, to: number, offsets: number, out: number, wanted: number): number;
  packLines(offsets: number, out: number, limit: number): number;
  searchBytes(): number;
  seek(text: number, bytes: number, first: number, second: number): void;
  markRows(wanted: number, room: number): void;
  hashLines(
    rows: number,
    lines: number,
    offsets: number,
    times: number,
    hashes: number,
    baseNs: bigint,
  ): void;
}

/** Memory with its kernels. */
interface KernelMemory {
  readonly buffer: ArrayBuffer;
  readonly code: LineKernels;
  readonly bitsAt: number;
  /** Bit marks as words, for hot loops. */
  readonly bits: Int32Array;
  readonly scratch: Scratch;
  readonly programAt: number;
  /** Program that is loaded at `programAt`. */
  program: Uint8Array | undefined;
  readonly join: JoinArea;
}

/** Join area next to lines; its content is valid until the next page is joined or hashed. */
export interface JoinArea {
  readonly code: JoinKernel;
  /** View of the whole memory, including the lines. */
  readonly memory: Buffer;
  /** Start and end of the join area. */
  readonly at: number;
  readonly end: number;
}

/** Scratch area next to lines; its content is valid until another caller uses it. */
export interface Scratch {
  readonly code: Pick<LineKernels, 'splitLines'> & CaptureKernel;
  /** Address of the area in the kernel's memory. */
  readonly at: number;
  readonly bytes: Uint8Array;
  /** View of the scratch area, as words. */
  readonly words: Int32Array;
  /** Address of the table of captures. */
  readonly capturesAt: number;
  /** Owner of the content of that table. */
  captures: object | undefined;
}

/** Regions by their memory. A region is collected when no lines refer to its memory. */
const REGIONS = new WeakMap<ArrayBufferLike, KernelMemory>();

/**
 * Allocates line memory. The operating system provides it only when it is written. One page may use at most
 * SPACE_BYTES of it. Throws RangeError if the memory cannot be reserved.
 */
export function createLineMemory(bytes: number): Buffer<ArrayBuffer> {
  const lineBytes = Math.ceil(bytes / MEMORY_PAGE_BYTES) * MEMORY_PAGE_BYTES;
  const bitsAt = lineBytes + MARGIN_BYTES;
  const instance = new KernelInstance<LineKernels & JoinKernel & CaptureKernel>();
  const { run: code } = instance;
  const tableBytes = code.CAPTURE_TABLE_BYTES.value;
  instance.reserve(bitsAt + BITS_BYTES + SCRATCH_BYTES + PROGRAM_BYTES + JOIN_BYTES + tableBytes);
  const { buffer } = instance.bytes;
  const bits = new Int32Array(buffer, bitsAt, (SPACE_BYTES + MARGIN_BYTES) / 32);
  const at = bitsAt + BITS_BYTES;
  const words = new Int32Array(buffer, at, SCRATCH_BYTES / 4);
  const programAt = at + SCRATCH_BYTES;
  const joinAt = programAt + PROGRAM_BYTES;
  const scratchBytes = new Uint8Array(buffer, at, SCRATCH_BYTES);
  const scratch = {
    code,
    at,
    bytes: scratchBytes,
    words,
    capturesAt: joinAt + JOIN_BYTES,
    captures: undefined,
  };
  const join = { code, memory: instance.bytes, at: joinAt, end: joinAt + JOIN_BYTES };
  REGIONS.set(buffer, { buffer, code, bitsAt, bits, scratch, programAt, program: undefined, join });
  return Buffer.from(buffer, 0, lineBytes);
}

let space: Buffer<ArrayBuffer> | undefined;

/** Returns the line space of this thread, for the decoder of lines. */
export function lineSpace(): Buffer<ArrayBuffer> {
  space ??= createLineMemory(SPACE_BYTES);
  return space;
}

/** Region of the latest lookup. Pages alternate between two regions only. */
let latest: KernelMemory | undefined;

function regionOf({ buffer }: Buffer): KernelMemory | undefined {
  if (buffer === latest?.buffer) return latest;
  const region = REGIONS.get(buffer);
  if (region !== undefined) latest = region;
  return region;
}

/** Allows the collection of a line memory that has no lines any more. */
export function releaseLineMemory({ buffer }: Buffer): void {
  if (latest?.buffer === buffer) latest = undefined;
  // The marks may belong to a query that has ended.
  if (owner?.words.buffer === buffer) owner = undefined;
}

/** Returns whether kernels can search these bytes. */
export function isInLineSpace(bytes: Buffer): boolean {
  return regionOf(bytes) !== undefined;
}

/** Returns the scratch area next to the lines, or undefined for bytes outside line memory. */
export function scratchOf(bytes: Buffer): Scratch | undefined {
  return regionOf(bytes)?.scratch;
}

/** Returns the join area next to the lines, or undefined for bytes outside line memory. */
export function joinAreaOf(lines: Buffer): JoinArea | undefined {
  return regionOf(lines)?.join;
}

/**
 * Two bytes at a distance, each with one or two alternatives. The second alternative may equal the first.
 */
export interface BytePair {
  /** Offset of the second byte from the first, at most MAX_DISTANCE (model/byte-pattern.ts). */
  readonly distance: number;
  readonly first: number;
  readonly first2: number;
  readonly second: number;
  readonly second2: number;
}

/** Searches the lines of one page for pairs. */
export interface PairFinder {
  /** Returns the first offset of the pair with `from <= offset < to`, or -1. */
  find(from: number, to: number, pair: BytePair): number;
}

/** Creates a finder for bytes in line memory. */
export function pairFinder(bytes: Buffer): PairFinder {
  return new RegionFinder(bytes);
}

class RegionFinder implements PairFinder {
  readonly #code: LineKernels;
  readonly #at: number;

  constructor(bytes: Buffer) {
    this.#code = regionOf(bytes)!.code;
    this.#at = bytes.byteOffset;
  }

  find(from: number, to: number, { distance, first, first2, second, second2 }: BytePair): number {
    if (from >= to) return -1;
    const start = this.#at + from;
    const end = this.#at + to;
    const isExact = first === first2 && second === second2;
    const found = isExact
      ? this.#code.findExactPair(start, end, distance, first, second)
      : this.#code.findPair(start, end, distance, first, first2, second, second2);
    return found < 0 ? -1 : from + found;
  }
}

/** Runs one search, for bytes in line memory. */
export function findPair(bytes: Buffer, from: number, to: number, pair: BytePair): number {
  return pairFinder(bytes).find(from, to, pair);
}

/** Searches bytes in line memory for the patterns of a program, which has up to PROGRAM_BYTES. */
export class ProgramSearch {
  readonly #program: Uint8Array;
  /** Length of the latest match, bytes. */
  length = 0;

  constructor(program: Uint8Array) {
    this.#program = program;
  }

  /** Returns the offset of the first match within `from` to `to`, or -1. */
  find(lines: Buffer, from: number, to: number): number {
    const { code, programAt } = loaded(lines, this.#program);
    const found = code.findAny(lines.byteOffset + from, lines.byteOffset + to, programAt);
    this.length = code.multiFoundLength();
    return found < 0 ? -1 : from + found;
  }
}

/** Searches bytes in line memory for a sequence of bytes, each of one set (kernels/assembly/set-search.ts). */
export class SetSearch {
  readonly #program: Uint8Array;
  readonly #sets: number;
  /** Length of a match, bytes: that of the sequence. */
  readonly length: number;

  /** @param sets number of different sets in the program */
  constructor(program: Uint8Array, sets: number, length: number) {
    this.#program = program;
    this.#sets = sets;
    this.length = length;
  }

  /** Returns the offset of the first match within `from` to `to`, or -1. */
  find(lines: Buffer, from: number, to: number): number {
    const end = to - this.length + 1;
    if (from >= end) return -1;
    const { code, programAt } = loaded(lines, this.#program);
    const start = lines.byteOffset;
    const found = code.findSets(start + from, start + end, programAt, this.#sets, this.length);
    return found < 0 ? -1 : from + found;
  }
}

/** Returns the region of lines, with a program in its memory. */
function loaded(lines: Buffer, program: Uint8Array): KernelMemory {
  const region = regionOf(lines)!;
  if (region.program !== program) {
    new Uint8Array(region.buffer).set(program, region.programAt);
    region.program = program;
  }
  return region;
}

/** Bytes to mark: three values, and all values below a fourth (0 for none). */
interface MarkedBytes {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly below: number;
}

const NO_WORDS = new Int32Array(0);

/** Bytes marked per call when lines are read in sequence. A call costs as much as marking 600 bytes. */
const BATCH_BYTES = 8192;

/** LineMarks whose bits are in the regions. */
let owner: LineMarks | undefined;

/**
 * Marks bytes of the current line. After `marks.set(source, start, end)`, `nextMark(marks.words, marks.shift,
 * at)` is the first marked offset from `at` on. If the line has none, it is an offset after its end. Other
 * LineMarks overwrite the marks.
 */
export class LineMarks {
  readonly #bytes: MarkedBytes;
  readonly #isMarked: Uint8Array;
  /** Marks of lines outside line memory; grows to an eighth of the longest line. */
  #ownWords = new Int32Array(64);
  // Range that is marked now. Each page has a separate buffer object for its lines, so buffers of two pages
  // are never equal.
  #source: Buffer | undefined;
  #from = 0;
  #to = 0;
  words: Int32Array = NO_WORDS;
  /** Difference between the bit number and the offset in the source. */
  shift = 0;

  constructor(bytes: MarkedBytes) {
    const { a, b, c, below } = bytes;
    this.#bytes = bytes;
    this.#isMarked = Uint8Array.from({ length: 256 }, (_, byte) =>
      byte === a || byte === b || byte === c || byte < below ? 1 : 0,
    );
  }

  set(source: Buffer, start: number, end: number): void {
    if (source !== this.#source || start < this.#from || end > this.#to || owner !== this) {
      this.#mark(source, start, end);
    }
  }

  #mark(source: Buffer, start: number, end: number): void {
    const region = regionOf(source);
    if (region === undefined) {
      this.#source = undefined;
      this.#markOutside(source, start, end);
      return;
    }
    const follows =
      source === this.#source && owner === this && start - this.#to < BATCH_BYTES && start >= this.#from;
    const to = follows ? Math.max(end, Math.min(start + BATCH_BYTES, source.length)) : end;
    const { a, b, c, below } = this.#bytes;
    const { code, bits, bitsAt } = region;
    // The bits cover one page, which may start anywhere in the region.
    const first = source.byteOffset & ~31;
    const shift = source.byteOffset - first;
    const from = (start + source.byteOffset) & ~31;
    code.markBytes(from, to + source.byteOffset + 1, bitsAt - (first >> 3), a, b, c, below);
    bits[(to + shift) >> 5] |= 1 << ((to + shift) & 31);
    this.words = bits;
    this.shift = shift;
    this.#source = source;
    this.#from = start;
    this.#to = to;
    owner = this;
  }

  #markOutside(source: Buffer, start: number, end: number): void {
    const needed = ((end - start) >> 5) + 1;
    if (this.#ownWords.length < needed) this.#ownWords = new Int32Array(2 * needed);
    const words = this.#ownWords;
    const isMarked = this.#isMarked;
    for (let word = 0, at = start; word < needed; word++) {
      let bits = 0;
      const stop = Math.min(at + 32, end);
      for (let bit = 0; at < stop; bit++) bits |= isMarked[source[at++]] << bit;
      words[word] = bits;
    }
    words[(end - start) >> 5] |= 1 << ((end - start) & 31);
    this.words = words;
    this.shift = -start;
  }
}

/** Returns the first marked offset from `at` on, which must not be after the end of the marked line. */
export function nextMark(words: Int32Array, shift: number, at: number): number {
  const bit = at + shift;
  let word = bit >> 5;
  let bits = words[word] & (-1 << (bit & 31));
  while (bits === 0) bits = words[++word];
  return (word << 5) + 31 - Math.clz32(bits & -bits) - shift;
}
