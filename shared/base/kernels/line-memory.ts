/**
 * Memory for lines that kernels work on where they lie (kernels/assembly/byte-search.ts, line-split.ts), so that finding bytes in lines needs no copy. The lines of the
 * page at hand are unpacked into the line space; lines that are kept lie in regions of their own (`line-pool.ts`). Lines that lie
 * elsewhere (changed by a stage, kept for a later turn, stored unpacked, above the space) are searched in JavaScript, with
 * the same answers.
 *
 *     0            lineBytes                        + 64 KiB
 *     | lines       | space to read past the end     | a bit for each byte of the lines of one page | scratch | room to join lines |
 *
 * What a reader would get wrong: the line space is one for the process, like the lines of a page, which are valid until the
 * next page's are looked at. Nothing here may be kept over an await.
 */
import { type Constant, KernelInstance, PAGE_BYTES } from '../kernels/kernels.ts';

/** As much as a decoder keeps of scratch: a page ends at 1 MiB, only a single line is longer. */
export const SPACE_BYTES = 8 * 1024 * 1024;
/** Past the end of lines the loops read up to 79 bytes, and as many as a pair is apart. */
const MARGIN_BYTES = 64 * 1024;
const BITS_BYTES = MARGIN_BYTES + SPACE_BYTES / 8;
/** What a loop is given beside lines, and what it answers. */
export const SCRATCH_BYTES = 64 * 1024;
/** What a search for many patterns may take (kernels/assembly/multi-search.ts). */
export const PROGRAM_BYTES = 32 * 1024;
/** Lines of a page that are joined from templates and columns, and what they are joined from. */
export const MAX_JOINED_BYTES = 2 * 1024 * 1024;
/** Templates and columns, what reading them takes (3.2 MiB at most), offsets, and a last line. */
const JOIN_BYTES = 2 * MAX_JOINED_BYTES + 4 * 1024 * 1024;
/** The largest distance of a pair. */
export const MAX_DISTANCE = 255;

interface LineKernels {
  findAny(from: number, to: number, program: number): number;
  multiFoundLength(): number;
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

/** Joins lines of pages (join-lines.ts). */
interface JoinKernel {
  readonly DIGITS_BYTES: Constant;
  openSplit(at: number, end: number, rows: number): number;
  laySplit(room: number): number;
  joinLines(to: number, offsets: number, out: number): number;
}

/** A memory and the kernels on it. */
interface Region {
  readonly buffer: ArrayBuffer;
  readonly code: LineKernels;
  readonly bitsAt: number;
  /** The bits; as words, for hot loops. */
  readonly bits: Int32Array;
  readonly scratch: Scratch;
  readonly programAt: number;
  /** Whose program lies there. */
  program: Uint8Array | undefined;
  readonly join: JoinRoom;
}

/** Memory beside lines to join them from templates and columns: valid until the next page's are joined. */
export interface JoinRoom {
  readonly code: JoinKernel;
  /** All of the memory, the lines too. */
  readonly memory: Buffer;
  /** Where the room begins and ends. */
  readonly at: number;
  readonly end: number;
}

/** Memory that loops are given beside lines: valid until somebody else asks for it. */
export interface Scratch {
  readonly code: Pick<LineKernels, 'splitLines'>;
  /** Where it starts, for the code. */
  readonly at: number;
  readonly bytes: Uint8Array;
  /** The same. */
  readonly words: Int32Array;
}

/** Regions by their memory: one that nobody has lines in goes with it. */
const REGIONS = new WeakMap<ArrayBufferLike, Region>();

/**
 * Memory of `bytes` for lines, none of which is taken from the machine before it is written; no more than SPACE_BYTES are
 * those of one page. Throws RangeError where there is no such memory.
 */
export function createLineMemory(bytes: number): Buffer<ArrayBuffer> {
  const lineBytes = Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
  const bitsAt = lineBytes + MARGIN_BYTES;
  const instance = new KernelInstance<LineKernels & JoinKernel>();
  instance.reserve(bitsAt + BITS_BYTES + SCRATCH_BYTES + PROGRAM_BYTES + JOIN_BYTES);
  const { run: code } = instance;
  const { buffer } = instance.bytes;
  const bits = new Int32Array(buffer, bitsAt, (SPACE_BYTES + MARGIN_BYTES) / 32);
  const at = bitsAt + BITS_BYTES;
  const words = new Int32Array(buffer, at, SCRATCH_BYTES / 4);
  const scratch = { code, at, bytes: new Uint8Array(buffer, at, SCRATCH_BYTES), words };
  const programAt = at + SCRATCH_BYTES;
  const joinAt = programAt + PROGRAM_BYTES;
  const join = { code, memory: instance.bytes, at: joinAt, end: joinAt + JOIN_BYTES };
  REGIONS.set(buffer, { buffer, code, bitsAt, bits, scratch, programAt, program: undefined, join });
  return Buffer.from(buffer, 0, lineBytes);
}

let space: Buffer<ArrayBuffer> | undefined;

/** For the decoder of lines: one for the thread. */
export function lineSpace(): Buffer<ArrayBuffer> {
  space ??= createLineMemory(SPACE_BYTES);
  return space;
}

/** The region looked at last: pages come from one of two. */
let latest: Region | undefined;

function regionOf({ buffer }: Buffer): Region | undefined {
  if (buffer === latest?.buffer) return latest;
  const region = REGIONS.get(buffer);
  if (region !== undefined) latest = region;
  return region;
}

/** True where pairs can be sought in the bytes. */
export function isInLineSpace(bytes: Buffer): boolean {
  return regionOf(bytes) !== undefined;
}

/** Scratch beside the lines; undefined for bytes that lie elsewhere. */
export function scratchBeside(bytes: Buffer): Scratch | undefined {
  return regionOf(bytes)?.scratch;
}

/** Room to join lines beside them; undefined for lines that lie elsewhere. */
export function joinRoomBeside(lines: Buffer): JoinRoom | undefined {
  return regionOf(lines)?.join;
}

/** Two bytes at a distance, each in one or two forms (the second may equal the first). */
export interface BytePair {
  /** At most MAX_DISTANCE. */
  readonly distance: number;
  readonly first: number;
  readonly first2: number;
  readonly second: number;
  readonly second2: number;
}

/** Searches one page's lines for pairs. */
export interface PairFinder {
  /** First place of the pair with `from <= place < to`, or -1. */
  find(from: number, to: number, pair: BytePair): number;
}

/** For bytes in memory for lines. */
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

/** `find` of a finder for one call. The bytes must be in memory for lines. */
export function findPair(bytes: Buffer, from: number, to: number, pair: BytePair): number {
  return pairFinder(bytes).find(from, to, pair);
}

/** Searches for what a program names, up to PROGRAM_BYTES of it; for bytes in memory for lines. */
export class ProgramSearch {
  readonly #program: Uint8Array;
  /** Bytes of what was found last. */
  length = 0;

