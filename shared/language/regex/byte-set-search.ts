/**
 * Searches for parts of a regular expression that have no fixed text, such as `[a-f]{3}[0-9]{2}`: a sequence of bytes,
 * each of one set of ASCII characters. A search of a page for it takes a tenth of the time of V8.
 */
import { SetSearch } from '../../base/kernels/line-memory.ts';
import { type CharSet, equalSets } from './char-set.ts';
import { bitsOfSet, unrolled } from './literals.ts';
import { partsOf, type RegexNode } from './syntax.ts';

/** Maximum bytes of a sequence. More would hardly exclude any other line. */
const MAX_BYTES = 8;
/**
 * Minimum selectivity of a sequence that is only a part of the expression, bits. In most lines with a match of a less
 * selective one, each line would be tested separately.
 */
const MIN_PART_BITS = 10;

interface RequiredByteSets {
  readonly search: SetSearch;
  /** Whether each occurrence is a match of the node. */
  readonly exact: boolean;
}

/** Returns a search for the most selective sequence of a node without loops. Undefined if none is worth it. */
export function requiredByteSets(node: RegexNode): RequiredByteSets | undefined {
  const parts = partsOf(unrolled(node));
  let [best, bestBits]: [readonly CharSet[], number] = [[], 0];
  let open: readonly CharSet[] = [];
  for (const part of parts) {
    const sets = setsOf(part);
    // Of `[ab]{2,4}`, two are next to what comes before, and two next to what comes after.
    const joined = [...open, ...sets].slice(0, MAX_BYTES);
    open = isFixed(part) ? [...open, ...sets].slice(-MAX_BYTES) : sets;
    for (const run of [joined, open]) {
      const bits = run.reduce((sum, set) => sum + bitsOfSet(set), 0);
      if (bits >= bestBits) [best, bestBits] = [run, bits];
    }
  }
  const exact = best.length === parts.length && parts.every(({ type }) => type === 'chars');
  if (best.length < 2 || (!exact && bestBits < MIN_PART_BITS)) return undefined;
  return { search: searchOf(best), exact };
}

/** Returns the sets of the first bytes of a part. None if they may be outside ASCII, or if there may be no byte. */
function setsOf(part: RegexNode): readonly CharSet[] {
  if (part.type === 'chars') return isAscii(part.set) ? [part.set] : [];
  if (part.type !== 'repeat') return [];
  const [set] = setsOf(part.node);
  return set === undefined || part.node.type !== 'chars'
    ? []
    : new Array<CharSet>(Math.min(part.min, MAX_BYTES)).fill(set);
}

/** Whether the bytes of a part are next to what comes before and after. */
function isFixed(part: RegexNode): boolean {
  if (part.type === 'chars') return isAscii(part.set);
  return part.type === 'repeat' && part.min === part.max && setsOf(part).length > 0;
}

function isAscii(set: CharSet): boolean {
  return set.length > 0 && set[set.length - 1] < 0x80;
}

// Layout of a program (kernels/assembly/set-search.ts).
const KIND_AT = 32;
const FIRST_AT = 33;
const FURTHER_AT = 34;
const ENTRY_BYTES = 48;
const SEQUENCE_AT = MAX_BYTES * ENTRY_BYTES;
const RANGE = 1;

function searchOf(sequence: readonly CharSet[]): SetSearch {
  const program = Buffer.alloc(SEQUENCE_AT + MAX_BYTES);
  const sets: CharSet[] = [];
  for (const [index, set] of sequence.entries()) {
    let number = sets.findIndex(one => equalSets(one, set));
    if (number < 0) {
      number = sets.push(set) - 1;
      writeSet(program.subarray(number * ENTRY_BYTES), set);
    }
    program[SEQUENCE_AT + index] = number;
  }
  return new SetSearch(program, sets.length, sequence.length);
}

function writeSet(entry: Buffer, set: CharSet): void {
  if (set.length === 2) {
    entry[KIND_AT] = RANGE;
    entry[FIRST_AT] = set[0];
    entry[FURTHER_AT] = set[1] - set[0];
    return;
  }
  for (let upper = 0; upper < 8; upper++) entry[16 + upper] = 1 << upper;
  for (let pair = 0; pair < set.length; pair += 2) {
    for (let code = set[pair]; code <= set[pair + 1]; code++) entry[code & 15] |= 1 << (code >> 4);
  }
}
