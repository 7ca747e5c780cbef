/**
 * Numbers the metadata names and values of the rows of one part across its pushes, so that equal texts have
 * equal numbers.
 */
import { LEVEL_NAME } from '../../storage/chunk/format.ts';
import type { AcceptedPush } from './push-columns.ts';
import type { InternedPairs, Refs } from './sorted-rows.ts';

/** Numbers of a push's names or levels in the current part, looked up at their first use. */
interface Numbering {
  readonly id: Uint32Array;
  /** Part that `id` belongs to. Parts count from 1. */
  readonly part: Uint32Array;
}

/** Numbers by push, for one part at a time. */
export class PushNumbers {
  part = 0;
  readonly names: readonly Numbering[];
  readonly levels: readonly Numbering[];

  constructor(pushes: readonly AcceptedPush[]) {
    const numbering = (size: number) => ({ id: new Uint32Array(size), part: new Uint32Array(size) });
    this.names = pushes.map(({ columns }) => numbering(columns.names.length));
    this.levels = pushes.map(({ levels }) => numbering(levels.length));
  }
}

const RECENT_RANGES = 4096;
/**
 * Cache of value numbers by range, because all records of a resource share the ranges of its pairs. A lookup
 * by text is half of the work on such a push. Direct-mapped, 80 KiB, of all interners of this thread: arrays of
 * each would be most of the garbage of small pushes.
 */
const recent = {
  /** Number of the push in all pushes of all interners. */
  owner: new Float64Array(RECENT_RANGES),
  start: new Uint32Array(RECENT_RANGES),
  end: new Uint32Array(RECENT_RANGES),
  value: new Uint32Array(RECENT_RANGES),
};
/** Owners so far. */
let owners = 0;
/** Rows per step: 0.3 ms. A row is never split. */
const ROWS_A_STEP = 4096;
const PAIRS_A_STEP = 4096;

export class PairInterner {
  /** Next row. */
  row: number;
  readonly to: number;
  readonly #from: number;
  readonly #pushes: readonly AcceptedPush[];
  readonly #refs: Refs;
  readonly #numbers: PushNumbers;
  readonly #names: string[] = [];
  readonly #nameIds = new Map<string, number>();
  readonly #values: Buffer[] = [];
  readonly #valueIds = new Map<string, number>();
  #first: Uint32Array;
  #name: Uint32Array;
  #value: Uint32Array;
  #at = 0;
  #levelName = -1;
  /** Owner in `recent` of the first push; those of the others follow. */
  readonly #firstOwner = owners + 1;

  /** Numbers rows `from` to `to`, or fewer. They have at most `pairCount` pairs. */
  constructor(
    pushes: readonly AcceptedPush[],
    refs: Refs,
    numbers: PushNumbers,
    { from, to, pairCount }: { readonly from: number; readonly to: number; readonly pairCount: number },
  ) {
    this.#pushes = pushes;
    this.#refs = refs;
    this.#numbers = numbers;
    this.#from = from;
    this.row = from;
    this.to = to;
    this.#first = new Uint32Array(to - from + 1);
    this.#name = new Uint32Array(pairCount);
    this.#value = new Uint32Array(pairCount);
    numbers.part++;
    owners += pushes.length;
  }

  /** Number of different values so far. */
  get valueCount(): number {
    return this.#values.length;
  }

  /** Runs one step, or until there are `maxValues` values. */
  run(maxValues: number): void {
    const pushes = this.#pushes;
    const refs = this.#refs;
    const numbers = this.#numbers;
    const from = this.#from;
    const first = this.#first;
    const name = this.#name;
    const value = this.#value;
    const last = Math.min(this.to, this.row + ROWS_A_STEP);
    const lastPair = this.#at + PAIRS_A_STEP;
    let { row } = this;
    let at = this.#at;
    while (row < last && at < lastPair && this.#values.length < maxValues) {
      const p = refs.push[row];
      const { columns, levelOf: added, levels } = pushes[p];
      const { bytes, firstPair, pairStart, pairEnd, pairName } = columns;
      const ofName = numbers.names[p];
      const ofLevel = numbers.levels[p];
      const { part } = numbers;
      const owner = this.#firstOwner + p;
      for (; row < last && at < lastPair && this.#values.length < maxValues && refs.push[row] === p; row++) {
        const e = refs.entry[row];
        first[row - from] = at;
        for (let pair = firstPair[e]; pair < firstPair[e + 1]; pair++) {
          const start = pairStart[pair];
          const end = pairEnd[pair];
          const n = pairName[pair];
          name[at] =
            ofName.part[n] === part ? ofName.id[n] : this.#setId(ofName, n, this.#nameId(columns.names[n]));
          const slot = start % RECENT_RANGES;
          if (recent.owner[slot] !== owner || recent.start[slot] !== start || recent.end[slot] !== end) {
            recent.owner[slot] = owner;
            recent.start[slot] = start;
            recent.end[slot] = end;
            recent.value[slot] = this.#valueId(bytes, start, end);
          }
          value[at] = recent.value[slot];
          at++;
        }
        if (added[e] === 0) continue;
        if (this.#levelName < 0) this.#levelName = this.#nameId(LEVEL_NAME);
        name[at] = this.#levelName;
        const n = added[e] - 1;
        value[at] =
          ofLevel.part[n] === part ? ofLevel.id[n] : this.#setId(ofLevel, n, this.#levelId(levels[n]));
        at++;
      }
    }
    first[row - from] = at;
    this.row = row;
    this.#at = at;
  }

  /** Excludes rows from `row` on. Values that only they have remain. */
  cutTo(row: number): void {
    this.row = row;
    this.#at = this.#first[row - this.#from];
  }

  pairs(): InternedPairs {
    const names = this.#names;
    const values = this.#values;
    const at = this.#at;
    return {
      names,
      values,
      first: this.#first.subarray(0, this.row - this.#from + 1),
      name: this.#name.subarray(0, at),
      value: this.#value.subarray(0, at),
    };
  }

  #setId({ id, part }: Numbering, n: number, made: number): number {
    part[n] = this.#numbers.part;
    id[n] = made;
    return made;
  }

  #nameId(name: string): number {
    let id = this.#nameIds.get(name);
    if (id === undefined) {
      id = this.#names.push(name) - 1;
      this.#nameIds.set(name, id);
    }
    return id;
  }

  /** Keyed by the bytes as characters, which needs no decoding. */
  #valueId(bytes: Buffer, start: number, end: number): number {
    const key = bytes.latin1Slice(start, end);
    let id = this.#valueIds.get(key);
    if (id === undefined) {
      id = this.#values.push(bytes.subarray(start, end)) - 1;
      this.#valueIds.set(key, id);
    }
    return id;
  }

  #levelId(level: string): number {
    const bytes = Buffer.from(level);
    return this.#valueId(bytes, 0, bytes.length);
  }
}