  constructor(program: Uint8Array) {
    this.#program = program;
  }

  /** First place in `from` to `to` where something lies that ends there too, or -1. */
  find(lines: Buffer, from: number, to: number): number {
    const region = regionOf(lines)!;
    const { code, buffer, programAt } = region;
    if (region.program !== this.#program) {
      new Uint8Array(buffer).set(this.#program, programAt);
      region.program = this.#program;
    }
    const found = code.findAny(lines.byteOffset + from, lines.byteOffset + to, programAt);
    this.length = code.multiFoundLength();
    return found < 0 ? -1 : from + found;
  }
}

/** Which bytes are marked: three of them, and all below a fourth (0 for none). */
export interface MarkedBytes {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly below: number;
}

const NO_WORDS = new Int32Array(0);

/** Bytes marked at once where line follows line: a call of the loop costs as much as 600 bytes in it. */
const STRETCH_BYTES = 8192;

/** Whose marks are in the bits of the regions. */
let owner: LineMarks | undefined;

/**
 * Marks of the line at hand: after `marks.set(source, start, end)`, `nextMark(marks.words, marks.shift, at)` is the first
 * marked place from `at` on, or some place past the end where the line has none. Others who mark overwrite them.
 */
export class LineMarks {
  readonly #bytes: MarkedBytes;
  readonly #isMarked: Uint8Array;
  /** For lines elsewhere; grows to an eighth of the longest. */
  #ownWords = new Int32Array(64);
  // What is marked now. A page's lines are a buffer of their own, wherever they lie: never the same for two pages.
  #source: Buffer | undefined;
  #from = 0;
  #to = 0;
  words: Int32Array = NO_WORDS;
  /** What turns a place in the source into the number of its bit. */
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
      this.#markElsewhere(source, start, end);
      return;
    }
    const follows =
      source === this.#source && owner === this && start - this.#to < STRETCH_BYTES && start >= this.#from;
    const to = follows ? Math.max(end, Math.min(start + STRETCH_BYTES, source.length)) : end;
    const { a, b, c, below } = this.#bytes;
    const { code, bits, bitsAt } = region;
    // The bits are those of one page, which may lie anywhere in the region.
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

  #markElsewhere(source: Buffer, start: number, end: number): void {
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

/** First marked place from `at` on, which must not be past the end of the line that was marked. */
export function nextMark(words: Int32Array, shift: number, at: number): number {
  const place = at + shift;
  let word = place >> 5;
  let bits = words[word] & (-1 << (place & 31));
  while (bits === 0) bits = words[++word];
  return (word << 5) + 31 - Math.clz32(bits & -bits) - shift;
}
