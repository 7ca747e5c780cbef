import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HyperLogLog, REGISTERS } from '../../shared/base/model/hyperloglog.ts';
import { hashOfText } from '../../shared/base/model/text-hash.ts';

const hash = (i: number) => hashOfText(`{app="shop", pod="shop-${i}"}`);

function counterOf(from: number, to: number): HyperLogLog {
  const counter = new HyperLogLog();
  for (let i = from; i < to; i++) counter.add(hash(i));
  return counter;
}

describe('the count of distinct streams', () => {
  test.each([0, 1, 2, 3, 10])('%i streams are counted exactly', count => {
    expect(counterOf(0, count).count()).toBe(count);
  });

  test.each([20, 50, 80])('%i streams are counted exactly or off by one', count => {
    expect(Math.abs(counterOf(0, count).count() - count)).toBeLessThanOrEqual(1);
  });

  // Three standard errors.
  test.each([100, 1000, 4000, 12_000, 20_000])('%i streams are counted within 5%%', count => {
    const counted = counterOf(0, count).count();
    expect(Math.abs(counted - count) / count).toBeLessThan(0.05);
  });

  test('the same streams again change nothing', () => {
    const counter = counterOf(0, 500);
    const before = counter.count();
    for (let i = 0; i < 500; i++) counter.add(hash(i));
    expect(counter.count()).toBe(before);
  });

  test('ranks reach from the first bit of a hash to beyond its last', () => {
    const rankOf = (given: number) => {
      const counter = new HyperLogLog();
      counter.add(given);
      return Math.max(...counter.registers());
    };
    // 41 bits are left behind the index: the highest of them set, each one below it, none.
    for (let rank = 1; rank <= 41; rank++) expect(rankOf(2 ** (53 - rank))).toBe(rank);
    expect(rankOf(REGISTERS - 1)).toBe(42);
  });

  test('the index is the lowest 12 bits of a hash, the rank that of the 41 bits above', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }), fc.nat(53), (bits, shift) => {
        const given = bits >> BigInt(shift);
        const counter = new HyperLogLog();
        counter.add(Number(given));
        const rest = given >> 12n;
        const rank = 42 - (rest === 0n ? 0 : rest.toString(2).length);
        const expected = new Uint8Array(REGISTERS);
        expected[Number(given & 0xfffn)] = rank;
        expect(counter.registers()).toEqual(expected);
      }),
    );
  });

  test('merging is counting the union, in any order, sparse or dense', () => {
    const hashes = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 });
    fc.assert(
      fc.property(hashes, hashes, (left, right) => {
        const of = (numbers: readonly number[]) => {
          const counter = new HyperLogLog();
          for (const i of numbers) counter.add(hash(i));
          return counter;
        };
        const [a, b, union] = [of(left), of(right), of([...left, ...right])];
        const [ab, ba] = [of(left), of(right)];
        ab.merge(b);
        ba.merge(a);
        expect(ab.registers()).toEqual(union.registers());
        expect(ba.registers()).toEqual(union.registers());
        expect(ab.count()).toBe(union.count());
        expect(HyperLogLog.of(union.registers()).registers()).toEqual(union.registers());
      }),
    );
  });

  test('anything else than registers is refused', () => {
    expect(() => HyperLogLog.of(new Uint8Array(REGISTERS - 1))).toThrow(RangeError);
  });
});
