/** Search for stretches in the lines of a page, place by place; only for bytes in the line space (`line-memory.ts`). */
import { type BytePair, type PairFinder, ProgramSearch, pairFinder } from '../../base/kernels/line-memory.ts';
import { bytePatternProgram } from './byte-pattern-program.ts';
import { type BytePattern, patternOfNeedle, rarestPlaces } from './byte-patterns.ts';

/** A stretch with the pair of its bytes that is looked for, and where it was found last. */
interface Sought {
  readonly stretch: BytePattern;
  readonly pair: BytePair;
  /** Place of the pair's first byte in the stretch. */
  readonly offset: number;
  /** First place from where the search last began, `Infinity` where there is none. */
  next: number;
}

export class BytePatternSearch {
  readonly #sought: readonly Sought[];
  /** Looks for all of them at once. */
  readonly #together: ProgramSearch | undefined;
  #lines: Buffer | undefined;
  #finder: PairFinder | undefined;
  #from = 0;
  #to = 0;
  /** Bytes of what `find` found. */
  length = 0;

  /** @param stretches each of at least two bytes */
  constructor(stretches: readonly BytePattern[]) {
    const program = bytePatternProgram(stretches);
    this.#together = program && new ProgramSearch(program);
    this.#sought = stretches.map(stretch => {
      const [i, j] = rarestPlaces(stretch);
      const { bytes, others } = stretch;
      const pair = {
        distance: j - i,
        first: bytes[i],
        first2: others[i],
        second: bytes[j],
        second2: others[j],
      };
      return { stretch, pair, offset: i, next: -1 };
    });
  }

  /** First place of a stretch that lies in `from` to `to`, or -1; `length` tells how long it is. */
  find(lines: Buffer, from: number, to: number): number {
    if (this.#together !== undefined) {
      const found = this.#together.find(lines, from, to);
      this.length = this.#together.length;
      return found;
    }
    // Of several stretches those that were found farther on are not sought again.
    const goesOn = lines === this.#lines && to === this.#to && from >= this.#from;
    if (lines !== this.#lines) {
      this.#lines = lines;
      this.#finder = pairFinder(lines);
    }
    this.#from = from;
    this.#to = to;
    let first = Infinity;
    for (let i = 0; i < this.#sought.length; i++) {
      const sought = this.#sought[i];
      if (!goesOn || sought.next < from) sought.next = seek(sought, lines, this.#finder!, from, to);
      if (sought.next < first) {
        first = sought.next;
        this.length = sought.stretch.bytes.length;
      }
    }
    return first === Infinity ? -1 : first;
  }
}

function seek(
  { stretch, pair, offset }: Sought,
  lines: Buffer,
  finder: PairFinder,
  from: number,
  to: number,
): number {
  const { bytes, others } = stretch;
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

/** Of needles: a filter holds on to its own. */
const SEARCHES = new WeakMap<Buffer, BytePatternSearch>();

/** Search for a needle of at least two bytes. */
export function searchOfNeedle(needle: Buffer): BytePatternSearch {
  let search = SEARCHES.get(needle);
  if (search === undefined) {
    search = new BytePatternSearch([patternOfNeedle(needle)]);
    SEARCHES.set(needle, search);
  }
  return search;
}
