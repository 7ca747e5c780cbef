/**
 * Searches the lines of a page for byte patterns, match by match. Works only on bytes in line memory
 * (`line-memory.ts`).
 */
import { type BytePair, type PairFinder, ProgramSearch, pairFinder } from '../../base/kernels/line-memory.ts';
import { type BytePattern, rarestOffsets } from '../../base/model/byte-pattern.ts';
import { bytePatternProgram } from './byte-pattern-program.ts';
import { patternOfNeedle } from './byte-patterns.ts';

/** Byte pattern, the pair of its bytes that is searched for, and its latest match. */
interface PatternCursor {
  readonly pattern: BytePattern;
  readonly pair: BytePair;
  /** Offset of the pair's first byte in the pattern. */
  readonly offset: number;
  /** First match from the last search position, `Infinity` if there is none. */
  next: number;
}

export class BytePatternSearch {
  readonly #sought: readonly PatternCursor[];
  /** Searches for all patterns in one pass. */
  readonly #together: ProgramSearch | undefined;
  #lines: Buffer | undefined;
  #finder: PairFinder | undefined;
  #from = 0;
  #to = 0;
  /** Length of the latest match of `find`, bytes. */
  length = 0;

  /** @param patterns Patterns of at least two bytes each */
  constructor(patterns: readonly BytePattern[]) {
    const program = bytePatternProgram(patterns);
    this.#together = program && new ProgramSearch(program);
    this.#sought = patterns.map(pattern => {
      const [i, j] = rarestOffsets(pattern);
      const { bytes, others } = pattern;
      const pair = {
        distance: j - i,
        first: bytes[i],
        first2: others[i],
        second: bytes[j],
        second2: others[j],
      };
      return { pattern, pair, offset: i, next: -1 };
    });
  }

  /** Returns the offset of the first match within `from` to `to`, or -1; `length` is its length. */
  find(lines: Buffer, from: number, to: number): number {
    if (this.#together !== undefined) {
      const found = this.#together.find(lines, from, to);
      this.length = this.#together.length;
      return found;
    }
    // If there are several patterns, those whose known match is after `from` are not searched again.
    const isContinued = lines === this.#lines && to === this.#to && from >= this.#from;
    if (lines !== this.#lines) {
      this.#lines = lines;
      this.#finder = pairFinder(lines);
    }
    this.#from = from;
    this.#to = to;
    let first = Infinity;
    for (let i = 0; i < this.#sought.length; i++) {
      const sought = this.#sought[i];
      if (!isContinued || sought.next < from) sought.next = seek(sought, lines, this.#finder!, from, to);
      if (sought.next < first) {
        first = sought.next;
        this.length = sought.pattern.bytes.length;
      }
    }
    return first === Infinity ? -1 : first;
  }
}

function seek(
  { pattern, pair, offset }: PatternCursor,
  lines: Buffer,
  finder: PairFinder,
  from: number,
  to: number,
): number {
  const { bytes, others } = pattern;
  const length = bytes.length;
  const last = to - length + offset;
  let at = from + offset;
  while (at <= last) {
    at = finder.find(at, last + 1, pair);
    if (at < 0) return Infinity;
    const start = at - offset;
    let i = 0;
    let byte = 0;
    while (i < length && ((byte = lines[start + i]) === bytes[i] || byte === others[i])) i++;
    if (i === length) return start;
    at++;
  }
  return Infinity;
}

/** Searches by needle; each search lives as long as its filter's needle. */
const SEARCHES = new WeakMap<Buffer, BytePatternSearch>();

/** Returns the search for a needle of at least two bytes. */
export function searchOfNeedle(needle: Buffer): BytePatternSearch {
  let search = SEARCHES.get(needle);
  if (search === undefined) {
    search = new BytePatternSearch([patternOfNeedle(needle)]);
    SEARCHES.set(needle, search);
  }
  return search;
}
