/**
 * Counts distinct values, such as streams or values of a field, in at most 4 KiB (HyperLogLog with 4,096
 * registers). Counts of several processes can be merged. The standard error is 1.04 / sqrt(4096) = 1.6%. Up
 * to some hundred values, the count is derived from the empty registers and is exact or off by one.
 *
 * Pitfall: the counts of two processes can be merged only if both use the same hash.
 */

const INDEX_BITS = 12;
export const REGISTERS = 1 << INDEX_BITS;
/**
 * Hash bits left for the rank: of 53 bits, the index uses 12. The rank uses the upper 9 and the lower 32 of
 * the others.
 */
const UPPER_BITS = 53 - INDEX_BITS - 32;
const TWO_32 = 2 ** 32;
/**
 * Maximum size of the sparse form. Registers in a map use about 50 bytes each, so beyond this number a dense
 * array is smaller.
 */
const MAX_SPARSE = 64;
const BIAS = 0.7213 / (1 + 1.079 / REGISTERS);

export class HyperLogLog {
  #sparse: Map<number, number> | undefined = new Map();
  #dense: Uint8Array | undefined;

  /** @param hash An integer below 2^53 with evenly distributed bits (hashOfText, hashOfAscii). */
  add(hash: number): void {
    // Whole numbers of 32 bits: division and remainder of doubles take several times as long.
    const low = hash >>> 0;
    const high = Math.floor(hash / TWO_32);
    const upper = high >>> INDEX_BITS;
    const lower = (low >>> INDEX_BITS) | (high << (32 - INDEX_BITS));
    // A register stores the longest run of leading zeros that it has seen, plus 1.
    const zeros = upper > 0 ? Math.clz32(upper) - 32 + UPPER_BITS : UPPER_BITS + Math.clz32(lower);
    this.#raise(low & (REGISTERS - 1), zeros + 1);
  }

  merge(other: HyperLogLog): void {
    const dense = other.#dense;
    if (dense === undefined) {
      for (const [register, rank] of other.#entries()) this.#raise(register, rank);
      return;
    }
    // Queries merge up to thirty days while a client waits. A generator would take ten times as long.
    for (let i = 0; i < REGISTERS; i++) if (dense[i] > 0) this.#raise(i, dense[i]);
  }

  count(): number {
    let zeros = REGISTERS;
    let sum = 0;
    for (const [, rank] of this.#entries()) {
      zeros--;
      sum += 2 ** -rank;
    }
    const raw = (BIAS * REGISTERS * REGISTERS) / (sum + zeros);
    if (raw > 2.5 * REGISTERS || zeros === 0) return Math.round(raw);
    return Math.round(REGISTERS * Math.log(REGISTERS / zeros));
  }

  /** Returns every register as a byte. */
  registers(): Uint8Array {
    if (this.#dense !== undefined) return this.#dense.slice();
    const all = new Uint8Array(REGISTERS);
    for (const [register, rank] of this.#entries()) all[register] = rank;
    return all;
  }

  /** Restores a counter from the result of `registers`. Throws RangeError for any other length. */
  static of(registers: Uint8Array): HyperLogLog {
    if (registers.length !== REGISTERS) throw new RangeError(`${registers.length} registers`);
    const counter = new HyperLogLog();
    for (let i = 0; i < REGISTERS; i++) if (registers[i] > 0) counter.#raise(i, registers[i]);
    return counter;
  }

  #raise(register: number, rank: number): void {
    const dense = this.#dense;
    const sparse = this.#sparse;
    if (dense !== undefined) {
      if (dense[register] < rank) dense[register] = rank;
    } else if (sparse !== undefined && (sparse.get(register) ?? 0) < rank) {
      sparse.set(register, rank);
      if (sparse.size <= MAX_SPARSE) return;
      this.#dense = this.registers();
      this.#sparse = undefined;
    }
  }

  /** Yields the registers that are not zero, with their rank. */
  *#entries(): Iterable<readonly [number, number]> {
    if (this.#sparse !== undefined) yield* this.#sparse;
    const dense = this.#dense;
    if (dense === undefined) return;
    for (let i = 0; i < REGISTERS; i++) if (dense[i] > 0) yield [i, dense[i]];
  }
}
