/**
 * How many different things there were (streams, values of a field), in 4 KiB however many they are, and so that the
 * counts of several processes merge: HyperLogLog with 4,096 registers. Standard error 1.04 / sqrt(4096) = 1.6%; up to some
 * hundred the count is exact or off by one, because it is then made from the registers that nothing has hit.
 *
 * What a reader would get wrong: the counts of two processes merge only where both hash alike.
 */

const INDEX_BITS = 12;
export const REGISTERS = 1 << INDEX_BITS;
/** Of the 53 bits of a hash, those that are left for the rank: the upper 9 and the lower 32 of them. */
const UPPER_BITS = 53 - INDEX_BITS - 32;
const TWO_32 = 2 ** 32;
/** Registers in a map take about 50 bytes each: from here on all of them in a row are smaller. */
const MAX_SPARSE = 64;
const BIAS = 0.7213 / (1 + 1.079 / REGISTERS);

export class HyperLogLog {
  #sparse: Map<number, number> | undefined = new Map();
  #dense: Uint8Array | undefined;

  /** `hash`: below 2^53, every bit of it even (hashOfText, hashOfText). */
  add(hash: number): void {
    const rest = Math.floor(hash / REGISTERS);
    const upper = Math.floor(rest / TWO_32);
    // A register keeps the longest run of zeros before the first one that it has met, plus 1.
    const zeros = upper > 0 ? Math.clz32(upper) - 32 + UPPER_BITS : UPPER_BITS + Math.clz32(rest % TWO_32);
    this.#raise(hash % REGISTERS, zeros + 1);
  }

  merge(other: HyperLogLog): void {
    const dense = other.#dense;
    if (dense === undefined) {
      for (const [register, rank] of other.#entries()) this.#raise(register, rank);
      return;
    }
    // Thirty days of a month are merged while somebody waits: a generator takes ten times as long.
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

  /** Every register as a byte. */
  registers(): Uint8Array {
    if (this.#dense !== undefined) return this.#dense.slice();
    const all = new Uint8Array(REGISTERS);
    for (const [register, rank] of this.#entries()) all[register] = rank;
    return all;
  }

  /** From what `registers` gave. Throws RangeError for anything else. */
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

  /** Registers that were hit, with their rank. */
  *#entries(): Iterable<readonly [number, number]> {
    if (this.#sparse !== undefined) yield* this.#sparse;
    const dense = this.#dense;
    if (dense === undefined) return;
    for (let i = 0; i < REGISTERS; i++) if (dense[i] > 0) yield [i, dense[i]];
  }
}
